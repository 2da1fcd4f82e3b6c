"""The profiles of clusters: mean z-scores, and which features are shown."""

import numpy as np
import pytest

from clusterforests import plots
from clusterforests.plots.profiles import distinguishing_features, mean_z_scores


def test_cluster_profiles(forest, groups, tick_labels):
    shown = plots.cluster_profiles(forest, groups[0], max_features=2)
    means = np.asarray(shown.images[0].get_array())
    z = (groups[0] - groups[0].mean(axis=0)) / groups[0].std(axis=0)
    columns = [int(name.split()[1]) for name in tick_labels(shown.yaxis)]
    assert sorted(columns) == [0, 1]
    for cluster in range(3):
        assert means[:, cluster] == pytest.approx(z[forest.labels_ == cluster][:, columns].mean(axis=0))
    assert shown.get_ylabel() == "2 of 6 features"
    assert len(shown.texts) == 6


def test_z_scores_with_weights_and_gaps():
    X = np.array([[1.0, 5, 1e200], [2, 5, 3e200], [np.nan, 5, 2e200], [4, 5, np.nan]])
    labels, weights = np.array([0, 0, 1, 1]), np.array([1.0, 2, 3, 1])
    found = mean_z_scores(X, labels, weights)
    many = np.repeat(X, weights.astype(int), axis=0)
    z = (many[:, 0] - np.nanmean(many[:, 0])) / np.nanstd(many[:, 0])
    assert found[:, 0] == pytest.approx([np.nanmean(z[:3]), np.nanmean(z[3:])])
    assert found[:, 1].tolist() == [0, 0]
    assert np.isfinite(found).all()


def test_every_cluster_has_a_distinguishing_feature():
    shares = np.array([[0.9, 0.8, 0.7, 0.0], [0.1, 0.1, 0.1, 0.2]])
    assert distinguishing_features(shares, 2).tolist() == [0, 3]
    assert distinguishing_features(shares, 9).tolist() == [0, 1, 2, 3]
