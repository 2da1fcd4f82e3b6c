"""Hashes of rows, and the order that they give: both depend on the values alone."""

import numpy as np

from clusterforests._base.random import stream
from clusterforests._base.typing import FloatArray, IndexArray, KeyArray


def row_keys(X: FloatArray) -> KeyArray:
    """Hash each row. NaNs count as equal to each other, and so do 0 and -0."""
    keys = np.zeros(len(X), dtype=np.uint64)
    for column in X.T:
        plain = np.where(np.isnan(column), np.nan, column + 0.0)
        keys = stream(keys, plain.view(np.uint64))
    return keys


def order_by_values(X: FloatArray, weights: FloatArray | None = None) -> IndexArray:
    """Return a random order of the rows that does not depend on the order they came in."""
    keys = row_keys(X)
    return np.lexsort((keys,) if weights is None else (weights, keys))
