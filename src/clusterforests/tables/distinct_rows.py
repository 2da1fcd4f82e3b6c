"""Equal rows of a table counted as one."""

from typing import NamedTuple

import numpy as np

from clusterforests import _core
from clusterforests._base.typing import FloatArray, IndexArray


class DistinctRows(NamedTuple):
    """Rows of a table that stand for all of them, in random order, and the weight of each."""

    rows: IndexArray
    weights: FloatArray


def distinct_rows(X: FloatArray, weights: FloatArray | None = None) -> DistinctRows:
    """Find the distinct rows of positive weight; the weights of equal rows add up."""
    mass = np.ones(len(X)) if weights is None else weights
    counted = np.flatnonzero(mass > 0)
    keys = _core.hash_rows(np.ascontiguousarray(X if len(counted) == len(X) else X[counted]), 1)
    order = np.lexsort((mass[counted], keys))
    starts = np.flatnonzero(np.diff(keys[order], prepend=~keys[order[:1]]) != 0)
    return DistinctRows(counted[order[starts]], np.add.reduceat(mass[counted[order]], starts))
