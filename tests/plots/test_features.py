"""Pictures of features show how the trees use them and what the diagnostics find."""

import numpy as np
import pytest

from clusterforests import ClusterForest, plots
from clusterforests import inspection as diagnostics


def test_feature_use(forest, tick_labels):
    names = [f"n{j}" for j in range(6)]
    shown = plots.feature_use(forest, max_features=4, names=names)
    use = np.mean([np.bincount(f, minlength=6) / len(f) for f in forest.estimators_features_], axis=0)
    order = np.argsort(-use, kind="stable")[:4]
    assert [bar.get_width() for bar in shown.patches] == pytest.approx(100 * use[order])
    assert tick_labels(shown.yaxis) == [names[j] for j in order]
    assert shown.get_ylim() == (3.5, -0.5)  # the first at the top
    assert shown.get_ylabel() == "4 of 6 features"
    trees = plots.feature_use(forest, per_tree=True).images[0].get_array().filled(0)
    order, best = np.argsort(-use, kind="stable"), np.argsort(forest.kappas_, kind="stable")
    used = np.array([np.isin(order, forest.estimators_features_[t]) for t in best])
    assert np.array_equal(trees, used.T)


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


def test_feature_profile(forest, groups):
    X = groups[0].copy()
    X[:, 5] = 1.0
    X[:3, 4] = np.nan
    forest = ClusterForest(3, n_estimators=5, random_state=0).fit(X)
    shown = plots.feature_profile(forest, X)
    assert sum(bar.get_height() for bar in shown.patches) == 5
    assert "1 with fewer than 3 values not shown" in shown.get_ylabel()
    assert shown.lines[0].get_xdata()[0] == diagnostics.noise_strength(3)
    alone = diagnostics.feature_profile(X[3:, 4:5], 3).strengths[0]
    assert diagnostics.feature_profile(X, 3).strengths[4] == pytest.approx(alone)
