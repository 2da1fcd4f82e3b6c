"""Is anything there? A test of a table against tables without clusters.

Two things are measured: how much pairs of columns depend on each other beyond a Gaussian copula, and how much of the
table's variance K-means explains. The table shows structure if, for each kind of table without clusters, one of the two
is far beyond what tables of that kind show.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clusterforests._utils.arrays import BoolArray, FloatArray, IndexArray, IntArray, KeyArray
from clusterforests._utils.linear_algebra import principal_axes
from clusterforests._utils.random import Purpose, permutations, stream
from clusterforests._utils.statistics import valley
from clusterforests.backends import CpuBackend, Effort, KMeansJobs
from clusterforests.feature_screening.dependence import excess_dependence
from clusterforests.judge.null_tables import (
    Draw,
    TidyTable,
    elliptical,
    gaussian_copula,
    independent_sources,
    tidy_table,
)

MOST_FEATURES = 60
LEAST_ROWS = 16
DRAWN = 10  # tables of each kind
GROUPS = (2, 3, 4, 5, 6, 8, 10)
STARTS, MAX_ITER = 4, 50
COMPONENTS = 10
MOST_PLACES = 20
STRONGEST = 0.1  # of the pairs of columns
DEVIATIONS = 5.0
PAIR_SLACK = 0.5  # of the mean excess in tables without clusters, which are only fitted to the table
PAIR_SD = 0.7  # of the excess of a pair: no draws have less, or they are too alike by chance
SS_SLACK, SS_SD = 0.01, 0.003  # of the logarithm of the share of variance that is left within groups
ENOUGH = 0.6  # chosen on tables without clusters: of 112, one reached it

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
    if len(features) > MOST_FEATURES:
        features = features[permutations(stream(seed, Purpose.K_COLUMNS), len(features))[0, :MOST_FEATURES]]
    kept = np.isin(owners, features)
    table = tidy_table(values[:, kept], owners[kept], categorical[kept], seed)
    if len(values) < LEAST_ROWS or not len(table.owners):
        return Structure(False, 0.0, "a table that is too small")
    shown = _Shown(table)
    clearness, like = np.inf, ""
    for number, (kind, prepare) in enumerate(KINDS.items()):
        found = shown.beyond(_drawn(table, prepare, stream(seed, Purpose.K_NULL_TABLE, number)))
        if found < clearness:
            clearness, like = found, kind
        if clearness < ENOUGH:
            break
    return Structure(clearness >= ENOUGH, float(clearness), like)


def tidy_places(values: FloatArray, owners: IntArray, categorical: BoolArray, seed: int) -> FloatArray:
    """Place the rows without ties and extremes, in at most 20 principal components."""
    table = tidy_table(values, owners, categorical, seed)
    places = np.column_stack([table.numbers, table.marks])
    if places.shape[1] > MOST_PLACES:
        places = places @ principal_axes(places, None, MOST_PLACES).coefficients
    return np.ascontiguousarray(places)


def _drawn(table: TidyTable, prepare: Callable[[FloatArray], Draw], key: KeyArray) -> list[TidyTable]:
    keys = [stream(key, i) for i in range(DRAWN)]
    if table.numbers.shape[1] == 0:
        return [table.with_numbers(table.numbers, k) for k in keys]
    draw: Draw = prepare(table.numbers)
    return [table.with_numbers(draw(stream(k, 0)), stream(k, 1)) for k in keys]


class _Shown:
    """What a table shows, to be compared with others."""

    def __init__(self, table: TidyTable) -> None:
        self.own = _statistics(table)
        pairs = _n_pairs(table)
        self.pair_sd = PAIR_SD / np.sqrt([max(1, int(STRONGEST * pairs)), max(1, pairs)])

    def beyond(self, others: list[TidyTable]) -> float:
        """Measure how far the table's best statistic is beyond those of tables without clusters; 1 is clear."""
        shown = np.array([_statistics(other) for other in others])
        mean, sd = shown.mean(axis=0), shown.std(axis=0, ddof=1)
        least = np.concatenate([self.pair_sd, np.full(len(GROUPS), SS_SD)])
        slack = np.concatenate([PAIR_SLACK * np.abs(mean[:2]), np.full(len(GROUPS), SS_SLACK)])
        return float(np.nanmax((self.own - mean) / (DEVIATIONS * np.maximum(sd, least) + slack)))


def _statistics(table: TidyTable) -> FloatArray:
    """Compute the excess dependence of the strongest pairs and of all, and what K-means explains."""
    columns = np.column_stack([table.unclipped, table.marks])
    pairs = np.zeros(2)
    if columns.shape[1] > 1:
        excess = excess_dependence(columns)
        apart = np.triu(table.owners[:, None] != table.owners[None, :])
        found = np.sort(excess[apart])[::-1]
        if len(found):
            pairs = np.array([found[: max(1, int(STRONGEST * len(found)))].mean(), found.mean()])
    return np.concatenate([pairs, _explained(np.column_stack([table.numbers, table.marks]))])


def _n_pairs(table: TidyTable) -> int:
    return int(np.triu(table.owners[:, None] != table.owners[None, :]).sum())


def _explained(table: FloatArray) -> FloatArray:
    """Compute minus the logarithm of the share of variance within the groups of K-means, for several numbers."""
    if table.shape[1] > COMPONENTS:
        table = table @ principal_axes(table, None, COMPONENTS).coefficients
    backend = CpuBackend(1)
    backend.load(np.ascontiguousarray(table))
    features = [np.arange(table.shape[1], dtype=np.int32)] * len(GROUPS)
    seeds = stream(0, np.arange(len(GROUPS)))
    runs = backend.kmeans(KMeansJobs(features, np.array(GROUPS, np.int32), seeds, STARTS, MAX_ITER, Effort.QUICK))
    share = np.divide(runs.within, runs.within + runs.between, out=np.ones(len(GROUPS)), where=runs.solved)
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

    The axis between two groups is Fisher's discriminant. It is fitted without the fifth of the rows whose place on it
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
        place = (scores[rows, j] - scores[rows, i] - c[:, i, j] + c[:, i, i]) / length
        found = valley(place[: sizes[i]], place[sizes[i] :])
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
