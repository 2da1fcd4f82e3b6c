"""Hashes of rows, and the order that they give: both depend on the values alone."""

import numpy as np

from clusterforests import _core
from clusterforests._base.typing import FloatArray, IndexArray, KeyArray


def row_keys(X: FloatArray, threads: int = 1) -> KeyArray:
    """Hash each row. NaNs count as equal to each other, and so do 0 and -0."""
    return _core.hash_rows(np.ascontiguousarray(X), threads)


def order_by_values(X: FloatArray, weights: FloatArray | None = None) -> IndexArray:
    """Return a random order of the rows that does not depend on the order they came in."""
    keys = row_keys(X)
    return np.lexsort((keys,) if weights is None else (weights, keys))
