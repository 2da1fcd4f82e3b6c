"""What the page warns about."""

import numpy as np

from clusterforests import ClusterForest


def test_cautions(report):
    X = np.random.default_rng(0).normal(size=(80, 4))
    forest = ClusterForest(5, n_estimators=6, random_state=0).fit(X).set_params(random_state=None)
    assert (forest.stability(2).clusters < 0.6).any()
    said = " ".join(report(forest, X)[0]["cautions"])
    assert "5 clusters were requested, not discovered" in said
    assert "not reliable" in said
    assert "No random_state was set" in said
