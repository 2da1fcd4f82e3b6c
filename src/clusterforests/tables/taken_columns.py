"""Columns of a table that are computed with when they are asked for."""

from typing import NamedTuple

import numpy as np

from clusterforests import _core
from clusterforests._base.typing import AnyArray, AnyIntArray, FloatArray, IndexArray, IntArray


class CellSteps(NamedTuple):
    """How the cells of each column are scaled: (x / 2**exponent - shift) / divisor - center."""

    exponent: IntArray
    shift: FloatArray
    divisor: FloatArray
    center: FloatArray

    def take(self, values: AnyArray, rows: IndexArray, columns: AnyIntArray, threads: int) -> FloatArray:
        """Scale columns of some rows: (rows, columns), in Fortran's order."""
        chosen = np.ascontiguousarray(columns, dtype=np.int32)
        return _core.take_columns(values, rows, chosen, *self, threads).T


class VarianceShares(NamedTuple):
    """Of columns in whole units: sums of squares between the clusters of each clustering, and in all; and the scale."""

    between: FloatArray  # (clusterings, columns)
    total: FloatArray
    scale: FloatArray


def share_variance(
    X: FloatArray, labels: IntArray, first: IndexArray, sizes: FloatArray, threads: int
) -> VarianceShares:
    """Share the variance of the columns of X, in Fortran's order, between clusters and within them.

    Clustering t, whose labels are labels[t], has the clusters first[t], ..., first[t + 1] - 1 of all.
    """
    return VarianceShares(*_core.share_variance(X.T, labels, first, sizes, threads))
