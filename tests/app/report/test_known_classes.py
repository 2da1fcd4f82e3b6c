"""Known classes are compared with the clusters, and used for nothing else."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from paper.metrics import clustering_accuracy, rand_index


def test_truth_is_only_compared(report, three):
    forest, X, truth = three
    without = report(forest, X)[0]
    named = [None if i == 3 else f"<b>{t}" for i, t in enumerate(truth)]
    data = report(forest, X, truth=named)[0]
    scores, known = data.pop("truth"), np.arange(75) != 3
    score = scores[data["views"].index(data["view"])]
    assert without.pop("truth") is None
    assert data == without
    pair = truth[known], forest.labels_[known]
    assert score["rows"] == 74
    assert score["adjusted_rand_index"] == pytest.approx(adjusted_rand_score(*pair), rel=1e-3)
    assert score["rand_index"] == pytest.approx(rand_index(*pair), rel=1e-3)
    assert score["accuracy"] == pytest.approx(clustering_accuracy(*pair), rel=1e-3)
    assert np.sum(score["counts"]) == 74
