"""Rows in an order that depends on their values alone."""

from typing import NamedTuple

import numpy as np

from clusterforests._base.random import stream
from clusterforests._base.typing import FloatArray, IndexArray, KeyArray


class DistinctRows(NamedTuple):
    """Which rows of a table stand for all of them, in a random order, and the weight of each."""

    rows: IndexArray
    weights: FloatArray


def row_keys(X: FloatArray) -> KeyArray:
    """A hash of each row. NaNs are equal to each other, and so are 0 and -0."""
    keys = np.zeros(len(X), dtype=np.uint64)
    for column in X.T:
        plain = np.where(np.isnan(column), np.nan, column + 0.0)
        keys = stream(keys, plain.view(np.uint64))
    return keys


def order_by_values(X: FloatArray, weights: FloatArray | None = None) -> IndexArray:
    """A random order of the rows that does not depend on how they came."""
    keys = row_keys(X)
    return np.lexsort((keys,) if weights is None else (weights, keys))


def distinct_rows(X: FloatArray, weights: FloatArray | None = None) -> DistinctRows:
    """The different rows of positive weight; the weights of equal rows add up."""
    mass = np.ones(len(X)) if weights is None else weights
    counted = np.flatnonzero(mass > 0)
    keys = row_keys(X[counted])
    order = np.lexsort((mass[counted], keys))
    starts = np.flatnonzero(np.diff(keys[order], prepend=~keys[order[:1]]) != 0)
    return DistinctRows(counted[order[starts]], np.add.reduceat(mass[counted[order]], starts))
