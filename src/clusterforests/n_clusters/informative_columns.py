"""Which columns show clusters, found without knowing the clusters.

Clusters make the columns that show them depend on each other in another way than a common Gaussian factor does, and
may give a single column several modes. Noise columns, correlated or not, have neither.
"""

from functools import cache

import numpy as np
from scipy.special import chdtri, ndtr, ndtri

from clusterforests._base.random import permutations, stream
from clusterforests._base.typing import BoolArray, FloatArray, IndexArray
from clusterforests.n_clusters.density_valleys import dip

BINS = 6
FREEDOM = (BINS - 1) ** 2
GROUP = 300  # columns that are compared with each other at a time
CORRELATIONS = np.linspace(-0.99, 0.99, 199)
DUPLICATE = 0.97  # columns correlated more than this are one column twice, which is no evidence
FALSE_ALARM = 0.01  # probability that a table without clusters shows an informative pair of columns
FALSE_MODES = 1e-4  # the same of a column with several modes
STRONG, WEAK = 6.0, 3.0  # excess dependence, in standard deviations
COMPANY = 0.3  # of the strongest group of dependent columns: weaker groups do not count
SHARE = 0.15  # of the score of the most informative column
DIP_ROWS = 400  # quantiles that stand for a column in its dip


def informative_columns(X: FloatArray, seed: int) -> IndexArray:
    """Find the columns of X that show structure, ascending; all of them if none does.

    Parameters
    ----------
    X : array of shape (n, p)
        Columns without ties.
    seed : int
        Determines the groups that more than 300 columns are divided into.
    """
    p = X.shape[1]
    scores = np.zeros(p)
    pairs = max(1, p * min(p, GROUP) // 2)
    limit = max(STRONG, float(_deviations(chdtri(FREEDOM, FALSE_ALARM / pairs))))
    for columns in np.array_split(permutations(stream(seed, p), p)[0], -(-p // GROUP)):
        scores[columns] = _company(excess_dependence(X[:, columns]), limit)
    dependent = scores > SHARE * scores.max()
    modes = _several_modes(X)
    # Skewed columns with a common factor do not depend on each other in a Gaussian way either, so that modes are the
    # better evidence.
    found = modes | dependent if (modes & dependent).any() or not modes.any() else modes
    return np.flatnonzero(found) if found.any() else np.arange(p)


def _several_modes(X: FloatArray) -> BoolArray:
    """Find columns whose dip is larger than any of so many flat columns would show by chance."""
    n, p = X.shape
    # In the tail the root of n times the dip of flat rows grows by 0.085 for a factor of ten in probability.
    limit = 0.61 + 0.085 * (np.log10(p / FALSE_MODES) - 2)
    quantiles = np.sort(X, axis=0)[np.linspace(0, n - 1, min(n, DIP_ROWS)).astype(np.intp)]
    # No dip exceeds the distance from a normal distribution, which costs less.
    several: BoolArray = np.sqrt(n) * _from_normal(quantiles) > limit
    for j in np.flatnonzero(several):
        several[j] = np.sqrt(n) * dip(quantiles[:, j]) > limit
    return several


def _from_normal(X: FloatArray) -> FloatArray:
    """Measure how far the distribution function of each column, its rows ascending, is from a fitted normal one."""
    fitted = ndtr((X - X.mean(axis=0)) / X.std(axis=0))
    steps = np.arange(len(X) + 1)[:, None] / len(X)
    distance: FloatArray = np.maximum(np.abs(fitted - steps[:-1]), np.abs(fitted - steps[1:])).max(axis=0)
    return distance


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


def _company(excess: FloatArray, limit: float) -> FloatArray:
    """Score how much a column belongs to groups that all depend on each other; 0 if no two columns clearly do."""
    if excess.max(initial=0.0) < limit:
        return np.zeros(len(excess))
    values, vectors = np.linalg.eigh(np.maximum(excess - WEAK, 0.0))
    strong = values > COMPANY * values[-1]
    company: FloatArray = np.sqrt((values[strong] ** 2 * vectors[:, strong] ** 2).sum(axis=1))
    return company
