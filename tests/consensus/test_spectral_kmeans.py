"""K-means in the spectral embedding."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from clusterforests.backends import CpuBackend
from clusterforests.consensus.normalized_cut import kmeans_groups

RNG = np.random.default_rng(0)
TRUTH = np.repeat(np.arange(120), 4)
ROWS = np.eye(120)[TRUTH] + 0.01 * RNG.normal(size=(480, 120))


def test_most_of_many_clear_groups_are_found():
    found = kmeans_groups(CpuBackend(), ROWS, np.ones(480), 120)
    assert len(np.unique(found)) == 120
    assert adjusted_rand_score(TRUTH, found) > 0.95


def test_threads_do_not_show():
    assert (
        kmeans_groups(CpuBackend(1), ROWS, TRUTH + 1.0, 120) == kmeans_groups(CpuBackend(3), ROWS, TRUTH + 1.0, 120)
    ).all()


def test_more_clusters_than_different_rows_are_refused():
    with pytest.raises(ValueError, match="n_clusters=121 is more than the 120 different rows"):
        kmeans_groups(CpuBackend(), np.eye(120)[TRUTH], np.ones(480), 121)
    assert len(np.unique(kmeans_groups(CpuBackend(), np.eye(120)[TRUTH], np.ones(480), 120))) == 120
