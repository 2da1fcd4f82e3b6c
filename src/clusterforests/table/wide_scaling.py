"""Scaling of a wide table, of which only the columns that trees may draw are kept and ranked."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clusterforests import _core
from clusterforests._utils.arrays import (
    AnyArray,
    AnyIntArray,
    BoolArray,
    FloatArray,
    IndexArray,
    Int64Array,
    IntArray,
    KeyArray,
    as_floats,
    column_blocks,
    is_wide,
)
from clusterforests._utils.memory import check_memory
from clusterforests.table.feature_columns import EncodedTable, FeatureColumns
from clusterforests.table.scaling import (
    KEPT_VALUES,
    WAYS,
    Projections,
    Scaling,
    column_distribution,
    column_distributions,
    level_step,
)

# Some columns of the scaled table, computed without the others.


def scaled_columns(scaling: Scaling, values: AnyArray, columns: IntArray, threads: int = 1) -> FloatArray:
    """Compute columns of what `scaling.apply(values)` gives: (rows, columns).

    Of a wide table they are made from some of its columns at a time. A projected column is a sum over many: what is
    added up so far is then the first term of the next sum, so that all terms are added in their order.
    """
    views, count = scaling.exponent.shape
    if not is_wide(count) or scaling.is_identity or scaling.sources is not None or not _ascending(scaling):
        return scaling.apply(values, threads)[:, columns]
    summed = np.unique(columns[columns >= views * count]) - views * count
    single = np.flatnonzero(columns < views * count)
    blocks = _Blocks(scaling, summed, columns[single])
    out, sums = np.empty((len(values), len(columns))), np.zeros((len(values), len(summed)))
    for block in column_blocks(len(values), count):
        scaled, sums = blocks.apply(block, as_floats(values, block), sums, threads)
        own = single[(columns[single] % count >= block.start) & (columns[single] % count < block.stop)]
        view, place = np.divmod(columns[own], count)
        out[:, own] = scaled[:, view * blocks.width(block) + place - block.start]
    later = np.flatnonzero(columns >= views * count)
    out[:, later] = sums[:, np.searchsorted(summed, columns[later] - views * count)]
    return out


@dataclass(frozen=True)
class ScaledRows:
    """Rows of a scaled table without projections; those of a wide one are scaled when their columns are asked for."""

    scaling: Scaling
    values: AnyArray
    rows: IndexArray
    table: FloatArray | None  # scaled, if the table is not wide

    @classmethod
    def of(cls, scaling: Scaling, values: AnyArray, rows: IndexArray) -> "ScaledRows":
        wide = is_wide(scaling.exponent.shape[1])
        return cls(scaling, values, rows, None if wide else scaling.apply(values[rows]))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return self.scaling.width

    def take(self, columns: IntArray, most_rows: int) -> FloatArray:
        """Take columns of the first rows, in Fortran's order."""
        if self.table is not None:
            return self.table[:, columns][:most_rows]
        first = self.values[self.rows[:most_rows]]
        return np.asfortranarray(scaled_columns(self.scaling, first, columns))


def _ascending(scaling: Scaling) -> bool:
    """Tell whether the terms of each projected column are of one column after the other."""
    places = scaling.projections.columns % scaling.exponent.shape[1]
    later = np.diff(places) >= 0
    later[scaling.projections.starts[1:-1] - 1] = True  # where the next projected column begins
    return bool(later.all())


@dataclass(frozen=True)
class _Blocks:
    """The scaling of a block of columns, beside which sums of the blocks before are left as they are."""

    scaling: Scaling
    summed: IndexArray  # the projected columns that are added up
    single: IntArray  # scaled columns that are asked for themselves

    def width(self, block: slice) -> int:
        """The number of columns of a view: the block's, and those of the sums."""
        return int(block.stop - block.start) + len(self.summed)

    def apply(self, block: slice, values: FloatArray, sums: FloatArray, threads: int) -> tuple[FloatArray, FloatArray]:
        """Scale a block of columns, and add it to the sums."""
        scaling, spare = self.scaling, len(self.summed)
        views, count = scaling.exponent.shape
        terms = self._terms(block)
        needed = np.zeros((views, count), dtype=bool)
        needed.ravel()[self.single] = True
        view, place = np.divmod(terms.columns, self.width(block))
        inside = place < block.stop - block.start
        needed[view[inside], place[inside] + block.start] = True
        ranked = scaling.ranked[:, block] * needed[:, block]
        starts, knots, ranks = self._knots(block, ranked=bool(ranked.any()))
        core = _core.Scaling(
            _padded(scaling.exponent[:, block], spare, 0),
            _padded(scaling.shift[:, block], spare, 0.0),
            _padded(scaling.divisor[:, block], spare, 1.0),
            _padded(ranked, spare, 0),
            np.append(starts, np.full(spare, starts[-1])),
            knots,
            ranks,
            terms.starts,
            terms.columns,
            terms.coefficients,
        )
        scaled = core.apply(np.hstack([values, sums]), threads)
        return scaled, np.ascontiguousarray(scaled[:, scaled.shape[1] - spare :])

    def _terms(self, block: slice) -> Projections:
        """Return the sums so far, then the terms that are in a block."""
        projections, count = self.scaling.projections, self.scaling.exponent.shape[1]
        columns, coefficients, lengths = [], [], [0]
        for place, j in enumerate(self.summed):
            own = slice(*projections.starts[j : j + 2])
            view, column = np.divmod(projections.columns[own], count)
            first, last = np.searchsorted(column, [block.start, block.stop])
            columns.append([self.width(block) - len(self.summed) + place])
            columns.append(view[first:last] * self.width(block) + column[first:last] - block.start)
            coefficients += [[1.0], projections.coefficients[own][first:last]]
            lengths.append(1 + last - first)
        return Projections(
            np.cumsum(lengths, dtype=np.int64),
            np.concatenate([np.empty(0, np.int32), *columns]).astype(np.int32),
            np.concatenate([np.empty(0), *coefficients]),
        )

    def _knots(self, block: slice, *, ranked: bool) -> tuple[Any, FloatArray, FloatArray]:
        """Return the knots of the block's columns, if any is ranked."""
        starts = self.scaling.starts[block.start : block.stop + 1]
        if not ranked:
            return np.zeros(len(starts), np.int64), np.empty(0), np.empty(0)
        own = slice(starts[0], starts[-1])
        return starts - starts[0], self.scaling.knots[own], self.scaling.ranks[own]


def _padded(steps: AnyArray, spare: int, value: float) -> AnyArray:
    """Add columns that are left as they are."""
    return np.ascontiguousarray(np.pad(steps, ((0, 0), (0, spare)), constant_values=value))


# Columns of a table that are computed with when they are asked for.


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


# Steps of scaling for many columns at a time: those of `ColumnDistribution.step`, to the last bit.


class ColumnSteps(NamedTuple):
    """The step of each column in each view, as the fields of `Scaling`: (V, C)."""

    exponent: IntArray
    shift: FloatArray
    divisor: FloatArray
    ranked: npt.NDArray[np.uint8]

    @classmethod
    def identity(cls, n_views: int, n_columns: int) -> "ColumnSteps":
        shape = n_views, n_columns
        return cls(np.zeros(shape, np.int32), np.zeros(shape), np.ones(shape), np.zeros(shape, np.uint8))


def column_steps(values: AnyArray, ways: tuple[str, ...], threads: int = 1) -> tuple[ColumnSteps, BoolArray]:
    """Fit the steps of single columns whose rows all count once; and which columns vary."""
    steps = ColumnSteps.identity(len(ways), values.shape[1])
    varies = np.zeros(values.shape[1], dtype=bool)
    for block in column_blocks(*values.shape):
        ordered = np.array(values[:, block].T, order="C")  # a copy in any case, which is sorted in place
        ordered.sort(axis=1)
        for view, way in enumerate(ways):
            counts, exponent, shift, divisor = _core.fit_steps(as_floats(ordered), way == "range", threads)
            varies[block] = counts > 1
            if way == "rank":
                steps.ranked[view, block] = varies[block]
            else:
                steps.exponent[view, block], steps.shift[view, block] = exponent, shift
                steps.divisor[view, block] = divisor
    return steps, varies


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
