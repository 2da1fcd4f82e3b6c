"""Features brought to comparable size, in one way for all trees or in three ways in turn."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clusterforests import _core
from clusterforests._base.typing import AnyArray, FloatArray, Int64Array, IntArray
from clusterforests.tables.feature_columns import EncodedTable, FeatureColumns

WAYS = {
    "none": ("none",),
    "standard": ("standard",),
    "range": ("range",),
    "rank": ("rank",),
    "mixed": ("standard", "range", "rank"),
}
EVEN = 1 / 12  # the variance of numbers that are evenly spread from 0 to 1
KEPT_VALUES = 65536  # a column's ranks are kept for so many different values
KNOTS = 4096  # or else for so many of them, at even quantiles


class Step(NamedTuple):
    """(x / 2**exponent - shift) / divisor; or x's rank, which the column's ladder knows."""

    exponent: int = 0
    shift: float = 0.0
    divisor: float = 1.0
    ranked: bool = False


@dataclass(frozen=True)
class ColumnLaw:
    """The distinct values of a column and the weight of each: all that scaling may depend on.

    So the order of the rows does not show, and a weight of 2 is the same as a row repeated.
    """

    values: FloatArray
    weights: FloatArray

    @property
    def constant(self) -> bool:
        return len(self.values) < 2

    @property
    def ranks(self) -> FloatArray:
        """Of the values, from 0 to 1."""
        reached = np.cumsum(self.weights)
        ranks: FloatArray = (reached - self.weights / 2) / reached[-1]
        return ranks

    def step(self, way: str) -> Step:
        """Divides the column by its standard deviation or range, or replaces it by its ranks."""
        if way == "none" or self.constant:
            return Step()
        if way == "rank":
            return Step(ranked=True)
        exponent = int(np.frexp(np.abs(self.values).max())[1])
        unit = np.ldexp(self.values, -exponent)
        if way == "range":
            return Step(exponent, float(unit[0]), float(unit[-1] - unit[0]))
        share = self.weights / self.weights.sum()
        mean = (share * unit).sum()  # not a product of BLAS, whose last digit depends on the processor
        return Step(exponent, float(mean), float(np.sqrt((share * (unit - mean) ** 2).sum())))

    def level_step(self, levels: list["ColumnLaw"], way: str) -> Step:
        """Of a level's indicator: as a whole the feature has the variance of a number, with even ranks or range."""
        shares = [float((level.weights * level.values).sum() / level.weights.sum()) for level in levels]
        variance = math.fsum(share * (1 - share) for share in shares) or 1.0
        return Step(divisor=float(np.sqrt(variance if way == "standard" else variance / EVEN)))

    def ladder(self) -> tuple[FloatArray, FloatArray]:
        """Values and their ranks, between which the ranks of other values are interpolated."""
        ranks = self.ranks
        if len(ranks) <= KEPT_VALUES:
            return self.values, ranks
        kept = np.unique(np.searchsorted(ranks, np.linspace(ranks[0], ranks[-1], KNOTS)))
        return self.values[kept], ranks[kept]


def column_law(x: FloatArray, weights: FloatArray | None = None) -> ColumnLaw:
    values, position, counts = np.unique(x, return_inverse=True, return_counts=True)
    mass = counts if weights is None else np.bincount(position, weights)
    return ColumnLaw(values, mass.astype(np.float64))


@dataclass(frozen=True)
class Scaling:
    """How the columns of a table were made comparable, to do the same to other rows.

    Parameters
    ----------
    views : FeatureColumns
        Where each feature is in a scaled table.
    exponent, shift, divisor, ranked : ndarray of shape (V, C)
        The steps of each column in each view; with no view, rows are left as they are.
    starts : ndarray of shape (C + 1,)
        Where the ladder of each column starts in `knots` and `ranks`.
    """

    views: FeatureColumns
    exponent: IntArray
    shift: FloatArray
    divisor: FloatArray
    ranked: npt.NDArray[np.uint8]
    starts: Int64Array
    knots: FloatArray
    ranks: FloatArray

    def apply(self, values: FloatArray, threads: int = 1) -> FloatArray:
        """The columns of every view side by side. A value that was not seen in `fit` has a rank between its neighbours.

        Parameters
        ----------
        values : ndarray of shape (n_samples, C)
            Encoded rows without missing cells.
        threads : int, default=1
            Does not change the result.

        Returns
        -------
        table : ndarray of shape (n_samples, V * C)
        """
        if not len(self.exponent):
            return values
        return self.core().apply(np.ascontiguousarray(values), threads)

    def core(self) -> _core.Scaling:
        """What the C++ side works with."""
        return _core.Scaling(self.exponent, self.shift, self.divisor, self.ranked, self.starts, self.knots, self.ranks)


def fit_scaling(encoded: EncodedTable, scale: str, weights: FloatArray | None = None) -> Scaling:
    """What `scale`, a key of WAYS, does to the columns of a table.

    Features without variation are not drawn, unless features are left as they are. Rows of weight 0 have no say.
    """
    first, widths = encoded.first, encoded.widths
    values, count = encoded.values, encoded.values.shape[1]
    if weights is not None and not weights.all():
        values, weights = values[weights > 0], weights[weights > 0]
    if scale == "none":
        views = FeatureColumns(first[None, :], widths, np.arange(len(widths), dtype=np.int32))
        return _scaling(views, np.empty((0, count), dtype=object), [])
    ways = WAYS[scale]
    steps = np.empty((len(ways), count), dtype=object)
    ladders: list[tuple[FloatArray, FloatArray]] = []
    varies = np.zeros(len(widths), bool)
    for j, (start, width) in enumerate(zip(first, widths, strict=True)):
        laws = [column_law(values[:, c], weights) for c in range(start, start + width)]
        varies[j] = not all(law.constant for law in laws)
        for c, law in enumerate(laws, start):
            for view, way in enumerate(ways):
                steps[view, c] = law.level_step(laws, way) if width > 1 else law.step(way)
            ladders.append(law.ladder() if any(step.ranked for step in steps[:, c]) else (np.empty(0), np.empty(0)))
    drawable = np.flatnonzero(varies).astype(np.int32)
    if not len(drawable):
        drawable = np.arange(len(widths), dtype=np.int32)
    offsets = count * np.arange(len(ways), dtype=np.int32)
    return _scaling(FeatureColumns(first + offsets[:, None], widths, drawable), steps, ladders)


def _scaling(
    views: FeatureColumns, steps: npt.NDArray[np.object_], ladders: list[tuple[FloatArray, FloatArray]]
) -> Scaling:
    def field(name: str, dtype: type) -> AnyArray:
        return np.array([getattr(step, name) for step in steps.ravel()], dtype=dtype).reshape(steps.shape)

    knots, ranks = zip(*ladders, strict=True) if ladders else ([np.empty(0)], [np.empty(0)])
    lengths = [0, *map(len, knots)] if ladders else [0] * (steps.shape[1] + 1)
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
