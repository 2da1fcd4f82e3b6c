"""Labels of partitions are renumbered in the order in which they appear."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clusterforests.consensus import partitions
from clusterforests.consensus.partitions import check_partitions


@given(st.integers(0, 10**6))
def test_many_partitions_at_once_are_numbered_like_one(seed):
    rng = np.random.default_rng(seed)
    n, size = int(rng.integers(1, 12)), int(rng.integers(1, 6))
    given_ = rng.integers(0, n, size=(size, n))
    found = check_partitions(given_)
    assert found.dtype == np.int32
    for member, numbered in zip(given_, found, strict=True):
        seen = list(dict.fromkeys(member.tolist()))
        assert numbered.tolist() == [seen.index(label) for label in member.tolist()]
    few = partitions.FEW_LABELS
    partitions.FEW_LABELS = 0
    try:
        assert np.array_equal(check_partitions(given_), found)
    finally:
        partitions.FEW_LABELS = few
