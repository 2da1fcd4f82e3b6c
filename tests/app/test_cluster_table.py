"""One call from a file or a messy frame to clusters."""

import numpy as np
import pandas as pd
import pytest

import clusterforests
from clusterforests import ClusterForest, cluster_table
from clusterforests.app.problems import FileProblems

pytestmark = pytest.mark.filterwarnings("ignore:Column")
RNG = np.random.default_rng(0)
GROUP = np.arange(60) % 3
FRAME = pd.DataFrame(
    {
        "name": [f"C{i:03d}" for i in range(60)],
        "euros": [f"{1000 * g + RNG.uniform(0, 500):.2f} €".replace(".", ",") for g in GROUP],
        "share": [f"{10 * g + RNG.uniform(0, 5):.1f}%" for g in GROUP],
        "size": np.array(["S", "M", "L"])[GROUP],
        "group": np.array(["a", "b", None], dtype=object)[GROUP],
    }
)


@pytest.fixture
def path(tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_a_file_and_a_frame_give_the_same(path, tmp_path):
    asked = {"id_column": "name", "label_column": "group", "n_estimators": 20}
    of_file, of_frame = (cluster_table(table, 3, **asked) for table in (path, FRAME))
    pd.testing.assert_series_equal(of_file.labels, of_frame.labels)
    assert of_file.labels.index.tolist() == FRAME["name"].tolist()
    assert (of_file.labels.groupby(GROUP).nunique() == 1).all()
    assert of_file.rows.classes[:3] == ["a", "b", None]
    assert [column.kind for column in of_file.columns] == ["number", "number", "ordered"]
    assert np.array_equal(of_file.model.predict(FRAME), of_file.labels)
    assert "3 clusters" in str(of_file)
    of_file.save_model(tmp_path / "m.cf")
    assert np.array_equal(clusterforests.load(tmp_path / "m.cf").predict(FRAME), of_file.labels)
    of_file.write_labels(tmp_path / "l.csv")
    assert pd.read_csv(tmp_path / "l.csv", index_col="name")["cluster"].equals(of_file.labels.astype("int64"))
    of_file.write_report(tmp_path / "r.html")
    assert "C000" in (tmp_path / "r.html").read_text()


def test_rows_keep_the_index_of_a_frame_and_notes_say_what_was_dropped():
    found = cluster_table(FRAME.set_axis(range(100, 160)), 3, overrides={"group": "ignore"}, n_estimators=5)
    assert found.labels.index.tolist() == list(range(100, 160))
    assert "Column 'name' is dropped" in found.notes[0]


def test_guidance_and_parameters_are_those_of_the_forest(path, tmp_path):
    (tmp_path / "pairs.csv").write_text("C000,C001\n")
    asked = {"must_link": tmp_path / "pairs.csv", "known_labels": "group", "id_column": "name"}
    with pytest.raises(ValueError, match="must_link"):  # two classes are apart
        cluster_table(path, 3, **asked)
    found = cluster_table(path, 3, **asked | {"known_labels": None}, n_estimators=10, random_state=3)
    assert found.labels["C000"] == found.labels["C001"]
    assert found.forest.get_params()["n_estimators"] == 10
    assert found.forest.random_state == 3


def test_arrays_are_taken_as_they_are(tmp_path):
    X = RNG.normal(size=(60, 3)) + 5 * GROUP[:, None]
    np.save(tmp_path / "x.npy", X)
    expected = ClusterForest(3, n_estimators=5, random_state=0).fit(X).labels_
    for table in (X, tmp_path / "x.npy"):
        assert np.array_equal(cluster_table(table, 3, n_estimators=5).labels, expected)


def test_problems_name_lines_and_arguments(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,5\n2,6\nx,7\n3,8\n")
    with pytest.raises(FileProblems, match=r"line 4.*'x' is not a number.*missing="):
        cluster_table(tmp_path / "t.csv", 2)
    assert cluster_table(tmp_path / "t.csv", 2, missing=["x"], n_estimators=3).labels.index.tolist() == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="has no column 'c'"):
        cluster_table(tmp_path / "t.csv", 2, overrides={"c": "number"})
