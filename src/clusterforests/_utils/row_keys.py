"""Hashes of rows, and the order that they give: both depend on the values alone."""

import numpy as np

from clusterforests import _core
from clusterforests._utils.arrays import AnyArray, FloatArray, IndexArray, KeyArray
from clusterforests._utils.memory import WIDE, as_floats, column_blocks


def row_keys(X: AnyArray, threads: int = 1) -> KeyArray:
    """Hash each row. NaNs count as equal to each other, and so do 0 and -0."""
    if X.shape[1] <= WIDE:
        return _core.hash_rows(np.ascontiguousarray(X, dtype=np.float64), threads)
    keys = np.zeros(len(X), dtype=np.uint64)
    for some in column_blocks(*X.shape):
        keys = extend_keys(keys, as_floats(X, some), threads)
    return keys


def extend_keys(keys: KeyArray, X: FloatArray, threads: int = 1) -> KeyArray:
    """Hash rows of which the keys of the columns before X are known; zeros if there are none."""
    return _core.hash_rows(X, threads, keys)


def order_by_values(X: FloatArray, weights: FloatArray | None = None) -> IndexArray:
    """Return a random order of the rows that does not depend on the order they came in."""
    keys = row_keys(X)
    return np.lexsort((keys,) if weights is None else (weights, keys))
