"""Every way in leads to the same forest."""

import io

import numpy as np
import pandas as pd
import pytest

from clusterforests import ClusterForest
from clusterforests.app.files import Request, read_table
from clusterforests.table.reader.raw_columns import ColumnTable


@pytest.fixture
def frame(blobs):
    X, truth = blobs
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["text"] = np.array(["x", "y", "z"])[truth]
    frame.loc[3, "a"] = np.nan
    return frame


def test_every_format_gives_the_forest_that_a_frame_gives(tmp_path, frame):
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_csv(tmp_path / "t.tsv", index=False, sep="\t")
    frame.to_parquet(tmp_path / "t.parquet")
    frame.assign(text=frame["text"].astype("category")).to_feather(tmp_path / "t.feather")
    expected = ClusterForest(3, n_estimators=10, random_state=0).fit(frame)
    for name in ("t.csv", "t.tsv", "t.parquet", "t.feather"):
        table = read_table(str(tmp_path / name), Request()).table
        forest = ClusterForest(3, n_estimators=10, random_state=0).fit(table)
        assert np.array_equal(forest.partitions_, expected.partitions_), name
        assert forest.feature_names_in_.tolist() == frame.columns.tolist()
        assert np.array_equal(forest.predict(table), forest.labels_)
        assert np.array_equal(expected.predict(table), forest.labels_)
    with pytest.raises(ValueError, match="feature names should match"):
        forest.predict(ColumnTable(table.columns[::-1], table.cells[::-1]))


def test_npy_is_mapped(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    np.save(tmp_path / "x.npy", X)
    table = read_table(str(tmp_path / "x.npy"), Request()).table
    assert isinstance(table, np.memmap)
    assert np.array_equal(table, X)


def test_a_large_table_is_read_in_blocks_like_an_array():
    X = np.random.default_rng(0).normal(size=(66000, 3)) + np.repeat([[0.0], [6.0]], 33000, axis=0)
    table = ColumnTable(["a", "b", "c"], list(np.ascontiguousarray(X.T)))
    forests = [ClusterForest(2, n_estimators=4, trees="varied", random_state=0).fit(given) for given in (X, table)]
    assert np.array_equal(forests[0].partitions_, forests[1].partitions_)
    assert forests[1].partitions_.dtype == np.int8
    assert forests[1].feature_names_in_.tolist() == ["a", "b", "c"]


def test_standard_input(monkeypatch):
    class Stdin:
        buffer = io.BufferedReader(io.BytesIO(b"a,b\n1,2\n3,4\n"))

    monkeypatch.setattr("sys.stdin", Stdin)
    assert np.asarray(read_table("-", Request()).table).tolist() == [[1, 2], [3, 4]]
