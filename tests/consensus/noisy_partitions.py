"""Partitions for the tests of consensus methods."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from clusterforests.consensus.affinity import Signatures

# Strehl and Ghosh (2002), section 3: four partitions of seven objects, the last one incomplete.
SEVEN = [[1, 1, 1, 2, 2, 3, 3], [2, 2, 2, 3, 3, 1, 1], [1, 1, 2, 2, 3, 3, 3], [1, 2, -1, 1, 2, -1, -1]]
SEVEN_ANSWER = [0, 0, 0, 1, 1, 2, 2]


def noisy(n=60, members=30, k=3, noise=0.25, hidden=0.0, seed=0):
    """Copies of a truth in which some labels are random and some are missing."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    labels = np.tile(truth, (members, 1))
    wrong = rng.random(labels.shape) < noise
    labels[wrong] = rng.integers(0, k, wrong.sum())
    labels[1:][rng.random((members - 1, n)) < hidden] = -1
    return labels.astype(np.int32), truth


def uncollapsed(labels):
    n = labels.shape[1]
    return Signatures(labels, np.arange(n), np.ones(n))


def small_partitions(low, rows=7, members=5):
    return arrays(np.int32, st.tuples(st.integers(1, members), st.integers(1, rows)), elements=st.integers(low, 2))
