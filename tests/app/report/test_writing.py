"""The report as a whole: what its data say of all kinds of forests and tables."""

import os
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from clusterforests import ClusterForest
from clusterforests.app.report import write_report


def test_data_block(report, three):
    forest, X, truth = three
    data, page = report(forest, X, truth=truth, title="Three", command="clusterforests fit x.csv", seconds=1.5)
    assert data["title"] == "Three"
    assert data["answer"].startswith("The 75 rows fall into 3 clusters, of 30, 25 and 20 rows.")
    clusters = data["view"]["clusters"]
    assert [c["size"] for c in clusters] == [30, 25, 20]
    np.testing.assert_allclose([c["membership"] for c in clusters], forest.cluster_consensus_, rtol=1e-3)
    assert data["view"]["stability"]["mean"] == pytest.approx(forest.stability(2).mean, rel=1e-3)
    assert (data["run"]["rows"], data["run"]["columns"], data["run"]["trees"]) == (75, 6, 40)
    assert data["run"]["command"] == "clusterforests fit x.csv"
    assert data["run"]["seconds"] == 1.5
    assert "ClusterForest(3, n_estimators=40, random_state=0).fit(X)" in data["run"]["python"]
    assert {s["name"] for s in data["run"]["settings"]} == set(forest.chosen_params_)
    assert data["features"]["rows"] == 75
    assert "Three" in page.texts["title"]
    assert page.texts["answer"] == data["answer"]


def test_same_input_same_file(tmp_path, three):
    forest, X, _ = three
    write_report(forest, X, tmp_path / "a.html")
    write_report(pickle.loads(pickle.dumps(forest)), X, tmp_path / "b.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.html", "b.html"]


def test_levels_and_frames(report):
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1], 40)
    frame = pd.DataFrame(
        {
            "<b>": np.array(["</script>", "<img src=x>", "c"])[np.where(rng.random(80) < 0.9, group, 2)],
            "two": np.array(["no", "yes"])[group],
            "size": rng.normal(size=80) + 6 * group,
        }
    )
    frame.loc[3, "size"] = np.nan
    frame.loc[5, "two"] = None
    frame = frame.astype({"<b>": "category", "two": "category"})
    forest = ClusterForest(2, n_estimators=40, random_state=0).fit(frame)
    data = report(forest, frame)[0]
    shown = {(f["name"], f["level"]) for f in data["features"]["features"]}
    assert shown == {("<b>", "</script>"), ("<b>", "<img src=x>"), ("<b>", "c"), ("two", "yes"), ("size", None)}
    told = [trait for entry in data["view"]["description"] for trait in entry["traits"] if trait["name"] == "two"]
    assert {trait["level"] for trait in told} == {"yes", "no"}
    levels = [f for f in data["features"]["features"] if f["name"] == "<b>"]  # the test is of the category as a whole
    assert [f["importance"] for f in levels] == pytest.approx([forest.feature_importances_[0]] * 3, rel=1e-3)
    assert any("2 of 240 cells" in text for text in data["view"]["caveats"])
    assert report(forest, pl.from_pandas(frame))[0] == data


def test_one_cluster(report):
    X = np.random.default_rng(0).normal(size=(60, 3))
    chosen = ClusterForest("auto", n_estimators=20, random_state=0).fit(X)
    assert chosen.n_clusters_ == 1
    data = report(chosen, X)[0]
    assert data["answer"] == "There are no clusters: the 60 rows cannot be told from rows without clusters."
    view = data["view"]
    assert (view["k"], view["description"], view["ambiguous"], view["counts"]) == (1, [], None, [])
    assert view["rows"]["next"] == view["rows"]["cluster"]  # there is no other
    assert data["number"]["chosen"]
    assert data["number"]["evidence"]["mean_rank"] == [None] * len(data["number"]["candidates"])
    given = ClusterForest(1, n_estimators=20, random_state=0).fit(X)
    assert report(given, X)[0]["answer"] == "The 60 rows form one cluster, as requested."


@pytest.mark.parametrize(
    ("X", "k", "trees"), [([[1.0], [2.0], [9.0], [9.5]], 2, 10), ([[1.0, 2.0]], 1, 5), ([[1.0], [5.0]], 2, 1)]
)
def test_smallest_tables(report, X, k, trees):
    forest = ClusterForest(k, n_estimators=trees, random_state=0).fit(X)
    data = report(forest, X)[0]
    assert len(data["view"]["clusters"]) == k
    assert data["features"]["features"][0]["name"] == "column 1"
    assert data["view"]["stability"]["known"] == (trees > 1) or len(X) == 1


def test_weights_are_said_and_used(report, three):
    _, X, _ = three
    weights = np.ones(75)
    weights[:5] = 0
    forest = ClusterForest(3, n_estimators=20, random_state=0).fit(X, sample_weight=weights)
    data = report(forest, X)[0]
    assert any("weights" in text for text in data["view"]["caveats"])
    assert "fit(X, sample_weight=sample_weight)" in data["run"]["python"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["a"]}, "names must hold 6 names"),
        ({"names": "abcdef"}, "names must hold 6 names"),
        ({"ids": range(3)}, "ids must hold 75 names"),
        ({"truth": [1, 2]}, "truth must hold 75 classes"),
        ({"truth": [None] * 75}, "every value is missing"),
    ],
)
def test_wrong_arguments(tmp_path, three, options, message):
    forest, X, _ = three
    with pytest.raises(ValueError, match=message):
        write_report(forest, X, tmp_path / "no.html", **options)
    assert os.listdir(tmp_path) == []


def test_wrong_table_and_forest(tmp_path, three):
    forest, X, _ = three
    with pytest.raises(ValueError, match="X has 74 rows but the forest was fitted on 75"):
        write_report(forest, X[:-1], tmp_path / "no.html")
    with pytest.raises(ValueError, match="features"):
        write_report(forest, X[:, :-1], tmp_path / "no.html")
    with pytest.raises(ValueError, match="not fitted"):
        write_report(ClusterForest(2), X, tmp_path / "no.html")
