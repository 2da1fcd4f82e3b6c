"""Tables from files: what is understood, and that all ways in lead to the same forest."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from clusterforests import ClusterForest
from clusterforests.cli.readers import Request, read_table
from clusterforests.tables.column_table import CategoryColumn, ColumnTable


def read(tmp_path, text, name="data.csv", encoding="utf-8", **request):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return read_table(str(path), Request(**request))


def numbers(data):
    return np.asarray(data.table).tolist()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a,b\n1,2.5\n-3,4e2\n", "data.csv"),
        ("a,b\r\n1,2.5\r\n-3,4e2\r\n", "data.csv"),
        ("a,b\r1,2.5\r-3,4e2", "data.csv"),
        ("\ufeffa,b\n1,2.5\n-3,4e2\n", "data.csv"),
        ("a;b\n1;2.5\n-3;4e2\n", "data.csv"),
        ("a;b\n1;2,5\n-3;4e2\n", "data.csv"),
        ("a\tb\n1\t2,5\n-3\t4e2\n", "data.tsv"),
        ("a|b\n1|2.5\n-3|4e2\n", "data.txt"),
        ('"a","b"\n"1","2.5"\n"-3"," 4e2 "\n', "data.csv"),
        ("a,b\n\n1,2.5\n\n-3,4e2\n\n", "data.csv"),
    ],
)
def test_one_table_written_in_ten_ways(tmp_path, text, name):
    data = read(tmp_path, text, name)
    assert data.table.columns == ["a", "b"]
    assert numbers(data) == [[1, 2.5], [-3, 400]]


@pytest.mark.parametrize("spelling", ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", " NA "])
def test_missing_cells(tmp_path, spelling):
    data = read(tmp_path, f"a,b\n1,x\n{spelling},x\n2,y\n3,{spelling}\n")
    a, b = data.table.cells
    assert np.isnan(a).tolist() == [False, True, False, False]
    assert b.cells().tolist() == ["x", "x", "y", None]


def test_text_is_categories_and_mostly_numbers_is_numbers(tmp_path):
    data = read(tmp_path, "a,b,c\n1,red,7\n2, blue,8\n3,red,x\n", categories=("c",))
    assert isinstance(data.table.cells[1], CategoryColumn)
    assert data.table.cells[1].levels == ("red", "blue")
    assert data.table.cells[2].cells().tolist() == ["7", "8", "x"]


def test_ids_labels_and_ignored_columns(tmp_path):
    text = "name,a,skip,class\nr1,1,hello,u\nr2,2,world,\nr3,3,!,v\n"
    data = read(tmp_path, text, id="name", label="class", ignore=("skip",))
    assert data.table.columns == ["a"]
    assert (data.ids, data.id_name) == (["r1", "r2", "r3"], "name")
    assert data.truth == ["u", None, "v"]


def test_a_first_column_without_a_name_holds_the_names_of_the_rows(tmp_path):
    data = read(tmp_path, '"","a"\n"r1",1\n"r2",2\n')
    assert data.ids == ["r1", "r2"]
    assert "taken as the names" in data.notes[0]


def test_encodings_and_no_header(tmp_path):
    data = read(tmp_path, "größe,b\n1,2\n", name="utf8.csv")
    assert data.table.columns == ["größe", "b"]
    (tmp_path / "latin.csv").write_bytes("größe,b\n1,2\n".encode("latin-1"))
    assert read_table(str(tmp_path / "latin.csv"), Request(encoding="latin-1")).table.columns == ["größe", "b"]
    (tmp_path / "utf16.csv").write_bytes("größe,b\n1,2\n".encode("utf-16"))
    assert read_table(str(tmp_path / "utf16.csv"), Request(encoding="utf-16")).table.columns == ["größe", "b"]
    data = read(tmp_path, "1,2\n3,4\n", header=False)
    assert data.table.columns == ["column1", "column2"]
    assert numbers(data) == [[1, 2], [3, 4]]


def test_line_numbers_count_lines_inside_quotes(tmp_path):
    with pytest.raises(ValueError, match=r"data\.csv, line 6, column 'b': 'x' is not a number"):
        read(tmp_path, 'a,b\n"u\nv",1\n"u\nv",2\nw,x\nw,3\n')


def test_columns_longer_than_a_block_are_decided_late(tmp_path):
    lines = ["a,b,c", *(f"{i},,{i % 3}" for i in range(5000)), *(f"{i},red,{i % 3}" for i in range(5000))]
    data = read(tmp_path, "\n".join(lines))
    assert data.table.shape == (10000, 3)
    assert data.table.cells[1].codes[[0, 4999, 5000]].tolist() == [-1, -1, 0]
    lines.insert(7000, "oops,red,1")
    with pytest.raises(ValueError, match=r"line 7001, column 'a': 'oops'"):
        read(tmp_path, "\n".join(lines))


def test_progress_reaches_the_size_of_the_file(tmp_path):
    seen = []
    text = "a,b\n" + "1,2\n" * 20000
    read(tmp_path, text, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert len(seen) > 2
    assert seen[-1] == (len(text), len(text))


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


def test_streams_of_arrow_and_types(tmp_path):
    table = pa.table(
        {
            "i": pa.array([1, None, 3], pa.int64()),
            "b": [True, False, None],
            "d": pa.array(["p", "q", None]).dictionary_encode(),
            "s": pa.array(["u", None, "u"], pa.large_string()),
        }
    )
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as out, pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    read_back = read_table(str(tmp_path / "t.arrow"), Request()).table
    assert np.array_equal(read_back.cells[0], [1, np.nan, 3], equal_nan=True)
    assert np.array_equal(read_back.cells[1], [1, 0, np.nan], equal_nan=True)
    assert read_back.cells[2].cells().tolist() == ["p", "q", None]
    assert read_back.cells[3].cells().tolist() == ["u", None, "u"]


def test_npy_is_mapped(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    np.save(tmp_path / "x.npy", X)
    table = read_table(str(tmp_path / "x.npy"), Request()).table
    assert isinstance(table, np.memmap)
    assert np.array_equal(table, X)


def test_a_large_table_is_read_in_blocks_like_an_array():
    X = np.random.default_rng(0).normal(size=(66000, 3)) + np.repeat([[0.0], [6.0]], 33000, axis=0)
    table = ColumnTable(["a", "b", "c"], list(np.ascontiguousarray(X.T)))
    forests = [ClusterForest(2, n_estimators=4, random_state=0).fit(given) for given in (X, table)]
    assert np.array_equal(forests[0].partitions_, forests[1].partitions_)
    assert forests[1].partitions_.dtype == np.int8
    assert forests[1].feature_names_in_.tolist() == ["a", "b", "c"]


def test_standard_input(monkeypatch):
    class Stdin:
        buffer = io.BufferedReader(io.BytesIO(b"a,b\n1,2\n3,4\n"))

    monkeypatch.setattr("sys.stdin", Stdin)
    assert numbers(read_table("-", Request())) == [[1, 2], [3, 4]]
