"""Features that distinguish the clusters."""

import numpy as np
import pytest

from clusterforests.diagnostics import feature_importance
from clusterforests.forest_view import view_of


def test_features_that_make_the_clusters_come_first(report, three):
    forest, X, _ = three
    found = report(forest, X, names=list("abcdef"))[0]["features"]
    assert {f["name"] for f in found["features"][:2]} == {"a", "b"}
    test = feature_importance(
        X, forest.labels_, forest.partitions_, forest.estimators_features_, combine=view_of(forest).cut
    )
    by_name = {f["name"]: f["p_value"] for f in found["features"]}
    np.testing.assert_allclose([by_name[name] for name in "abcdef"], test.separation.features.p_value, rtol=1e-3)
    for c, columns in enumerate(found["clusters"]):
        for column in columns:
            j = "abcdef".index(column["name"])
            inside = X[forest.labels_ == c, j].mean()
            assert column["inside"] == pytest.approx(inside, rel=1e-3)
            assert column["direction"] == np.sign(inside - X[:, j].mean())
