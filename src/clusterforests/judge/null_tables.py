"""Random tables without clusters that resemble a given one.

Three kinds of table have no clusters: one elliptical cloud with any tails; columns of any distribution that depend on
each other as Gaussian ones do (a Gaussian copula); and mixtures of independent sources of any distribution. Each kind
is fitted to the table and drawn from.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from clusterforests._utils.arrays import BoolArray, FloatArray, IntArray, KeyArray
from clusterforests._utils.random import Purpose, integers, permutations, stream, uniform

RANK = 1e-7  # of the largest singular value: smaller ones are rounding
RADIAL_AXES = 20  # by which a row's distance from the centre is measured
MOST_SOURCES = 40
ROWS_PER_SOURCE = 15
ROWS_PER_RADIUS = 10
LONG = 5.0  # times the variance of the next axis: an axis as long as that is a source of its own
LEADING = 3  # axes that may be
EDGE = 0.01  # quantiles beyond which values are pulled in by half the range between them


@dataclass(frozen=True)
class TidyTable:
    """Columns without ties or missing cells. `numbers` have no extremes, mean 0 and variance 1."""

    numbers: FloatArray  # (n, p)
    unclipped: FloatArray  # (n, p): as they were, with their extremes, for what looks at ranks alone
    marks: FloatArray  # (n, q): the columns of categories, with mean 0 and variance 1
    owners: IntArray  # (p + q,): the feature of each column

    def with_numbers(self, numbers: FloatArray, key: KeyArray) -> "TidyTable":
        """Take other numbers, and the categories of other rows, each category by itself."""
        marks = self.marks.copy()
        owners = self.owners[self.numbers.shape[1] :]
        for feature in np.unique(owners):
            order = permutations(stream(key, feature), len(marks))[0]
            marks[:, owners == feature] = self.marks[order][:, owners == feature]
        return TidyTable(numbers, numbers, marks, self.owners)


def tidy_table(values: FloatArray, owners: IntArray, categorical: BoolArray, seed: int) -> TidyTable:
    """Put equal values apart, at random, and leave out constant columns.

    Values of a column with ties are spread over the usual step between them: the steps of a scale and the two values
    of a yes or no are not clusters.
    """
    keys = stream(seed, Purpose.K_TIES, np.arange(values.shape[1])[:, None], np.arange(len(values)))
    spread = [_spread(column, key) for column, key in zip(values.T, keys, strict=True)]
    clipped = [_clip(column) for column in spread]
    numbers = [j for j, column in enumerate(clipped) if len(column) and not categorical[j]]
    marks = [j for j, column in enumerate(spread) if len(column) and categorical[j]]

    def take(columns: list[FloatArray], chosen: list[int]) -> FloatArray:
        return np.array([columns[j] for j in chosen]).reshape(len(chosen), len(values)).T

    owned = np.concatenate([owners[numbers], owners[marks]]).astype(np.int32)
    return TidyTable(
        standardised(take(clipped, numbers)), take(spread, numbers), standardised(take(spread, marks)), owned
    )


def _spread(column: FloatArray, keys: KeyArray) -> FloatArray:
    """Put equal values apart; the column comes back empty if it is constant."""
    halves = column / 2  # the range of a column may be too large for a float
    values = np.unique(halves)
    if len(values) < 2:
        return np.empty(0)
    if len(values) == len(column):
        return halves
    spread: FloatArray = halves + np.median(np.diff(values)) * (uniform(keys) - 0.5)
    return spread


def _clip(column: FloatArray) -> FloatArray:
    """Pull in extremes."""
    if not len(column):
        return column
    low, high = np.quantile(column, [EDGE, 1 - EDGE])
    clipped: FloatArray = np.clip((column - low) / (high - low), -0.5, 1.5) if high > low else np.empty(0)
    return clipped


def standardised(table: FloatArray) -> FloatArray:
    """Give columns mean 0 and variance 1."""
    centred = table - table.mean(axis=0)
    standard: FloatArray = centred / np.maximum(centred.std(axis=0), np.finfo(float).tiny)
    return standard


class _Axes:
    """The singular value decomposition, through the smaller matrix of products."""

    def __init__(self, table: FloatArray) -> None:
        n, p = table.shape
        squares, vectors = np.linalg.eigh(table.T @ table if p <= n else table @ table.T)
        spread = np.sqrt(np.maximum(squares[::-1], 0.0))
        self.spread = spread[spread > RANK * spread[0]]
        leading = vectors[:, ::-1][:, : len(self.spread)]
        self.places = table @ leading / self.spread if p <= n else leading  # of the rows, with sums of squares 1
        self.directions = leading.T if p <= n else leading.T @ table / self.spread[:, None]


Draw = Callable[[KeyArray], FloatArray]  # a key -> a table


def elliptical(table: FloatArray) -> Draw:
    """Prepare clouds of the table's covariance, with distances from the centre that are those of its rows."""
    axes, n = _Axes(table), len(table)
    q = max(1, min(RADIAL_AXES, len(axes.spread), n // ROWS_PER_RADIUS))
    radii = np.sqrt(n * np.square(axes.places[:, :q]).sum(axis=1))

    def draw(key: KeyArray) -> FloatArray:
        places = _normal(stream(key, 0), (n, len(axes.spread)))
        drawn = radii[integers(stream(stream(key, 1), np.arange(n)), n)][:, None]
        places[:, :q] *= drawn / np.linalg.norm(places[:, :q], axis=1, keepdims=True)
        places[:, q:] *= drawn / np.sqrt(q)
        drawn_table: FloatArray = (places * axes.spread / np.sqrt(n)) @ axes.directions
        return drawn_table

    return draw


def gaussian_copula(table: FloatArray) -> Draw:
    """Prepare tables with the table's columns, which depend on each other as Gaussian ones of the same ranks do."""
    n = len(table)
    ordered = np.sort(table, axis=0)
    axes = _Axes(ndtri((_ranks(table) + 0.5) / n))

    def draw(key: KeyArray) -> FloatArray:
        places = (_normal(key, (n, len(axes.spread))) * axes.spread) @ axes.directions
        return np.take_along_axis(ordered, _ranks(places), axis=0)

    return draw


def independent_sources(table: FloatArray, contrast: str) -> Draw:
    """Prepare tables that mix sources as the table does, each source shuffled by itself.

    Sources are found by independent component analysis. Where there are too few rows for all axes, much longer axes
    than the next are sources of their own, and so are the last.
    """
    axes, n = _Axes(table), len(table)
    rank = len(axes.spread)
    long = axes.spread[:LEADING] ** 2 > LONG * np.append(axes.spread, 0.0)[1 : LEADING + 1] ** 2
    lead = (
        int(np.flatnonzero(long[: rank - 1])[-1]) + 1 if n // ROWS_PER_SOURCE < rank and long[: rank - 1].any() else 0
    )
    mixed = slice(lead, lead + max(1, min(MOST_SOURCES, rank - lead, n // ROWS_PER_SOURCE)))
    unit = axes.places[:, mixed] * np.sqrt(n)
    sources, mixing = unit, np.eye(unit.shape[1])
    if unit.shape[1] > 1:
        analysis = FastICA(fun=contrast, whiten=False, tol=1e-3, w_init=np.eye(unit.shape[1]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # sources that are Gaussian have no directions
            sources = analysis.fit_transform(unit)
        mixing = np.linalg.pinv(analysis.components_)

    def draw(key: KeyArray) -> FloatArray:
        places = _shuffled(axes.places, stream(key, 0))
        places[:, mixed] = _shuffled(sources, stream(key, 1)) @ mixing.T / np.sqrt(n)
        mixed_table: FloatArray = (places * axes.spread) @ axes.directions
        return mixed_table

    return draw


def _normal(key: KeyArray, shape: tuple[int, int]) -> FloatArray:
    keys = stream(stream(key, np.arange(shape[0]))[:, None], np.arange(shape[1]))
    drawn: FloatArray = ndtri(np.maximum(uniform(keys), 2.0**-54))
    return drawn


def _ranks(table: FloatArray) -> IntArray:
    return np.argsort(np.argsort(table, axis=0, kind="stable"), axis=0, kind="stable").astype(np.int32)


def _shuffled(table: FloatArray, key: KeyArray) -> FloatArray:
    """Shuffle each column by itself."""
    orders = permutations(stream(key, np.arange(table.shape[1])), len(table))
    return np.take_along_axis(table, orders.T, axis=0)
