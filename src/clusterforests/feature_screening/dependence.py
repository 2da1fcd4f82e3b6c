"""Pairs of columns that depend on each other as clusters make them, not as a common Gaussian factor does."""

from functools import cache

import numpy as np
from scipy.special import chdtri, ndtr, ndtri

from clusterforests._utils.arrays import FloatArray

BINS = 6
FREEDOM = (BINS - 1) ** 2
CORRELATIONS = np.linspace(-0.99, 0.99, 199)
DUPLICATE = 0.97  # columns correlated more than this are one column twice, which is no evidence
STRONG = 6.0  # excess dependence that is no accident, in standard deviations
WEAK = 3.0  # excess dependence, in standard deviations
COMPANY = 0.3  # of the strongest group of dependent columns: weaker groups do not count
FALSE_ALARM = 0.01  # probability that a table without clusters shows a pair beyond the limit


def excess_dependence(X: FloatArray) -> FloatArray:
    """Measure how much more two columns depend on each other than Gaussian ones of the same rank correlation.

    Counts of rows in 6 by 6 classes of ranks are compared with those of the Gaussian copula. The result is the
    deviation of a Freeman-Tukey statistic from its mean, in standard deviations: about 0 for Gaussian columns.
    """
    n, p = X.shape
    ranks = np.argsort(np.argsort(X, axis=0), axis=0)
    normal = ndtri((ranks + 0.5) / n)
    correlation = normal.T @ normal / (normal[:, :1] ** 2).sum()
    member = np.zeros((n, p, BINS), dtype=np.float32)
    np.put_along_axis(member, (ranks * BINS // n)[:, :, None], 1.0, axis=2)
    flat = member.reshape(n, -1)
    counts = (flat.T @ flat).reshape(p, BINS, p, BINS).transpose(0, 2, 1, 3)
    step = CORRELATIONS[1] - CORRELATIONS[0]
    nearest = np.rint((correlation - CORRELATIONS[0]) / step).astype(np.intp).clip(0, len(CORRELATIONS) - 1)
    expected = np.sqrt(4 * n * _gaussian_cells() + 1).astype(np.float32)[nearest]
    roots = np.sqrt(counts) + np.sqrt(counts + 1) - expected
    excess = _deviations(np.einsum("abij,abij->ab", roots, roots).astype(np.float64))
    excess[np.abs(correlation) > DUPLICATE] = 0.0
    return excess


def company(excess: FloatArray, limit: float) -> FloatArray:
    """Score how much a column belongs to groups that all depend on each other; 0 if no two columns clearly do."""
    if excess.max(initial=0.0) < limit:
        return np.zeros(len(excess))
    values, vectors = np.linalg.eigh(np.maximum(excess - WEAK, 0.0))
    strong = values > COMPANY * values[-1]
    scores: FloatArray = np.sqrt((values[strong] ** 2 * vectors[:, strong] ** 2).sum(axis=1))
    return scores


def strong_dependence(n_pairs: int) -> float:
    """Find the excess dependence that none of so many pairs of unrelated columns reaches by accident."""
    return max(STRONG, float(_deviations(chdtri(FREEDOM, FALSE_ALARM / max(1, n_pairs)))))


def _deviations(statistic: FloatArray) -> FloatArray:
    """Standardise a chi-squared statistic."""
    deviations: FloatArray = (statistic - FREEDOM) / np.sqrt(2 * FREEDOM)
    return deviations


@cache
def _gaussian_cells() -> FloatArray:
    """Compute the probability of each pair of classes under a Gaussian copula: (correlations, 6, 6)."""
    nodes, weights = np.polynomial.legendre.leggauss(24)
    inside = ndtri((np.arange(BINS)[:, None] + (nodes + 1) / 2) / BINS)  # places in each class of the first column
    edges = ndtri(np.arange(BINS + 1) / BINS)
    rho = CORRELATIONS[:, None, None, None]
    upper = ndtr((edges - rho * inside[:, :, None]) / np.sqrt(1 - rho**2))
    cells: FloatArray = np.einsum("rcne,n->rce", np.diff(upper, axis=-1), weights / 2) / BINS
    return cells
