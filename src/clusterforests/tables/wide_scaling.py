"""Scaling of a wide table, of which only the columns that trees may draw are kept and ranked."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from clusterforests import _core
from clusterforests._base.column_blocks import as_floats, column_blocks, is_wide
from clusterforests._base.memory_limits import check_memory
from clusterforests._base.typing import AnyArray, FloatArray, IndexArray, Int64Array, IntArray, KeyArray
from clusterforests.tables.column_steps import ColumnSteps, column_steps
from clusterforests.tables.feature_columns import EncodedTable, FeatureColumns
from clusterforests.tables.scaling import (
    KEPT_VALUES,
    WAYS,
    Scaling,
    column_distribution,
    column_distributions,
    level_step,
)


def can_be_narrowed(encoded: EncodedTable, scale: str) -> bool:
    """Tell whether a table is so wide that it pays, and whether its first view, which is searched, needs no ranks."""
    n, count = encoded.values.shape
    return is_wide(count) and n <= KEPT_VALUES and WAYS[scale][0] != "rank"


def fit_steps(encoded: EncodedTable, scale: str, weights: FloatArray | None = None, threads: int = 1) -> Scaling:
    """Learn from a table how to scale its columns, as `fit_scaling` does, but for the values that ranks go by."""
    values, first, widths = encoded.values, encoded.first, encoded.widths
    count, ways = values.shape[1], WAYS[scale]
    if scale == "none":
        steps, drawable = ColumnSteps.identity(0, count), np.arange(len(widths), dtype=np.int32)
    else:
        if weights is None:
            steps, varies = column_steps(values, ways, threads)
        else:
            steps, varies = _weighted_steps(values, ways, weights)
        for j in np.flatnonzero(widths > 1):
            levels = [column_distribution(*_counted(values[:, first[j] + i], weights)) for i in range(widths[j])]
            for view, way in enumerate(ways):
                _set(steps, view, slice(first[j], first[j] + widths[j]), *level_step(levels, way))
        drawable = np.flatnonzero(np.logical_or.reduceat(varies, first)).astype(np.int32)
        if not len(drawable):
            drawable = np.arange(len(widths), dtype=np.int32)
    offsets = count * np.arange(len(ways), dtype=np.int32)
    views = FeatureColumns(first + offsets[:, None], widths, drawable)
    return Scaling(views, *steps, np.zeros(count + 1, np.int64), np.empty(0), np.empty(0))


class NarrowTable(NamedTuple):
    """The columns of a table that trees may draw, and how they are scaled."""

    values: AnyArray  # float64, or all columns as they were
    scaling: Scaling
    sources: IntArray | None  # the columns of the table; None: all of them


def narrow(encoded: EncodedTable, scaling: Scaling, weights: FloatArray | None) -> NarrowTable:
    """Keep the columns of the features that trees may draw, and what their ranks go by."""
    views, values = scaling.views, encoded.values
    sources = FeatureColumns(encoded.first[None, :], views.widths, views.drawable).columns(0, views.drawable)
    every = len(sources) == values.shape[1]
    _check_memory(len(values), 0 if every else len(sources), int(scaling.ranked[:, sources].any(axis=0).sum()))
    taken = values if every else as_floats(values, sources)
    first = np.zeros(views.n_features, dtype=np.int32)
    ends = np.cumsum(views.widths[views.drawable])
    first[views.drawable] = ends - views.widths[views.drawable]
    offsets = len(sources) * np.arange(len(views), dtype=np.int32)
    kept = replace(
        scaling,
        views=FeatureColumns(first + offsets[:, None], views.widths, views.drawable),
        **{name: getattr(scaling, name)[:, sources] for name in ColumnSteps._fields},
    )
    return NarrowTable(taken, _with_knots(kept, taken, weights), None if every else sources)


@dataclass(frozen=True)
class TableKeys:
    """The keys that order rows by all columns of the scaled table, which is made a block of columns at a time."""

    values: AnyArray
    weights: FloatArray | None
    steps: Scaling  # of all columns

    def of(self, parts: list[tuple[IndexArray, FloatArray | None]], threads: int) -> list[KeyArray]:
        """Compute the keys of some rows with weights of their own, for several parts at a time."""
        keys = [_core.RowKeys(len(rows)) for rows, _ in parts]
        for view in range(len(self.steps.views)):
            for block in column_blocks(*self.values.shape):
                scaled = self._scaled(view, block, threads)
                for made, (rows, weights) in zip(keys, parts, strict=True):
                    made.add(scaled, rows, weights, threads)
        return [made.finished() for made in keys]

    def _scaled(self, view: int, block: slice, threads: int) -> FloatArray:
        """Scale a block of columns as a view does: (columns, rows). Rows without a weight have no rank."""
        if not len(self.steps.exponent):
            return np.ascontiguousarray(as_floats(self.values, block).T)
        rows, columns = np.arange(len(self.values)), np.arange(block.start, block.stop, dtype=np.int32)
        exponent, shift, divisor = (getattr(self.steps, name)[view] for name in ("exponent", "shift", "divisor"))
        center = np.zeros(len(exponent))
        scaled = _core.take_columns(self.values, rows, columns, exponent, shift, divisor, center, threads)
        ranked = np.flatnonzero(self.steps.ranked[view, block])
        if len(ranked):
            scaled[ranked] = self._ranks(scaled[ranked], threads)
        return scaled

    def _ranks(self, columns: FloatArray, threads: int) -> FloatArray:
        if self.weights is None:
            return _core.rank_columns(columns, np.argsort(columns, axis=1), threads)
        counted = np.flatnonzero(self.weights)
        for x in columns:
            found = column_distribution(x[counted], self.weights[counted])
            x[counted] = found.ranks[np.searchsorted(found.values, x[counted])]
        return columns


def _counted(x: AnyArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray | None]:
    """Take the rows of a column that have a weight, and their weights."""
    if weights is None:
        return x.astype(np.float64), None
    return x[weights > 0].astype(np.float64), weights[weights > 0]


def _weighted_steps(values: AnyArray, ways: tuple[str, ...], weights: FloatArray) -> tuple[ColumnSteps, AnyArray]:
    """Fit the steps of single columns, one by one."""
    steps = ColumnSteps.identity(len(ways), values.shape[1])
    varies = np.zeros(values.shape[1], dtype=bool)
    for block in column_blocks(*values.shape):
        distributions = column_distributions(as_floats(values, block)[weights > 0], weights[weights > 0])
        for c, column in enumerate(distributions, block.start):
            varies[c] = not column.constant
            for view, way in enumerate(ways):
                _set(steps, view, c, *column.step(way))
    return steps, varies


def _set(
    steps: ColumnSteps, view: int, where: int | slice, exponent: int, shift: float, divisor: float, ranked: bool
) -> None:
    steps.exponent[view, where], steps.shift[view, where] = exponent, shift
    steps.divisor[view, where], steps.ranked[view, where] = divisor, ranked


def _check_memory(n_rows: int, taken: int, ranked: int) -> None:
    """Refuse columns that do not fit into memory beside the table: those that are taken, and the ranks of some."""
    needed = n_rows * (8 * taken + 16 * ranked)
    if ranked:
        instead = "Take fewer columns, or set scale='standard', which needs no ranks."
        check_memory(needed, f"Ranking the {ranked} columns that trees may use", instead)
    else:
        check_memory(needed, f"A copy of the {taken} columns that trees may use", "Take fewer columns.")


def _with_knots(scaling: Scaling, values: AnyArray, weights: FloatArray | None) -> Scaling:
    """Add the values of ranked columns, and their ranks."""
    ranked = np.flatnonzero(scaling.ranked.any(axis=0))
    lengths: Int64Array = np.zeros(values.shape[1] + 1, np.int64)
    knots, ranks = np.empty((2, len(values) * len(ranked)))  # as many at most: no list of parts beside the whole
    end = 0
    for c in ranked:
        own, own_ranks = column_distribution(*_counted(values[:, c], weights)).rank_knots()
        knots[end : end + len(own)], ranks[end : end + len(own)] = own, own_ranks
        lengths[c + 1] = len(own)
        end += len(own)
    if end < len(knots):
        knots, ranks = knots[:end].copy(), ranks[:end].copy()
    return replace(scaling, starts=np.cumsum(lengths), knots=knots, ranks=ranks)
