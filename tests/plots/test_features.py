"""Pictures of features: how informative they are, and the profiles of clusters."""

import numpy as np
import pytest

from clusterforests import plots
from clusterforests.plots.features import distinguishing_features, mean_z_scores


def test_feature_importance(forest, tick_labels):
    shown = plots.feature_importance(forest)
    importance = forest.feature_importances_
    order = np.lexsort((forest.feature_pvalues_, -importance))
    assert [bar.get_width() for bar in shown.patches] == pytest.approx(100 * importance[order])
    assert tick_labels(shown.yaxis) == [f"feature {j}" for j in order]
    noise = order[importance[order] == 0]
    assert len(noise) in range(1, 6)  # else neither bars nor p-values are tested
    assert [text.get_text().strip() for text in shown.texts] == [f"p = {forest.feature_pvalues_[j]:.2g}" for j in noise]
    assert shown.get_title() == f"Informative features: {6 - len(noise)} of 6"
    few = plots.feature_importance(forest, max_features=2, names=list("abcdef"))
    assert tick_labels(few.yaxis) == ["abcdef"[j] for j in order[:2]]


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
