"""Pictures of features show how the trees use them and what the diagnostics find."""

import numpy as np
import pytest

from clusterforests import ClusterForest, diagnostics, plots
from clusterforests.forest_view import view_of


def test_feature_use(forest, tick_labels):
    names = [f"n{j}" for j in range(6)]
    shown = plots.feature_use(forest, max_features=4, names=names)
    order = np.argsort(-forest.feature_importances_)[:4]
    assert [bar.get_width() for bar in shown.patches] == pytest.approx(100 * forest.feature_importances_[order])
    assert tick_labels(shown.yaxis) == [names[j] for j in order]
    assert shown.get_ylim() == (3.5, -0.5)  # the first at the top
    assert shown.get_ylabel() == "4 of 6 features"
    trees = plots.feature_use(forest, per_tree=True).images[0].get_array().filled(0)
    order, best = np.argsort(-forest.feature_importances_), np.argsort(forest.kappas_, kind="stable")
    used = np.array([np.isin(order, forest.estimators_features_[t]) for t in best])
    assert np.array_equal(trees, used.T)


def test_feature_importance(forest, groups, tick_labels):
    shown = plots.feature_importance(forest, groups[0])
    found = diagnostics.feature_importance(
        groups[0], forest.labels_, forest.partitions_, forest.estimators_features_, combine=view_of(forest).cut
    )
    separation = found.separation.features
    order = np.argsort(-separation.excess)
    widths = {round(bar.get_y() + bar.get_height() / 2): bar.get_width() for bar in shown.patches}
    assert [widths[i] for i in range(6)] == pytest.approx(100 * separation.share[order])
    assert tick_labels(shown.yaxis) == [f"feature {j}" for j in order]
    ends = np.array([segment[1, 0] for segment in shown.collections[-1].get_segments()])
    assert ends == pytest.approx(100 * (separation.expected + 2 * separation.deviation)[order])
    again = plots.feature_importance(forest, groups[0], importance=found)
    assert [bar.get_width() for bar in again.patches] == [bar.get_width() for bar in shown.patches]
    narrow = ClusterForest(2, n_estimators=5, random_state=0).fit(groups[0][:, :4])
    with pytest.raises(ValueError, match="importance is for 6 columns but X has 4"):
        plots.feature_importance(narrow, groups[0][:, :4], importance=found)


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
