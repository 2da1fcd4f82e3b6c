"""The map of pairs, and the rows of the page."""

import numpy as np
import pytest

from clusterforests import ClusterForest
from clusterforests.app.report.json_values import PageLimits


def test_map_holds_the_shares_of_pairs(report, three):
    forest, X, _ = three
    data = report(forest, X)[0]
    shown = data["map"]
    assert sorted(shown["rows"]) == list(range(75))
    cells = np.reshape(shown["cells"], (75, 75)) / 255
    P = forest.coassociation(shown["rows"], shown["rows"])
    np.testing.assert_allclose(cells, P, atol=0.51 / 255)
    pairs = P[~np.eye(75, dtype=bool)]
    assert (shown["low"], shown["high"]) == (pytest.approx(pairs.min(), abs=1e-4), pytest.approx(pairs.max(), abs=1e-4))
    for view in data["views"]:
        assert sorted(view["order"]) == list(range(75))
        labels = [view["map_labels"][place] for place in view["order"]]
        assert labels == sorted(labels)


def test_every_row_is_there_for_every_number(report, three):
    forest, X, _ = three
    data = report(forest, X)[0]
    assert data["rows"] == {"of": 75, "all": True, "rows": None, "ids": None, "left_out": False, "parts": 10000}
    for view in data["views"]:
        cut = forest.recut(view["k"])
        soft, every = cut.memberships_, np.arange(75)
        np.testing.assert_array_equal(view["rows"]["cluster"], cut.labels_)
        np.testing.assert_allclose(np.divide(view["rows"]["membership"], 10000), soft[every, cut.labels_], atol=6e-5)
        soft[every, cut.labels_] = -1
        np.testing.assert_array_equal(view["rows"]["next"], soft.argmax(axis=1))
        np.testing.assert_allclose(np.divide(view["rows"]["next_membership"], 10000), soft.max(axis=1), atol=6e-5)


def test_of_too_many_rows_the_least_sure_are_there(report):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3)) + 9 * np.repeat([[0], [1], [2]], [500, 390, 10], axis=0)
    forest = ClusterForest(3, n_estimators=20, random_state=0).fit(X)
    limits = PageLimits(splits=2, sample_rows=300, listed_rows=50, stored_rows=899, numbers=1, exact_rows=49)
    data = report(forest, X, ids=[f"r{i}" for i in range(900)], limits=limits)[0]
    assert 295 <= data["features"]["rows"] <= 305
    rows = data["rows"]
    assert (len(rows["rows"]), rows["of"], rows["all"], rows["parts"]) == (50, 900, False, 100)
    assert rows["ids"] == [f"r{i}" for i in rows["rows"]]
    least = np.sort(forest.consensus_silhouette_)
    np.testing.assert_array_equal(forest.consensus_silhouette_[rows["rows"]], least[:50])
    np.testing.assert_array_equal(data["view"]["rows"]["cluster"], forest.labels_[rows["rows"]])
    assert 390 <= len(data["map"]["rows"]) <= 410
    assert data["view"]["map_labels"].count(2) >= 4
    assert data["view"]["points"].count(2) >= 4


def test_names_that_would_be_too_much_are_left_out(report, three):
    forest, X, _ = three
    limits = PageLimits(splits=2, id_bytes=100, numbers=1)
    rows = report(forest, X, ids=[f"row {i}" for i in range(75)], limits=limits)[0]["rows"]
    assert (rows["ids"], rows["left_out"]) == (None, True)
