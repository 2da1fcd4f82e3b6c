"""The map of pairs, the least sure rows and the labels to download."""

import base64

import numpy as np
import pytest

from clusterforests import ClusterForest
from clusterforests.report.limits import PageLimits


def test_map_holds_the_shares_of_pairs(report, three):
    forest, X, _ = three
    shown = report(forest, X)[0]["map"]
    assert sorted(shown["rows"]) == list(range(75))
    assert shown["labels"] == sorted(shown["labels"])
    cells = np.frombuffer(base64.b64decode(shown["cells"]), dtype=np.uint8).reshape(75, 75) / 255
    P = forest.coassociation(shown["rows"], shown["rows"])
    np.testing.assert_allclose(cells, P, atol=0.51 / 255)
    pairs = P[~np.eye(75, dtype=bool)]
    assert (shown["low"], shown["high"]) == (pytest.approx(pairs.min(), abs=1e-4), pytest.approx(pairs.max(), abs=1e-4))


def test_rows_are_listed_from_the_least_sure(report, three):
    forest, X, _ = three
    rows = report(forest, X)[0]["rows"]
    assert sorted(rows["rows"]) == list(range(75))
    np.testing.assert_allclose(rows["silhouette"], np.sort(forest.silhouette_), rtol=1e-3, atol=1e-9)
    i = rows["rows"][0]
    soft = forest.memberships_[i]
    own, others = forest.labels_[i], np.delete(np.arange(3), forest.labels_[i])
    following = others[soft[others].argmax()]
    assert (rows["cluster"][0], rows["next"][0]) == (own, following)
    assert rows["membership"][0] == pytest.approx(soft[own], rel=1e-3)
    assert rows["next_membership"][0] == pytest.approx(soft[following], rel=1e-3)


def test_of_many_rows_a_sample_is_shown_and_counted(report):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3)) + 9 * np.repeat([[0], [1], [2]], [500, 390, 10], axis=0)
    forest = ClusterForest(3, n_estimators=20, random_state=0).fit(X)
    limits = PageLimits(splits=2, sample_rows=300, listed_rows=50)
    data = report(forest, X, ids=[f"r{i}" for i in range(900)], limits=limits)[0]
    assert 295 <= data["features"]["rows"] <= 305
    assert (len(data["rows"]["rows"]), data["rows"]["of"]) == (50, 900)
    np.testing.assert_allclose(data["rows"]["silhouette"], np.sort(forest.silhouette_)[:50], rtol=1e-3, atol=1e-9)
    assert 390 <= len(data["map"]["rows"]) <= 410
    assert data["map"]["labels"].count(2) >= 4
    labels = np.frombuffer(base64.b64decode(data["labels"]["cells"]), dtype=np.uint8)
    np.testing.assert_array_equal(labels, forest.labels_)
    assert data["labels"]["ids"][899] == "r899"


def test_heavy_downloads_are_left_out(report, three):
    forest, X, _ = three
    few_characters, few_rows = PageLimits(splits=2, id_characters=100), PageLimits(splits=2, labelled_rows=74)
    labels = report(forest, X, ids=[f"row {i}" for i in range(75)], limits=few_characters)[0]["labels"]
    assert (labels["ids"], labels["left_out"]) == (None, True)
    assert report(forest, X, limits=few_rows)[0]["labels"] is None
