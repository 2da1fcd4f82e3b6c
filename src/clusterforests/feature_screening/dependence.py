"""Columns that depend on each other: as only clusters make them, or because they are copies.

A common Gaussian factor makes columns depend on each other, too; what is counted is the dependence beyond that.
"""

from functools import cache

import numpy as np
from scipy.special import chdtri, ndtr, ndtri

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray
from clusterforests._utils.random import Purpose, permutations, stream, uniform
from clusterforests.feature_screening.screened_rows import ScreenedRows
from clusterforests.table.feature_columns import FeatureColumns

# Classes of ranks in which the rows of two columns are counted, and what the counts leave free.
RANK_CLASSES = 6
FREEDOM = (RANK_CLASSES - 1) ** 2
# Correlations for which the counts of Gaussian columns are computed.
CORRELATIONS = np.linspace(-0.99, 0.99, 199)
# Columns correlated more than this are one column twice, which is no evidence.
DUPLICATE = 0.97
# Excess dependence, in standard deviations, that is no accident, and that is left out of a clique.
STRONG_DEPENDENCE = 6.0
WEAK_DEPENDENCE = 3.0
# Of the strongest clique of dependent columns: weaker ones do not count.
CLIQUE = 0.3
# The probability that a table without clusters shows a pair beyond the limit.
FALSE_ALARM = 0.01
# Columns whose pairs are tested at a time.
BUNDLE = 300
# Of a standard deviation: so far apart are equal values put, at random.
TIE_SPREAD = 1e-7
# Of the highest clique score: features with less are left out.
DEPENDENT_SHARE = 0.15
# Fewer features than this are too few to begin with.
ENOUGH_DEPENDENT = 2
# Features correlated more than the first may be copies, and are if their ranks are correlated more than the second:
# those of groups far apart, which only clusters make, are not.
COPY, RANKED_COPY = 0.95, 0.9


def excess_dependence(X: FloatArray) -> FloatArray:
    """Measure how much more two columns depend on each other than Gaussian ones of the same rank correlation.

    Counts of rows in 6 by 6 classes of ranks are compared with those of the Gaussian copula. The result is the
    deviation of a Freeman-Tukey statistic from its mean, in standard deviations: about 0 for Gaussian columns.
    """
    n, p = X.shape
    ranks = np.argsort(np.argsort(X, axis=0), axis=0)
    normal = ndtri((ranks + 0.5) / n)
    correlation = normal.T @ normal / (normal[:, :1] ** 2).sum()
    # Counts of all pairs of columns are one product of indicator matrices.
    member = np.zeros((n, p, RANK_CLASSES), dtype=np.float32)
    np.put_along_axis(member, (ranks * RANK_CLASSES // n)[:, :, None], 1.0, axis=2)
    flat = member.reshape(n, -1)
    counts = (flat.T @ flat).reshape(p, RANK_CLASSES, p, RANK_CLASSES).transpose(0, 2, 1, 3)
    step = CORRELATIONS[1] - CORRELATIONS[0]
    nearest = np.rint((correlation - CORRELATIONS[0]) / step).astype(np.intp).clip(0, len(CORRELATIONS) - 1)
    expected = np.sqrt(4 * n * _gaussian_cells() + 1).astype(np.float32)[nearest]
    roots = np.sqrt(counts) + np.sqrt(counts + 1) - expected
    excess = _deviations(np.einsum("abij,abij->ab", roots, roots).astype(np.float64))
    excess[np.abs(correlation) > DUPLICATE] = 0.0
    return excess


def clique_scores(excess: FloatArray, limit: float) -> FloatArray:
    """Score how much a column belongs to groups that all depend on each other; 0 if no two columns clearly do."""
    if excess.max(initial=0.0) < limit:
        return np.zeros(len(excess))
    values, vectors = np.linalg.eigh(np.maximum(excess - WEAK_DEPENDENCE, 0.0))
    strong = values > CLIQUE * values[-1]
    scores: FloatArray = np.sqrt((values[strong] ** 2 * vectors[:, strong] ** 2).sum(axis=1))
    return scores


def strong_dependence(n_pairs: int) -> float:
    """Find the excess dependence that none of so many pairs of unrelated columns reaches by accident."""
    return max(STRONG_DEPENDENCE, float(_deviations(chdtri(FREEDOM, FALSE_ALARM / max(1, n_pairs)))))


def keep_dependent(weights: FloatArray, table: ScreenedRows, views: FeatureColumns, seed: int) -> FloatArray:
    """Keep the weights of the features that depend on each other as only clusters make them, if these are enough.

    Otherwise those of all.
    """
    features = np.flatnonzero(weights).astype(np.int32)
    columns = views.columns(0, features)
    owner = np.repeat(features, views.widths[features])
    scores = np.zeros(len(columns))
    order = permutations(stream(seed, Purpose.PAIRED_COLUMNS), len(columns))[0]
    limit = strong_dependence(len(columns) * min(len(columns), BUNDLE) // 2)
    for some in np.array_split(order, -(-len(columns) // BUNDLE)):
        excess = excess_dependence(_without_ties(table.take(columns[some]), columns[some], seed))
        # The levels of a category depend on each other in any case.
        excess[owner[some][:, None] == owner[some][None, :]] = 0.0
        scores[some] = clique_scores(excess, limit)
    dependent = np.zeros(len(weights), dtype=bool)
    dependent[owner[scores > DEPENDENT_SHARE * scores.max()]] = True
    return np.where(dependent, weights, 0.0) if dependent.sum() >= ENOUGH_DEPENDENT else weights


def near_copies(rows: ScreenedRows, views: FeatureColumns, features: IndexArray) -> FloatArray:
    """Mark pairs of features that are nearly one: a matrix of zeros and ones."""
    values, itself = rows.take(views.first[0, features]), np.eye(len(features), dtype=bool)
    single = views.widths[features] == 1
    alike = (_correlations(values) > COPY) & single[:, None] & single & ~itself
    paired = np.flatnonzero(alike.any(axis=0))
    if len(paired):
        alike[np.ix_(paired, paired)] &= _correlations(np.apply_along_axis(_ranks, 0, values[:, paired])) > RANKED_COPY
    copies: FloatArray = (alike | itself).astype(np.float64)
    return copies


def _deviations(statistic: FloatArray) -> FloatArray:
    """Standardise a chi-squared statistic."""
    deviations: FloatArray = (statistic - FREEDOM) / np.sqrt(2 * FREEDOM)
    return deviations


@cache
def _gaussian_cells() -> FloatArray:
    """Compute the probability of each pair of classes under a Gaussian copula: (correlations, 6, 6)."""
    nodes, weights = np.polynomial.legendre.leggauss(24)
    # Points in each class of the first column, and the ends of the classes of the second.
    inside = ndtri((np.arange(RANK_CLASSES)[:, None] + (nodes + 1) / 2) / RANK_CLASSES)
    edges = ndtri(np.arange(RANK_CLASSES + 1) / RANK_CLASSES)
    rho = CORRELATIONS[:, None, None, None]
    upper = ndtr((edges - rho * inside[:, :, None]) / np.sqrt(1 - rho**2))
    cells: FloatArray = np.einsum("rcne,n->rce", np.diff(upper, axis=-1), weights / 2) / RANK_CLASSES
    return cells


def _without_ties(X: FloatArray, columns: IntArray, seed: int) -> FloatArray:
    """Put equal values of a column apart, at random."""
    ordered = np.sort(X, axis=0)
    tied = np.flatnonzero((ordered[1:] == ordered[:-1]).any(axis=0))
    apart = X.copy()
    keys = stream(seed, Purpose.PAIRED_TIES, columns[tied][None, :], np.arange(len(X))[:, None])
    apart[:, tied] += TIE_SPREAD * np.maximum(X[:, tied].std(axis=0), np.finfo(float).tiny) * (uniform(keys) - 0.5)
    return apart


def _correlations(columns: FloatArray) -> FloatArray:
    """Compute the sizes of the correlations between centred columns."""
    unit = columns / np.maximum(np.sqrt(np.square(columns).sum(axis=0)), np.finfo(float).tiny)
    sizes: FloatArray = np.abs(unit.T @ unit)
    return sizes


def _ranks(values: FloatArray) -> FloatArray:
    """Rank values about a mean of 0; equal ones share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: FloatArray = (np.cumsum(counts) - (counts - 1) / 2.0)[inverse] - (len(values) + 1) / 2.0
    return ranks
