"""Every number of clusters that the page can be switched to is what a cut of the forest into it gives."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from clusterforests import ClusterForest, describe
from clusterforests.app.report.json_values import PageLimits
from clusterforests.app.report.views import numbers_shown
from clusterforests.inspection import pac


def test_each_view_is_that_of_a_cut(report, three):
    forest, X, truth = three
    data = report(forest, X, truth=truth)[0]
    assert [view["k"] for view in data["views"]] == [2, 3, 4, 5, 6, 7, 8]
    assert data["chosen"] == 3
    for view, score in zip(data["views"], data["truth"], strict=True):
        cut = forest.recut(view["k"])
        told = describe(cut, X)
        assert view["answer"].startswith(f"The 75 rows fall into {view['k']} clusters")
        assert [entry["name"] for entry in view["description"]] == [cluster.name for cluster in told.clusters]
        assert [c["size"] for c in view["clusters"]] == np.bincount(cut.labels_).tolist()
        assert view["stability"]["mean"] == pytest.approx(cut.stability(2).mean, rel=1e-3)
        assert view["pairs"]["pac"] == pytest.approx(pac(cut.half_cuts(2)), rel=1e-3)
        assert view["points"] == cut.labels_[data["points"]["rows"]].tolist()
        assert sorted(view["colours"]) == sorted(set(view["colours"]))
        assert [sum(line) for line in view["counts"][0]] == np.bincount(cut.labels_).tolist()
        assert np.sum(score["counts"]) == 75
    assert data["view"]["colours"] == [0, 1, 2]


def test_another_number_than_the_chosen_one_is_called_so(report, three):
    _, X, _ = three
    forest = ClusterForest(range(2, 6), n_estimators=20, random_state=0).fit(X)
    assert forest.n_clusters_ == 3
    data = report(forest, X)[0]
    assert [view["k"] for view in data["views"]] == [2, 3, 4, 5]
    for view in data["views"]:
        said = f"{view['k']} clusters are shown, but 3 would be chosen. {forest.n_clusters_evidence_.reason}"
        assert (said in view["caveats"]) == (view["k"] != 3)
        assert not any("requested" in caveat for caveat in view["caveats"])


@pytest.mark.parametrize(
    ("k", "limits", "shown"),
    [
        (3, PageLimits(), range(2, 9)),
        (20, PageLimits(), range(17, 25)),
        (1, PageLimits(), range(1, 9)),
        (3, PageLimits(many_rows=74, numbers_of_many=3), range(2, 5)),
    ],
)
def test_numbers_next_to_the_own_one_are_shown(k, limits, shown):
    forest = SimpleNamespace(n_clusters_evidence_=None)
    clustering = SimpleNamespace(forest=forest, n_clusters=k, labels=np.zeros(75))
    assert numbers_shown(clustering, limits) == list(shown)


def test_columns_are_counted_in_each_cluster(report):
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 60)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=120) + 8 * group,
            "width": rng.normal(size=120) + 8 * group,
            "rooms": rng.integers(1, 6, 120),
            "town": np.array([f"town {i}" for i in range(12)])[rng.integers(0, 12, 120)],
            "garden": np.where(rng.random(120) < 0.5, "yes", "no"),
        }
    )
    frame.loc[:11, "size"] = np.nan
    frame = frame.astype({"town": "category", "garden": "category"})
    forest = ClusterForest(2, n_estimators=20, random_state=0).fit(frame)
    data = report(forest, frame, limits=PageLimits(splits=2, numbers=1))[0]
    columns = {
        column["name"]: (column, counts) for column, counts in zip(data["columns"], data["view"]["counts"], strict=True)
    }
    assert set(columns) == set(frame)
    size, counts = columns["size"]
    assert (size["missing"], len(size["edges"])) == (0.1, 21)
    assert np.sum(counts) == 108
    rooms, counts = columns["rooms"]
    assert (rooms["edges"], rooms["labels"]) == ([0.5, 1.5, 2.5, 3.5, 4.5, 5.5], ["1", "5"])
    for c in range(2):
        assert counts[c] == np.bincount(frame["rooms"][forest.labels_ == c], minlength=6)[1:].tolist()
    town, counts = columns["town"]
    assert town["labels"][-1] == "5 others"
    first = frame["town"] == town["labels"][0]
    assert [line[0] for line in counts] == [int(first[forest.labels_ == c].sum()) for c in range(2)]
    assert np.sum(counts) == 120
    assert set(columns["garden"][0]["labels"]) == {"yes", "no"}


def test_splits_are_named(report, three):
    forest, X, _ = three
    tree = report(forest, X, names=list("abcdef"))[0]["tree"]
    assert tree["numbers"] == [2, 3, 4, 5, 6, 7, 8]
    for sizes, overlap in zip(tree["sizes"], tree["overlaps"], strict=False):
        assert np.sum(overlap, axis=1).tolist() == sizes
    first = tree["splits"][0]
    assert first["step"] == 0
    assert set(first["features"]) <= {"a", "b"}
    assert first["features"]
    assert report(forest, X, limits=PageLimits(splits=2, numbers=1))[0]["tree"] is None


def test_rows_that_go_together_lie_together(report, three):
    forest, X, truth = three
    points = report(forest, X)[0]["points"]
    places = np.column_stack([points["x"], points["y"]]).astype(float)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    nearest = apart.argmin(axis=1)
    assert (truth[points["rows"]][nearest] == truth[points["rows"]]).mean() > 0.95
    assert places.max() == points["steps"]


def test_a_page_of_many_rows_stays_small(report):
    """Bytes grow by at most 22 a row with five numbers of clusters and names: 4.4 MB for 200,000 rows."""
    rng = np.random.default_rng(0)
    sizes = {}
    for n in (500, 1500):
        X = rng.normal(size=(n, 8)) + 2 * rng.integers(0, 3, n)[:, None]
        forest = ClusterForest(3, n_estimators=20, random_state=0).fit(X)
        limits = PageLimits(splits=2, many_rows=100, exact_rows=100, point_rows=50, map_rows=50)
        ids = [f"C-{number:08x}" for number in rng.integers(0, 2**32, n)]
        sizes[n] = len(report(forest, X, ids=ids, limits=limits)[1].text)
    assert (sizes[1500] - sizes[500]) / 1000 < 22
