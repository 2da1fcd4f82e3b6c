"""Columns that are linear combinations of the scaled columns: principal components, whitened draws of features."""

from dataclasses import dataclass

import numpy as np

from clusterforests._base.typing import FloatArray, Int64Array, IntArray


@dataclass(frozen=True)
class Projections:
    """Columns that are sums of scaled columns times coefficients, one after the other.

    Terms are added in their order, starting from 0, so that a row's sum is the same wherever it is taken.
    """

    starts: Int64Array  # (m + 1,): where each projected column starts in the two others
    columns: IntArray  # columns of the scaled views
    coefficients: FloatArray

    def __len__(self) -> int:
        return len(self.starts) - 1

    def bounds(self, ends: FloatArray) -> FloatArray:
        """Bound the projected columns of all rows whose scaled columns are between the two rows `ends`.

        Sums and products of doubles are monotone and these are taken in the order of the terms, so the bounds hold to
        the last bit.
        """
        terms = np.sort(self.coefficients * ends[:, self.columns], axis=0)
        owners = np.repeat(np.arange(len(self)), np.diff(self.starts))
        return np.array([np.bincount(owners, some, minlength=len(self)) for some in terms])

    def farthest(self, projected: int, ends: FloatArray) -> int:
        """Return the scaled column whose term in a projected column can be largest."""
        own = slice(*self.starts[projected : projected + 2])
        with np.errstate(over="ignore", invalid="ignore"):
            terms = np.abs(self.coefficients[own] * ends[:, self.columns[own]])
        return int(self.columns[own][np.nan_to_num(terms, nan=np.inf).max(axis=0).argmax()])


NO_PROJECTIONS = Projections(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0))
