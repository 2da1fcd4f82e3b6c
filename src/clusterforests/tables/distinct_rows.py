"""Equal rows of a table counted as one."""

from typing import NamedTuple

import numpy as np

from clusterforests._base.row_keys import row_keys
from clusterforests._base.typing import AnyArray, BoolArray, FloatArray, IndexArray, KeyArray


class DistinctRows(NamedTuple):
    """Rows of a table that stand for all of them, in random order, and the weight of each."""

    rows: IndexArray
    weights: FloatArray


def distinct_rows(X: AnyArray, weights: FloatArray | None = None) -> DistinctRows:
    """Find the distinct rows of positive weight; the weights of equal rows add up."""
    mass = np.ones(len(X)) if weights is None else weights
    counted = np.flatnonzero(mass > 0)
    keys = row_keys(X)[counted]
    order = np.lexsort((mass[counted], keys))
    new = np.diff(keys[order], prepend=~keys[order[:1]]) != 0
    repeated = np.flatnonzero(~new)
    shared = differ(X[counted[order[repeated]]], X[counted[order[repeated - 1]]])
    if shared.any():  # made on purpose: chance does not find such rows
        order, new = _by_values(X[counted], keys, mass[counted], keys[order[repeated[shared]]])
    starts = np.flatnonzero(new)
    return DistinctRows(counted[order[starts]], np.add.reduceat(mass[counted[order]], starts))


def differ(a: AnyArray, b: AnyArray) -> BoolArray:
    """Tell which rows are not equal; NaNs are equal to each other, and so are 0 and -0."""
    unequal: BoolArray = ((a != b) & ~(np.isnan(a) & np.isnan(b))).any(axis=1)
    return unequal


def _by_values(X: AnyArray, keys: KeyArray, mass: FloatArray, shared: KeyArray) -> tuple[IndexArray, BoolArray]:
    """Order rows by their keys, and those of the shared keys also by their values; tell where a new row starts."""
    several = np.flatnonzero(np.isin(keys, shared))
    values = X[several].astype(np.float64)
    bits = (values + 0.0).view(np.uint64)
    bits[np.isnan(values)] = np.float64(np.nan).view(np.uint64)
    ranks = np.zeros(len(X), dtype=np.intp)
    ranks[several] = np.unique(bits, axis=0, return_inverse=True)[1].ravel()
    order = np.lexsort((mass, ranks, keys))
    new = (np.diff(keys[order], prepend=~keys[order[:1]]) != 0) | (np.diff(ranks[order], prepend=-1) != 0)
    return order, new
