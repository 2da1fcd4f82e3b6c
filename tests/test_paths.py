"""Every way from partitions to clusters, dense, operator and landmarks, against the plain oracle."""

import numpy as np
import pytest
import reference
from sklearn.metrics import adjusted_rand_score

from clusterforests import affinity, pairs
from clusterforests import combine as combining
from clusterforests.backends import CpuBackend
from clusterforests.combine import combine

PATHS = ["dense", "stored", "counted", "landmarks", "sampled landmarks"]


@pytest.fixture(params=PATHS)
def path(request, monkeypatch):
    """Force one of them; landmarks are nearly all rows, so that they have to find what the exact cut finds."""
    if request.param in ("stored", "counted"):
        monkeypatch.setattr(affinity, "DENSE_NODES", 0)
        monkeypatch.setattr(pairs, "DENSE_PART", 0)
        monkeypatch.setattr(pairs, "STORED_BYTES", 0 if request.param == "counted" else 2**28)
    if request.param == "sampled landmarks":
        monkeypatch.setattr(combining, "COLLAPSED", 10)
    return request.param


@pytest.mark.parametrize("threshold", [0.4, "auto"])
@pytest.mark.parametrize("seed", range(3))
def test_recursive_cuts(path, threshold, seed):
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], [60, 50, 40])
    labels = np.where(rng.random((40, 150)) < 0.3, rng.integers(0, 3, (40, 150)), truth).astype(np.int32)
    some = 140 if "landmarks" in path else None
    found = combine(CpuBackend(2), labels, 3, "ncut", threshold, 4.0, landmarks=some, seed=seed)
    assert found.n_landmarks == some
    P = reference.coassociation(labels, labels)
    W = np.expm1(4.0 * P) if threshold == "auto" else reference.regularised(P, threshold, 4.0)
    expected = reference.recursive_cut(W, 3)
    agreement = adjusted_rand_score(expected, found.labels)
    assert agreement == 1 if some is None else agreement > 0.9
    assert (found.placement.clusters(CpuBackend(), labels) == found.labels).all()


def test_all_rows_as_landmarks_are_the_exact_cut(monkeypatch):
    """The rows then walk, instead of being cut, and arrive where the cut puts them."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [60, 50, 40])
    labels = np.where(rng.random((40, 150)) < 0.3, rng.integers(0, 3, (40, 150)), truth).astype(np.int32)
    exact = combine(CpuBackend(), labels, 3, "ncut", 0.4, 4.0, landmarks=None).labels
    monkeypatch.setattr(combining, "COLLAPSED", 10)
    for method in ("ncut", "ncut-best", "kway"):
        exact = combine(CpuBackend(), labels, 3, method, 0.4, 4.0, landmarks=None).labels
        walked = combine(CpuBackend(), labels, 3, method, 0.4, 4.0, landmarks=150)
        assert not len(walked.placement.settled)
        assert (walked.labels == exact).all()
