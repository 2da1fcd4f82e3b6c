"""Scale features to comparable size, in one way or in two: z-scores and ranks.

A table may have many thousands of columns. Its steps are then fitted a block of columns at a time, and only the columns
that trees may use are copied and ranked.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clusterforests import _core
from clusterforests._utils.arrays import (
    BLOCK_CELLS,
    AnyArray,
    BoolArray,
    FloatArray,
    IndexArray,
    Int64Array,
    IntArray,
    KeyArray,
    as_floats,
    column_blocks,
)
from clusterforests._utils.memory import check_memory
from clusterforests.table.feature_columns import EncodedTable, FeatureColumns

# The ways of scaling: trees take the views in turn.
WAYS = {
    "none": ("none",),
    "standard": ("standard",),
    "range": ("range",),
    "rank": ("rank",),
    "mixed": ("standard", "rank"),
}
# The variance of the uniform distribution from 0 to 1, which ranks have.
UNIFORM_VARIANCE = 1 / 12
# A column keeps the ranks of all its values if it has at most so many; otherwise of so many, at even quantiles.
KEPT_VALUES = 65536
KNOTS = 4096
# Rows, and cells of these, that are scaled at a time: scaled rows can be much wider than rows.
SCALED_ROWS = 8192
SCALED_CELLS = 2**22


# Columns that are linear combinations of the scaled columns: principal components, whitened draws of features.


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


# How single columns are scaled.


class Step(NamedTuple):
    """How a value is scaled: (x / 2**exponent - shift) / divisor, or its rank among the values of the column."""

    exponent: int = 0
    shift: float = 0.0
    divisor: float = 1.0
    ranked: bool = False


@dataclass(frozen=True)
class ColumnDistribution:
    """The distinct values of a column and the weight of each: all that scaling may depend on.

    So the order of the rows does not matter, and a row of weight 2 is the same as the row twice.
    """

    values: FloatArray
    weights: FloatArray

    @property
    def constant(self) -> bool:
        return len(self.values) < 2

    @property
    def ranks(self) -> FloatArray:
        """Ranks of the values, from 0 to 1."""
        reached = np.cumsum(self.weights)
        ranks: FloatArray = (reached - self.weights / 2) / reached[-1]
        return ranks

    def step(self, way: str) -> Step:
        """Divide the column by its standard deviation or range, or replace it with its ranks."""
        if way == "none" or self.constant:
            return Step()
        if way == "rank":
            return Step(ranked=True)
        exponent = int(np.frexp(np.abs(self.values).max())[1])
        unit = np.ldexp(self.values, -exponent)
        if way == "range":
            return Step(exponent, float(unit[0]), float(unit[-1] - unit[0]))
        # No BLAS, whose last digit depends on the processor.
        share = self.weights / self.weights.sum()
        mean = (share * unit).sum()
        return Step(exponent, float(mean), float(np.sqrt((share * (unit - mean) ** 2).sum())))

    def rank_knots(self, kept_values: int = KEPT_VALUES, knots: int = KNOTS) -> tuple[FloatArray, FloatArray]:
        """Return values and their ranks, between which the ranks of other values are interpolated."""
        ranks = self.ranks
        if len(ranks) <= kept_values:
            return self.values, ranks
        kept = np.unique(np.searchsorted(ranks, np.linspace(ranks[0], ranks[-1], knots)))
        return self.values[kept], ranks[kept]


def level_step(levels: list[ColumnDistribution], way: str) -> Step:
    """Scale the levels' indicators so that the whole feature has the variance of a numeric one."""
    shares = [float((level.weights * level.values).sum() / level.weights.sum()) for level in levels]
    variance = math.fsum(share * (1 - share) for share in shares) or 1.0
    return Step(divisor=float(np.sqrt(variance if way == "standard" else variance / UNIFORM_VARIANCE)))


def column_distribution(x: FloatArray, weights: FloatArray | None = None) -> ColumnDistribution:
    """Count the distinct values of a column, by weight if rows have weights."""
    if weights is None:
        values, counts = np.unique(x, return_counts=True)
        return ColumnDistribution(values, counts.astype(np.float64))
    values, position = np.unique(x, return_inverse=True)
    return ColumnDistribution(values, np.bincount(position, weights).astype(np.float64))


@dataclass(frozen=True)
class Scaling:
    """How the columns of a table were scaled, to scale other rows in the same way.

    Parameters
    ----------
    views : FeatureColumns
        The columns of each feature in the scaled table.
    exponent, shift, divisor, ranked : ndarray of shape (V, C)
        The step of each column in each view; with no view, rows are left as they are.
    starts : ndarray of shape (C + 1,)
        Where each column starts in `knots` and `ranks`.
    knots, ranks : ndarray
        Values of the columns, and their ranks.
    projections : Projections
        Columns to the right of the views that are linear combinations of theirs.
    sources : ndarray of shape (C,) or None
        The columns of the encoded table that are scaled; None if all are.
    """

    views: FeatureColumns
    exponent: IntArray
    shift: FloatArray
    divisor: FloatArray
    ranked: npt.NDArray[np.uint8]
    starts: Int64Array
    knots: FloatArray
    ranks: FloatArray
    projections: Projections = NO_PROJECTIONS
    sources: IntArray | None = None

    @property
    def width(self) -> int:
        """The number of columns of the scaled table."""
        views, columns = self.exponent.shape
        return int(max(1, views) * columns + len(self.projections))

    @property
    def is_identity(self) -> bool:
        """Whether rows are left as they are."""
        return not len(self.exponent) and not len(self.projections)

    def project(self, projections: Projections) -> "Scaling":
        """Return the same scaling with these projections.

        Where it has no view, it gets one that leaves columns as they are: the core projects what it has copied.
        """
        if len(self.exponent) or not len(projections):
            return replace(self, projections=projections)
        shape = 1, self.exponent.shape[1]
        return replace(
            self,
            exponent=np.zeros(shape, np.int32),
            shift=np.zeros(shape),
            divisor=np.ones(shape),
            ranked=np.zeros(shape, np.uint8),
            projections=projections,
        )

    def apply(self, values: AnyArray, threads: int = 1) -> FloatArray:
        """Put the columns of all views side by side, then the projected columns.

        A value that `fit` did not see gets a rank between its neighbours.

        Parameters
        ----------
        values : ndarray of shape (n_samples, C)
            Encoded rows without missing cells.
        threads : int, default=1
            Does not change the result.

        Returns
        -------
        table : ndarray of shape (n_samples, width)
        """
        if self.is_identity:
            return self.chosen(values)
        return self.core().apply(self.chosen(values), threads)

    def chosen(self, values: AnyArray) -> FloatArray:
        """Take the columns of encoded rows that are scaled."""
        return as_floats(values, slice(None) if self.sources is None else self.sources)

    @property
    def first_view(self) -> "Scaling":
        """The same without the other views and the projections: a part of what `apply` gives, and no more work."""
        if len(self.exponent) < 2 or self.ranked[0].any():
            return replace(self, projections=NO_PROJECTIONS)
        return replace(
            self,
            views=replace(self.views, first=self.views.first[:1]),
            exponent=self.exponent[:1],
            shift=self.shift[:1],
            divisor=self.divisor[:1],
            ranked=self.ranked[:1],
            starts=np.zeros_like(self.starts),
            knots=np.empty(0),
            ranks=np.empty(0),
            projections=NO_PROJECTIONS,
        )

    def drawing(self, features: BoolArray) -> "Scaling":
        """Let trees draw only some features, of those that they could draw."""
        kept = np.flatnonzero(features).astype(np.int32)
        views = replace(self.views, drawable=np.intersect1d(self.views.drawable, kept).astype(np.int32))
        return replace(self, views=views)

    def take(self, values: AnyArray, columns: IntArray, threads: int = 1) -> FloatArray:
        """Compute columns of what `apply` gives, in their order."""
        part, kept = self.part(columns)
        positions = np.searchsorted(kept, columns)
        out = np.empty((len(values), len(columns)))
        for rows in part.row_blocks(len(values)):
            out[rows] = part.apply(values[rows], threads)[:, positions]
        return out

    def part(self, columns: IntArray) -> tuple["Scaling", IntArray]:
        """Scale no more than some columns need.

        Returns
        -------
        part : Scaling
        kept : ndarray of int
            The columns that it gives, among those of the whole, ascending: with the given ones some others.
        """
        count = self.exponent.shape[1]
        single = max(1, len(self.exponent)) * count
        # The projected columns, their terms, and all scaled columns that are needed for one or the other.
        projected = np.unique(columns[columns >= single]) - single
        starts, lengths = self.projections.starts[projected], np.diff(self.projections.starts)[projected]
        ends = np.cumsum(lengths, dtype=np.int64)
        terms = _ranges(starts, lengths)
        needed = np.zeros(single, dtype=bool)
        needed[columns[columns < single]] = needed[self.projections.columns[terms]] = True
        needed = needed.reshape(-1, count)
        sources = np.flatnonzero(needed.any(axis=0))
        if len(sources) == count and len(projected) == len(self.projections):
            return self, np.arange(self.width, dtype=np.int32)
        # Only what is needed is ranked, and only ranked columns have knots.
        ranked = (self.ranked & needed[: len(self.ranked)])[:, sources]
        knots = np.where(ranked.any(axis=0), np.diff(self.starts)[sources], 0)
        own = _ranges(self.starts[sources], knots)
        view, column = np.divmod(self.projections.columns[terms], count)
        part = replace(
            self._of_columns(sources),
            ranked=np.ascontiguousarray(ranked),
            starts=np.append(0, np.cumsum(knots)).astype(np.int64),
            knots=self.knots[own],
            ranks=self.ranks[own],
            projections=Projections(
                np.append(np.int64(0), ends),
                (view * len(sources) + np.searchsorted(sources, column)).astype(np.int32),
                self.projections.coefficients[terms],
            ),
            sources=(sources if self.sources is None else self.sources[sources]).astype(np.int32),
        )
        kept = [*(view * count + sources for view in range(len(needed))), single + projected]
        return part, np.concatenate(kept).astype(np.int32)

    def row_blocks(self, n_rows: int) -> Iterator[slice]:
        """Go through rows in blocks that are scaled at a time."""
        step = min(SCALED_ROWS, max(1, SCALED_CELLS // max(1, self.width)))
        for start in range(0, n_rows, step):
            yield slice(start, start + step)

    def narrowed(
        self, encoded: EncodedTable, weights: FloatArray | None
    ) -> tuple[AnyArray, "Scaling", IntArray | None]:
        """Keep the columns of the features that trees may draw, and rank them.

        Returns
        -------
        values : ndarray of shape (n_samples, C)
            These columns as float64, or the table as it is if they are all.
        scaling : Scaling
            Scales these.
        sources : ndarray of int or None
            Which columns they are; None: all.
        """
        views, values = self.views, encoded.values
        sources = FeatureColumns(encoded.first[None, :], views.widths, views.drawable).columns(0, views.drawable)
        every = len(sources) == values.shape[1]
        taken, ranked = 0 if every else len(sources), int(self.ranked[:, sources].any(axis=0).sum())
        # Refuse what does not fit into memory beside the table: the columns that are taken, and their ranks.
        needed = len(values) * (8 * taken + 16 * ranked)
        if ranked:
            instead = "Take fewer columns, or set scale='standard', which needs no ranks."
            check_memory(needed, f"Ranking the {ranked} columns that trees may use", instead)
        else:
            check_memory(needed, f"A copy of the {taken} columns that trees may use", "Take fewer columns.")
        own = values if every else as_floats(values, sources)
        # The columns of the features, one after the other.
        first = np.zeros(views.n_features, dtype=np.int32)
        ends = np.cumsum(views.widths[views.drawable])
        first[views.drawable] = ends - views.widths[views.drawable]
        in_views = FeatureColumns(_in_views(first, len(sources), len(views)), views.widths, views.drawable)
        kept = replace(self._of_columns(sources), views=in_views)
        return own, kept.with_ranks(own, weights), None if every else sources

    def _of_columns(self, columns: IndexArray | IntArray) -> "Scaling":
        """Take the steps of some columns; what goes by their places is left as it is."""
        return replace(
            self,
            exponent=np.ascontiguousarray(self.exponent[:, columns]),
            shift=np.ascontiguousarray(self.shift[:, columns]),
            divisor=np.ascontiguousarray(self.divisor[:, columns]),
            ranked=np.ascontiguousarray(self.ranked[:, columns]),
        )

    def with_ranks(
        self,
        values: AnyArray,
        weights: FloatArray | None = None,
        kept_values: int = KEPT_VALUES,
        most_knots: int = KNOTS,
    ) -> "Scaling":
        """Add the values of the ranked columns, and their ranks."""
        ranked = np.flatnonzero(self.ranked.any(axis=0))
        lengths: Int64Array = np.zeros(values.shape[1] + 1, np.int64)
        # As many as there can be: no list of parts beside the whole.
        knots, ranks = np.empty((2, min(len(values), max(kept_values, most_knots)) * len(ranked)))
        end = 0
        for c in ranked:
            column = column_distribution(*_counted(values[:, c], weights))
            own, own_ranks = column.rank_knots(kept_values, most_knots)
            knots[end : end + len(own)], ranks[end : end + len(own)] = own, own_ranks
            lengths[c + 1] = len(own)
            end += len(own)
        if end < len(knots):
            knots, ranks = knots[:end].copy(), ranks[:end].copy()
        return replace(self, starts=np.cumsum(lengths), knots=knots, ranks=ranks)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_of_core"}

    def core(self) -> _core.Scaling:
        """Return the same scaling for the C++ core."""
        return self._of_core

    @cached_property
    def _of_core(self) -> _core.Scaling:
        return _core.Scaling(
            self.exponent,
            self.shift,
            self.divisor,
            self.ranked,
            self.starts,
            self.knots,
            self.ranks,
            self.projections.starts,
            self.projections.columns,
            self.projections.coefficients,
        )


def fit_scaling(
    encoded: EncodedTable,
    scale: str,
    weights: FloatArray | None = None,
    threads: int = 1,
    *,
    ranks: bool = True,
    kept_values: int = KEPT_VALUES,
    knots: int = KNOTS,
) -> Scaling:
    """Learn from a table how to scale its columns; `scale` is a key of WAYS.

    Constant features cannot be drawn, unless features are left as they are. Rows of weight 0 do not count. Without
    `ranks`, the values that ranks go by are left for `narrowed`.
    """
    values, first, widths = encoded.values, encoded.first, encoded.widths
    count, ways = values.shape[1], WAYS[scale]
    everything = np.arange(len(widths), dtype=np.int32)
    if scale == "none":
        views = FeatureColumns(first[None, :], widths, everything)
        return Scaling(views, *_identity(0, count), np.zeros(count + 1, np.int64), np.empty(0), np.empty(0))
    steps, varies = _fit_steps(values, ways, weights, threads)
    exponent, shift, divisor, ranked = steps
    # The columns of a category are scaled together.
    for j in np.flatnonzero(widths > 1):
        own = slice(first[j], first[j] + widths[j])
        levels = [column_distribution(*_counted(values[:, c], weights)) for c in range(own.start, own.stop)]
        for view, way in enumerate(ways):
            step = level_step(levels, way)
            exponent[view, own], shift[view, own], divisor[view, own], ranked[view, own] = step
    drawable = np.flatnonzero(np.logical_or.reduceat(varies, first)).astype(np.int32)
    views = FeatureColumns(_in_views(first, count, len(ways)), widths, drawable if len(drawable) else everything)
    scaling = Scaling(views, *steps, np.zeros(count + 1, np.int64), np.empty(0), np.empty(0))
    return scaling.with_ranks(values, weights, kept_values, knots) if ranks else scaling


# The step of each column in each view, (V, C), as the fields of `Scaling`.
Steps = tuple[IntArray, FloatArray, FloatArray, npt.NDArray[np.uint8]]


def _identity(n_views: int, n_columns: int) -> Steps:
    shape = n_views, n_columns
    return np.zeros(shape, np.int32), np.zeros(shape), np.ones(shape), np.zeros(shape, np.uint8)


def _fit_steps(
    values: AnyArray, ways: tuple[str, ...], weights: FloatArray | None, threads: int
) -> tuple[Steps, BoolArray]:
    """Fit the steps of single columns; and tell which columns vary."""
    steps = exponent, shift, divisor, ranked = _identity(len(ways), values.shape[1])
    varies = np.zeros(values.shape[1], dtype=bool)
    for block in column_blocks(*values.shape):
        # Rows that all count once: many columns at a time, with the results of `ColumnDistribution.step`.
        if weights is None:
            ordered = np.array(values[:, block].T, order="C")
            ordered.sort(axis=1)
            for view, way in enumerate(ways):
                counts, power, low, size = _core.fit_steps(as_floats(ordered), way == "range", threads)
                varies[block] = counts > 1
                if way == "rank":
                    ranked[view, block] = varies[block]
                else:
                    exponent[view, block], shift[view, block], divisor[view, block] = power, low, size
            continue
        for c in range(block.start, block.stop):
            column = column_distribution(*_counted(values[:, c], weights))
            varies[c] = not column.constant
            for view, way in enumerate(ways):
                exponent[view, c], shift[view, c], divisor[view, c], ranked[view, c] = column.step(way)
    return steps, varies


def _counted(x: AnyArray, weights: FloatArray | None) -> tuple[FloatArray, FloatArray | None]:
    """Take the rows of a column that have a weight, and their weights."""
    if weights is None:
        return x.astype(np.float64), None
    return x[weights > 0].astype(np.float64), weights[weights > 0]


def _in_views(first: IntArray, n_columns: int, n_views: int) -> IntArray:
    """Number the first columns of features in each view: (V, p)."""
    offsets: IntArray = first + n_columns * np.arange(n_views, dtype=np.int32)[:, None]
    return offsets


def _ranges(starts: Int64Array, lengths: Int64Array) -> Int64Array:
    """List start, start + 1, ... of each range, one range after the other."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)


# Some rows of a scaled table.


class ScaledRows:
    """Rows of a scaled table without projections; columns of a large one are scaled when they are asked for."""

    def __init__(self, scaling: Scaling, values: AnyArray, rows: IndexArray) -> None:
        self.scaling, self.values, self.rows = scaling, values, rows
        small = len(rows) * scaling.width <= BLOCK_CELLS
        self._table = scaling.apply(values[rows]) if small else None

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, columns: IntArray, most_rows: int) -> FloatArray:
        """Take columns of the first rows, in Fortran's order."""
        if self._table is not None:
            return self._table[:, columns][:most_rows]
        return np.asfortranarray(self.scaling.take(self.values[self.rows[:most_rows]], columns))


@dataclass(frozen=True)
class RowOrder:
    """Keys that order rows by all columns of the scaled table, which is made a block of columns at a time.

    So a table of which only some columns are kept has its rows in the order that all columns give them.
    """

    values: AnyArray
    weights: FloatArray | None
    steps: Scaling  # of all columns

    def keys(self, parts: list[tuple[IndexArray, FloatArray | None]], threads: int) -> list[KeyArray]:
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
        exponent, shift, divisor = self.steps.exponent[view], self.steps.shift[view], self.steps.divisor[view]
        center = np.zeros(len(exponent))
        scaled = _core.take_columns(self.values, rows, columns, exponent, shift, divisor, center, threads)
        ranked = np.flatnonzero(self.steps.ranked[view, block])
        if not len(ranked):
            return scaled
        if self.weights is None:
            scaled[ranked] = _core.rank_columns(scaled[ranked], np.argsort(scaled[ranked], axis=1), threads)
            return scaled
        counted = np.flatnonzero(self.weights)
        for c in ranked:
            found = column_distribution(scaled[c, counted], self.weights[counted])
            scaled[c, counted] = found.ranks[np.searchsorted(found.values, scaled[c, counted])]
        return scaled
