"""ClusterForest on tables with noise features, rare groups and many clusters."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest


def test_finds_groups_among_noise(blobs):
    X, truth = blobs
    for parameters in ({}, {"select_features": False}):
        forest = ClusterForest(3, random_state=0, **parameters).fit(X)
        assert adjusted_rand_score(truth, forest.labels_) > 0.9
        assert set(np.argsort(forest.feature_importances_)[-2:]) == {0, 1}
        assert ((forest.feature_importances_ >= 0) & (forest.feature_importances_ <= 1)).all()
        assert (forest.feature_pvalues_[:2] < 1e-3).all()
        assert (forest.feature_pvalues_[2:] > 1e-3).all()


def test_noise_features_are_not_in_trees(blobs):
    X, _ = blobs
    forest = ClusterForest(3, n_estimators=20, random_state=0).fit(X)
    assert set(np.concatenate(forest.estimators_features_)) == {0, 1}
    assert forest.chosen_params_["select_features"] == (
        True,
        "2 of 6 features go with the others or have several modes and are kept",
    )
    assert (forest.feature_importances_[2:] == 0).all()
    kept = ClusterForest(3, n_estimators=20, select_features=False, random_state=0).fit(X)
    assert set(np.concatenate(kept.estimators_features_)) == set(range(6))


@pytest.mark.parametrize("seed", range(6))
def test_rare_groups_are_found(seed):
    """As docs/tasks.md says: three groups of 1 % that lie apart, among noise features."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2, 3], [1455, 15, 15, 15])
    X = rng.normal(size=(1500, 10))
    X[:, :4] += 8 * np.array([[0, 0, 0, 0], [1, 1, 0, 0], [0, -1, 1, 0], [-1, 0, 0, 1]])[truth]
    assert adjusted_rand_score(truth, ClusterForest(4, random_state=seed).fit_predict(X)) > 0.95


def test_many_clusters_are_found_among_noise():
    rng = np.random.default_rng(0)
    truth = np.arange(1200) % 30
    X = rng.normal(size=(1200, 16))
    X[:, :8] += 3 * rng.normal(size=(30, 8))[truth]
    assert adjusted_rand_score(truth, ClusterForest(30, random_state=0).fit_predict(X)) > 0.95
