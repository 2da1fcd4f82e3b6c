"""Scale features to comparable size, in one way or in two: z-scores and ranks."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clusterforests import _core
from clusterforests._utils.arrays import AnyArray, BoolArray, FloatArray, Int64Array, IntArray, as_floats
from clusterforests.table.feature_columns import EncodedTable, FeatureColumns

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

WAYS = {
    "none": ("none",),
    "standard": ("standard",),
    "range": ("range",),
    "rank": ("rank",),
    "mixed": ("standard", "rank"),
}
EVEN = 1 / 12  # the variance of the uniform distribution from 0 to 1
KEPT_VALUES = 65536  # a column keeps the ranks of all its values if it has at most this many
KNOTS = 4096  # otherwise of this many, at even quantiles
SORTED_CELLS = 2**20  # of columns that are sorted at a time


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
        share = self.weights / self.weights.sum()
        mean = (share * unit).sum()  # BLAS would give a last digit that depends on the processor
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
    return Step(divisor=float(np.sqrt(variance if way == "standard" else variance / EVEN)))


def column_distributions(values: FloatArray, weights: FloatArray | None = None) -> Iterator[ColumnDistribution]:
    """Count the distinct values of each column. Where rows have no weights, many columns are sorted at a time."""
    step = max(1, SORTED_CELLS // max(1, len(values)))
    once = np.ones(len(values))
    for start in range(0, values.shape[1], step):
        block = np.ascontiguousarray(values[:, start : start + step].T)
        ordered = np.sort(block, axis=1)
        tied = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1) | (weights is not None)
        for x, column, ties in zip(block, ordered, tied.tolist(), strict=True):
            yield column_distribution(x, weights) if ties else ColumnDistribution(column.copy(), once)


def column_distribution(x: FloatArray, weights: FloatArray | None = None) -> ColumnDistribution:
    """Count the distinct values of a column, by weight if rows have weights."""
    values, position, counts = np.unique(x, return_inverse=True, return_counts=True)
    mass = counts if weights is None else np.bincount(position, weights)
    return ColumnDistribution(values, mass.astype(np.float64))


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
        starts = np.zeros(self.exponent.shape[1] + 1, np.int64)
        views = replace(self.views, first=self.views.first[:1])
        steps = self.exponent[:1], self.shift[:1], self.divisor[:1], self.ranked[:1]
        return Scaling(views, *steps, starts, np.empty(0), np.empty(0))

    def drawing(self, features: BoolArray) -> "Scaling":
        """Let trees draw only some features, of those that they could draw."""
        kept = np.flatnonzero(features).astype(np.int32)
        views = replace(self.views, drawable=np.intersect1d(self.views.drawable, kept).astype(np.int32))
        return replace(self, views=views)

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
    *,
    kept_values: int = KEPT_VALUES,
    knots: int = KNOTS,
) -> Scaling:
    """Learn from a table how to scale its columns; `scale` is a key of WAYS.

    Constant features cannot be drawn, unless features are left as they are. Rows of weight 0 do not count.
    """
    first, widths = encoded.first, encoded.widths
    values, count = as_floats(encoded.values), encoded.values.shape[1]
    if weights is not None and not weights.all():
        values, weights = values[weights > 0], weights[weights > 0]
    if scale == "none":
        views = FeatureColumns(first[None, :], widths, np.arange(len(widths), dtype=np.int32))
        return _scaling(views, np.empty((0, count), dtype=object), [])
    ways = WAYS[scale]
    steps = np.empty((len(ways), count), dtype=object)
    rank_knots: list[tuple[FloatArray, FloatArray]] = []
    varies = np.zeros(len(widths), bool)
    counted = column_distributions(values, weights)
    for j, (start, width) in enumerate(zip(first, widths, strict=True)):
        columns = list(itertools.islice(counted, int(width)))
        varies[j] = not all(column.constant for column in columns)
        of_levels = [level_step(columns, way) for way in ways] if width > 1 else []
        for c, column in enumerate(columns, start):
            for view, way in enumerate(ways):
                steps[view, c] = of_levels[view] if width > 1 else column.step(way)
            ranked = any(step.ranked for step in steps[:, c])
            rank_knots.append(column.rank_knots(kept_values, knots) if ranked else (np.empty(0), np.empty(0)))
    drawable = np.flatnonzero(varies).astype(np.int32)
    if not len(drawable):
        drawable = np.arange(len(widths), dtype=np.int32)
    offsets = count * np.arange(len(ways), dtype=np.int32)
    return _scaling(FeatureColumns(first + offsets[:, None], widths, drawable), steps, rank_knots)


def _scaling(
    views: FeatureColumns, steps: npt.NDArray[np.object_], rank_knots: list[tuple[FloatArray, FloatArray]]
) -> Scaling:
    def field(name: str, dtype: type) -> AnyArray:
        return np.array([getattr(step, name) for step in steps.ravel()], dtype=dtype).reshape(steps.shape)

    knots, ranks = zip(*rank_knots, strict=True) if rank_knots else ([np.empty(0)], [np.empty(0)])
    lengths = [0, *map(len, knots)] if rank_knots else [0] * (steps.shape[1] + 1)
    return Scaling(
        views=views,
        exponent=field("exponent", np.int32),
        shift=field("shift", np.float64),
        divisor=field("divisor", np.float64),
        ranked=field("ranked", np.uint8),
        starts=np.cumsum(lengths, dtype=np.int64),
        knots=np.concatenate(knots),
        ranks=np.concatenate(ranks),
    )
