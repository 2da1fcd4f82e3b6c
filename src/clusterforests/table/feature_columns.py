"""The table as trees see it: each feature is one or more columns, each scaled in one or more ways."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from clusterforests._utils.arrays import AnyArray, BoolArray, FloatArray, IndexArray, IntArray, KeyArray, row_keys


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


class EncodedColumns(NamedTuple):
    """Rows as numbers, NaN where a cell is missing, and what each column stands for."""

    values: AnyArray  # (n, C)
    columns: tuple[NumberColumn, ...]
    levels: Mapping[int, tuple[Any, ...]]  # of each category, sorted; one of two levels has a column for the second


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


# Equal rows of a table counted as one.


class DistinctRows(NamedTuple):
    """Rows of a table that stand for all of them, in random order, and the weight of each."""

    rows: IndexArray
    weights: FloatArray


def distinct_rows(X: AnyArray, weights: FloatArray | None = None) -> DistinctRows:
    """Find the distinct rows of positive weight; the weights of equal rows add up."""
    weights = np.ones(len(X)) if weights is None else weights
    counted = np.flatnonzero(weights > 0)
    keys = row_keys(X)[counted]
    order = np.lexsort((weights[counted], keys))
    new = np.diff(keys[order], prepend=~keys[order[:1]]) != 0
    repeated = np.flatnonzero(~new)
    shared = differ(X[counted[order[repeated]]], X[counted[order[repeated - 1]]])
    if shared.any():  # made on purpose: chance does not find such rows
        order, new = _by_values(X[counted], keys, weights[counted], keys[order[repeated[shared]]])
    starts = np.flatnonzero(new)
    return DistinctRows(counted[order[starts]], np.add.reduceat(weights[counted[order]], starts))


def differ(a: AnyArray, b: AnyArray) -> BoolArray:
    """Mark the rows that are not equal; NaNs are equal to each other, and so are 0 and -0."""
    unequal: BoolArray = ((a != b) & ~(np.isnan(a) & np.isnan(b))).any(axis=1)
    return unequal


def _by_values(X: AnyArray, keys: KeyArray, weights: FloatArray, shared: KeyArray) -> tuple[IndexArray, BoolArray]:
    """Order rows by their keys, and those of the shared keys also by their values; tell where a new row starts."""
    several = np.flatnonzero(np.isin(keys, shared))
    values = X[several].astype(np.float64)
    bits = (values + 0.0).view(np.uint64)
    bits[np.isnan(values)] = np.float64(np.nan).view(np.uint64)
    ranks = np.zeros(len(X), dtype=np.intp)
    ranks[several] = np.unique(bits, axis=0, return_inverse=True)[1].ravel()
    order = np.lexsort((weights, ranks, keys))
    new = (np.diff(keys[order], prepend=~keys[order[:1]]) != 0) | (np.diff(ranks[order], prepend=-1) != 0)
    return order, new
