"""Informative features, and how the clusters differ in them."""

import numpy as np
import pytest

from clusterforests import ClusterForest
from clusterforests.app.report.json_values import PageLimits
from clusterforests.inspection import feature_separation


def test_features_that_make_the_clusters_come_first(report, three):
    forest, X, _ = three
    data = report(forest, X, names=list("abcdef"))[0]
    found = data["features"]
    assert {f["name"] for f in found["features"][:2]} == {"a", "b"}
    by_name = {f["name"]: f for f in found["features"]}
    told = {
        "importance": forest.feature_importances_,
        "p_value": forest.feature_pvalues_,
    }
    for key, values in told.items():
        np.testing.assert_allclose([by_name[name][key] for name in "abcdef"], values, rtol=1e-3)
    for view in data["views"]:
        shares = feature_separation(X, forest.recut(view["k"]).labels_).features
        listed = ["abcdef".index(feature["name"]) for feature in found["features"]]
        np.testing.assert_allclose(view["shares"], shares[listed], rtol=1e-3)


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 30))
    X[:60, :5] += 3
    return ClusterForest(2, n_estimators=40, random_state=0).fit(X), X


def test_noise_is_listed_as_such(report, noisy):
    data, page = report(*noisy)
    listed = data["features"]["features"]
    assert len(listed) == 30
    assert {f["name"] for f in listed if f["importance"] > 0} == {f["name"] for f in listed if f["used"]}
    assert {f["name"] for f in listed[:5]} == {f"column {j}" for j in range(1, 6)}
    assert [f["importance"] for f in listed[5:]] == [0] * 25
    said = "5 of 30 columns are informative; the other 25 were left out of the trees."
    assert page.texts["answer"].endswith(said)


def test_what_is_not_listed_is_counted(report, noisy):
    data, _ = report(*noisy, limits=PageLimits(splits=2, listed_columns=3))
    assert len(data["features"]["features"]) == 3
    assert data["features"]["n_columns"] == 30
    assert data["features"]["informative"] == 5
