"""The table as trees see it: each feature as one or more columns, scaled in one or more ways."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._base.cached import cached
from clusterforests._base.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class EncodedTable:
    """A table as numbers: feature j is the columns first[j], ..., first[j] + widths[j] - 1 of `values`.

    A number is a column; so is a category of two levels (0 and 1). A category of more levels is a column of zeros and
    ones for each level.
    """

    values: FloatArray  # (n, C)
    first: IntArray
    widths: IntArray
    categorical: BoolArray  # (p,)


def numeric_table(X: FloatArray) -> EncodedTable:
    """A table of numbers: every feature is a column."""
    p = X.shape[1]
    return EncodedTable(X, np.arange(p, dtype=np.int32), np.ones(p, np.int32), np.zeros(p, bool))


@dataclass(frozen=True)
class FeatureColumns:
    """Which columns of the scaled table stand for a feature. A tree sees every feature in one and the same view."""

    first: IntArray  # (V, p): the first column of each feature in each view
    widths: IntArray  # (p,): its number of columns
    drawable: IntArray  # the features that trees may draw, ascending

    @property
    def n_features(self) -> int:
        return len(self.widths)

    def __len__(self) -> int:
        return len(self.first)

    @cached
    def _plain(self) -> bool:
        return bool((self.widths == 1).all())

    def columns(self, tree: int | np.integer[Any], features: IntArray) -> IntArray:
        """The columns of a tree's features, in their order. Trees take the views in turn."""
        first: IntArray = self.first[tree % len(self), features]
        if self._plain:
            return first
        widths = self.widths[features]
        ends = np.cumsum(widths)
        return np.repeat(first - (ends - widths), widths) + np.arange(ends[-1], dtype=np.int32)
