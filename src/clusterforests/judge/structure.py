"""Is anything there? A test of a table against tables without clusters, and of valleys of density between groups.

Three kinds of table have no clusters: one elliptical cloud with any tails; columns of any distribution that depend on
each other as Gaussian ones do (a Gaussian copula); and mixtures of independent sources of any distribution. Each kind
is fitted to the table and drawn from. Two things are measured: how much pairs of columns depend on each other beyond a
Gaussian copula, and how much of the table's variance K-means explains. The table shows structure if, for each kind of
table without clusters, one of the two is far beyond what tables of that kind show.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from clusterforests._utils.arrays import BoolArray, FloatArray, IndexArray, IntArray, KeyArray
from clusterforests._utils.linear_algebra import principal_axes
from clusterforests._utils.random import Purpose, integers, permutations, stream, uniform
from clusterforests._utils.statistics import valley
from clusterforests.backends import CpuBackend, Effort, KMeansJobs
from clusterforests.feature_screening.dependence import excess_dependence

# Random tables without clusters that resemble a given one.

RANK_TOLERANCE = 1e-7  # of the largest singular value: smaller ones are rounding
RADIAL_AXES = 20  # by which a row's distance from the centre is measured
MOST_SOURCES = 40
ROWS_PER_SOURCE = 15  # at least
ROWS_PER_RADIUS = 10  # at least, for each axis that a distance is measured by
LONG_AXIS_RATIO = 5.0  # times the variance of the next axis: an axis as long as that is a source of its own
MAX_LONG_AXES = 3  # the leading axes that may be long
CLIP_QUANTILE = 0.01  # quantiles beyond which values are pulled in by half the range between them


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
    low, high = np.quantile(column, [CLIP_QUANTILE, 1 - CLIP_QUANTILE])
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
        self.spread = spread[spread > RANK_TOLERANCE * spread[0]]
        leading = vectors[:, ::-1][:, : len(self.spread)]
        self.points = table @ leading / self.spread if p <= n else leading  # of the rows, with sums of squares 1
        self.directions = leading.T if p <= n else leading.T @ table / self.spread[:, None]


Draw = Callable[[KeyArray], FloatArray]  # a key -> a table


def elliptical(table: FloatArray) -> Draw:
    """Prepare clouds of the table's covariance, with distances from the centre that are those of its rows."""
    axes, n = _Axes(table), len(table)
    q = max(1, min(RADIAL_AXES, len(axes.spread), n // ROWS_PER_RADIUS))
    radii = np.sqrt(n * np.square(axes.points[:, :q]).sum(axis=1))

    def draw(key: KeyArray) -> FloatArray:
        points = _normal(stream(key, 0), (n, len(axes.spread)))
        drawn = radii[integers(stream(stream(key, 1), np.arange(n)), n)][:, None]
        points[:, :q] *= drawn / np.linalg.norm(points[:, :q], axis=1, keepdims=True)
        points[:, q:] *= drawn / np.sqrt(q)
        drawn_table: FloatArray = (points * axes.spread / np.sqrt(n)) @ axes.directions
        return drawn_table

    return draw


def gaussian_copula(table: FloatArray) -> Draw:
    """Prepare tables with the table's columns, which depend on each other as Gaussian ones of the same ranks do."""
    n = len(table)
    ordered = np.sort(table, axis=0)
    axes = _Axes(ndtri((_ranks(table) + 0.5) / n))

    def draw(key: KeyArray) -> FloatArray:
        points = (_normal(key, (n, len(axes.spread))) * axes.spread) @ axes.directions
        return np.take_along_axis(ordered, _ranks(points), axis=0)

    return draw


def independent_sources(table: FloatArray, contrast: str) -> Draw:
    """Prepare tables that mix sources as the table does, each source shuffled by itself.

    Sources are found by independent component analysis. Where there are too few rows for all axes, much longer axes
    than the next are sources of their own, and so are the last.
    """
    # The axes to find sources among: those after the long ones, as many as the rows allow.
    axes, n = _Axes(table), len(table)
    rank = len(axes.spread)
    long = axes.spread[:MAX_LONG_AXES] ** 2 > LONG_AXIS_RATIO * np.append(axes.spread, 0.0)[1 : MAX_LONG_AXES + 1] ** 2
    lead = (
        int(np.flatnonzero(long[: rank - 1])[-1]) + 1 if n // ROWS_PER_SOURCE < rank and long[: rank - 1].any() else 0
    )
    mixed = slice(lead, lead + max(1, min(MOST_SOURCES, rank - lead, n // ROWS_PER_SOURCE)))
    # Find the sources and how they mix.
    unit = axes.points[:, mixed] * np.sqrt(n)
    sources, mixing = unit, np.eye(unit.shape[1])
    if unit.shape[1] > 1:
        analysis = FastICA(fun=contrast, whiten=False, tol=1e-3, w_init=np.eye(unit.shape[1]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # sources that are Gaussian have no directions
            sources = analysis.fit_transform(unit)
        mixing = np.linalg.pinv(analysis.components_)

    def draw(key: KeyArray) -> FloatArray:
        points = _shuffled(axes.points, stream(key, 0))
        points[:, mixed] = _shuffled(sources, stream(key, 1)) @ mixing.T / np.sqrt(n)
        mixed_table: FloatArray = (points * axes.spread) @ axes.directions
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


# The test: what the table shows, and what tables without clusters show.

MAX_TESTED_FEATURES = 60  # drawn from more
MIN_TESTED_ROWS = 16
TABLES_PER_KIND = 10
KMEANS_SIZES = (2, 3, 4, 5, 6, 8, 10)  # numbers of groups that K-means explains variance with
STARTS, MAX_ITER = 4, 50
KMEANS_COMPONENTS = 10  # principal components that K-means sees
MAX_VALLEY_COMPONENTS = 20  # principal components that valleys are looked for in
STRONGEST_SHARE = 0.1  # of the pairs of columns
CLEAR_DEVIATIONS = 5.0  # standard deviations beyond tables without clusters
PAIR_SLACK = 0.5  # of the mean excess in tables without clusters, which are only fitted to the table
PAIR_SD = 0.7  # of the excess of a pair: no draws have less, or they are too alike by chance
SS_SLACK, SS_SD = 0.01, 0.003  # of the logarithm of the share of variance that is left within groups
CLEAR_STRUCTURE = 0.6  # clearness; chosen on tables without clusters: of 112, one reached it

KINDS: Mapping[str, Callable[[FloatArray], Draw]] = {
    "columns that depend on each other as Gaussian ones do": gaussian_copula,
    "one elliptical cloud": elliptical,
    "a mix of independent sources": partial(independent_sources, contrast="logcosh"),
    "a mix of independent bounded sources": partial(independent_sources, contrast="cube"),
}


class Structure(NamedTuple):
    """Whether a table shows structure, how clearly, and which kind of table without clusters is most like it."""

    found: bool
    clearness: float  # at least 0.6 if structure was found
    like: str


def find_structure(values: FloatArray, owners: IntArray, categorical: BoolArray, seed: int) -> Structure:
    """Test a table of numbers for structure.

    Parameters
    ----------
    values : array of shape (n, C)
        Rows drawn from the table, without missing cells.
    owners : array of shape (C,)
        The feature that each column belongs to.
    categorical : array of shape (C,)
        Whether a column marks a level of a category.
    seed : int
        Determines everything random.
    """
    features = np.unique(owners)
    if len(features) > MAX_TESTED_FEATURES:
        features = features[permutations(stream(seed, Purpose.K_COLUMNS), len(features))[0, :MAX_TESTED_FEATURES]]
    kept = np.isin(owners, features)
    table = tidy_table(values[:, kept], owners[kept], categorical[kept], seed)
    if len(values) < MIN_TESTED_ROWS or not len(table.owners):
        return Structure(False, 0.0, "a table that is too small")
    shown = _Shown(table)
    clearness, like = np.inf, ""
    for number, (kind, prepare) in enumerate(KINDS.items()):
        found = shown.beyond(_drawn(table, prepare, stream(seed, Purpose.K_NULL_TABLE, number)))
        if found < clearness:
            clearness, like = found, kind
        if clearness < CLEAR_STRUCTURE:
            break
    return Structure(clearness >= CLEAR_STRUCTURE, float(clearness), like)


def tidy_points(values: FloatArray, owners: IntArray, categorical: BoolArray, seed: int) -> FloatArray:
    """Compute coordinates of the rows without ties and extremes, in at most 20 principal components."""
    table = tidy_table(values, owners, categorical, seed)
    points = np.column_stack([table.numbers, table.marks])
    if points.shape[1] > MAX_VALLEY_COMPONENTS:
        points = points @ principal_axes(points, None, MAX_VALLEY_COMPONENTS).coefficients
    return np.ascontiguousarray(points)


def _drawn(table: TidyTable, prepare: Callable[[FloatArray], Draw], key: KeyArray) -> list[TidyTable]:
    keys = [stream(key, i) for i in range(TABLES_PER_KIND)]
    if table.numbers.shape[1] == 0:
        return [table.with_numbers(table.numbers, k) for k in keys]
    draw: Draw = prepare(table.numbers)
    return [table.with_numbers(draw(stream(k, 0)), stream(k, 1)) for k in keys]


class _Shown:
    """What a table shows, to be compared with others."""

    def __init__(self, table: TidyTable) -> None:
        self.own = _statistics(table)
        pairs = _n_pairs(table)
        self.pair_sd = PAIR_SD / np.sqrt([max(1, int(STRONGEST_SHARE * pairs)), max(1, pairs)])

    def beyond(self, others: list[TidyTable]) -> float:
        """Measure how far the table's best statistic is beyond those of tables without clusters; 1 is clear."""
        shown = np.array([_statistics(other) for other in others])
        mean, sd = shown.mean(axis=0), shown.std(axis=0, ddof=1)
        least = np.concatenate([self.pair_sd, np.full(len(KMEANS_SIZES), SS_SD)])
        slack = np.concatenate([PAIR_SLACK * np.abs(mean[:2]), np.full(len(KMEANS_SIZES), SS_SLACK)])
        return float(np.nanmax((self.own - mean) / (CLEAR_DEVIATIONS * np.maximum(sd, least) + slack)))


def _statistics(table: TidyTable) -> FloatArray:
    """Compute the excess dependence of the strongest pairs and of all, and what K-means explains."""
    columns = np.column_stack([table.unclipped, table.marks])
    pairs = np.zeros(2)
    if columns.shape[1] > 1:
        excess = excess_dependence(columns)
        apart = np.triu(table.owners[:, None] != table.owners[None, :])
        found = np.sort(excess[apart])[::-1]
        if len(found):
            pairs = np.array([found[: max(1, int(STRONGEST_SHARE * len(found)))].mean(), found.mean()])
    return np.concatenate([pairs, _explained(np.column_stack([table.numbers, table.marks]))])


def _n_pairs(table: TidyTable) -> int:
    return int(np.triu(table.owners[:, None] != table.owners[None, :]).sum())


def _explained(table: FloatArray) -> FloatArray:
    """Compute minus the logarithm of the share of variance within the groups of K-means, for several numbers."""
    if table.shape[1] > KMEANS_COMPONENTS:
        table = table @ principal_axes(table, None, KMEANS_COMPONENTS).coefficients
    backend = CpuBackend(1)
    backend.load(np.ascontiguousarray(table))
    features = [np.arange(table.shape[1], dtype=np.int32)] * len(KMEANS_SIZES)
    seeds = stream(0, np.arange(len(KMEANS_SIZES)))
    runs = backend.kmeans(KMeansJobs(features, np.array(KMEANS_SIZES, np.int32), seeds, STARTS, MAX_ITER, Effort.QUICK))
    share = np.divide(runs.within, runs.within + runs.between, out=np.ones(len(KMEANS_SIZES)), where=runs.solved)
    return np.where(runs.solved & (share > 0), -np.log(np.maximum(share, np.finfo(float).tiny)), np.nan)


# Are groups of rows apart? Tests of a valley of density between each pair of them.

FOLDS = 5
RIDGE = 0.05  # of the mean variance within groups


class Valleys(NamedTuple):
    """For each pair of groups: the p-value of the valley between them, and its depth (1: no row is in it)."""

    p_values: FloatArray
    depths: FloatArray


def find_valleys(X: FloatArray, labels: npt.NDArray[np.integer], seed: int) -> Valleys:
    """Test every pair of groups of rows for a valley between them.

    The axis between two groups is Fisher's discriminant. It is fitted without the fifth of the rows whose score on it
    is read, so that an axis that only fits the noise of its rows shows no valley. The groups are those of all rows:
    the p-values are as good as the null tables they were tried on, not exact.

    Parameters
    ----------
    X : array of shape (n, p)
        Columns of comparable scale.
    labels : array of shape (n,)
        Groups 0, 1, ..., none of them empty.
    seed : int
        Determines the folds.
    """
    sizes = np.bincount(labels)
    groups = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    fold = np.empty(len(X), dtype=np.intp)
    for g, rows in enumerate(groups):  # Every fold has its share of every group.
        fold[rows] = (permutations(stream(seed, g), len(rows))[0] + g) % FOLDS
    scores, centers = _discriminants(X, labels, groups, fold)
    p_values, depths = np.zeros((2, len(groups), len(groups)))
    for i, j in zip(*np.triu_indices(len(groups), 1), strict=True):
        rows = np.concatenate([groups[i], groups[j]])
        c = centers[fold[rows]]
        length = np.maximum(c[:, i, i] + c[:, j, j] - 2 * c[:, i, j], np.finfo(float).tiny)
        along = (scores[rows, j] - scores[rows, i] - c[:, i, j] + c[:, i, i]) / length
        found = valley(along[: sizes[i]], along[sizes[i] :])
        p_values[i, j], depths[i, j] = p_values[j, i], depths[j, i] = found
    return Valleys(p_values, depths)


def _discriminants(
    X: FloatArray, labels: npt.NDArray[np.integer], groups: list[IndexArray], fold: IndexArray
) -> tuple[FloatArray, FloatArray]:
    """Compute x' S^-1 m_g for every row and group, and m_g' S^-1 m_h for every fold.

    The means m and the covariance S are those of the rows of the other folds.
    """
    scores = np.empty((len(X), len(groups)))
    centers = np.empty((FOLDS, len(groups), len(groups)))
    for f in range(FOLDS):
        away = fold != f
        # A group of a single row stays where it is: there is nothing to leave out.
        means = np.array([X[rows[away[rows]] if away[rows].any() else rows].mean(axis=0) for rows in groups])
        rest = X[away] - means[labels[away]]
        within = rest.T @ rest / len(rest)
        within[np.diag_indices_from(within)] += RIDGE * np.trace(within) / len(within) + np.finfo(float).tiny
        axes = np.linalg.solve(within, means.T)
        scores[~away] = X[~away] @ axes
        centers[f] = means @ axes
    return scores, centers
