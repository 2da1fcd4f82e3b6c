"""Small partitions, drawn at random."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def clusterings(draw):
    """Partitions with rows left out, labels without a gap and how often each row counts."""
    n, trees, k = draw(st.integers(2, 9)), draw(st.integers(1, 6)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    partitions = rng.integers(draw(st.integers(-1, 0)), 3, size=(trees, n)).astype(np.int32)
    partitions[0, (partitions < 0).all(axis=0)] = 0
    labels = np.unique(rng.integers(0, k, size=n), return_inverse=True)[1]
    return partitions, labels, rng.integers(1, 4, size=n)


def repeated(partitions, labels, counts):
    return np.repeat(partitions, counts, axis=1), np.repeat(labels, counts)
