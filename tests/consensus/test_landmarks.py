"""Landmarks: which signatures are chosen, and which of the others each stands for."""

import numpy as np
import pytest
import reference

from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import collapse
from clusterforests.consensus.nodes import pick_landmarks


@pytest.mark.parametrize("lowest", [0, -1])
@pytest.mark.parametrize("count", [1, 2, 7, 60])
def test_each_signature_goes_to_the_first_of_its_nearest_landmarks(count, lowest):
    """With four partitions, most signatures are equally near to several landmarks."""
    rng = np.random.default_rng(count)
    labels = rng.integers(lowest, 5, (4, 500)).astype(np.int32)
    signatures = collapse(labels, rng.exponential(size=500))
    chosen, nearest, weights = pick_landmarks(CpuBackend(1), signatures, count, 0)
    assert len(chosen) == count
    assert (np.diff(chosen) > 0).all()
    expected = reference.coassociation(signatures.labels, signatures.labels[:, chosen]).argmax(axis=1)
    expected[chosen] = np.arange(count)
    assert (nearest == expected).all()
    np.testing.assert_allclose(weights, np.bincount(expected, signatures.weights, count), rtol=1e-12)
