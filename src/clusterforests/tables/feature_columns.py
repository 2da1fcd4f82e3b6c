"""The table as trees see it: each feature is one or more columns, each scaled in one or more ways."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from clusterforests._base.typing import AnyArray, BoolArray, IntArray


@dataclass(frozen=True)
class EncodedTable:
    """A table of numbers in which feature j is the columns first[j], ..., first[j] + widths[j] - 1 of `values`.

    A numeric feature is one column, and so is a category of two levels (0 and 1). A category of more levels has a
    column of zeros and ones for each level.
    """

    values: AnyArray  # (n, C): float64, or float32 where the table is wide and was so
    first: IntArray
    widths: IntArray
    categorical: BoolArray  # (p,)


class NumberColumn(NamedTuple):
    """What a column of an encoded table stands for: a feature that is a number, or one level of a category."""

    feature: int
    level: Any  # None for a number

    def title(self, names: Sequence[str]) -> str:
        """Name the column by the names of the features."""
        name = names[self.feature]
        return name if self.level is None else f"{name} = {self.level}"


def numeric_table(X: AnyArray) -> EncodedTable:
    """Take every column of X as a numeric feature."""
    p = X.shape[1]
    return EncodedTable(X, np.arange(p, dtype=np.int32), np.ones(p, np.int32), np.zeros(p, bool))


@dataclass(frozen=True)
class FeatureColumns:
    """Which columns of the scaled table stand for a feature in each view, that is, in each way of scaling.

    A tree sees all its features in the same view.
    """

    first: IntArray  # (V, p): the first column of each feature in each view
    widths: IntArray  # (p,): its number of columns
    drawable: IntArray  # the features that trees may draw, ascending
    _one_column_each: bool = field(init=False, repr=False, compare=False)

    @property
    def n_features(self) -> int:
        return len(self.widths)

    def __len__(self) -> int:
        return len(self.first)

    def __post_init__(self) -> None:
        # Every tree asks in every round, so this is computed once.
        object.__setattr__(self, "_one_column_each", bool((self.widths == 1).all()))

    def columns(self, tree: int | np.integer[Any], features: IntArray) -> IntArray:
        """Return the columns of a tree's features, in their order. Trees take the views in turn."""
        first: IntArray = self.first[tree % len(self), features]
        if self._one_column_each:
            return first
        widths = self.widths[features]
        ends = np.cumsum(widths)
        return np.repeat(first - (ends - widths), widths) + np.arange(ends[-1], dtype=np.int32)
