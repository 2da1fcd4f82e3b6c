"""Which columns show clusters, found without knowing the clusters.

Clusters make the columns that show them depend on each other in another way than a common Gaussian factor does, and
may give a single column several modes. Noise columns, correlated or not, have neither.
"""

import numpy as np
from scipy.special import ndtr

from clusterforests._base.random import permutations, stream
from clusterforests._base.typing import BoolArray, FloatArray, IndexArray
from clusterforests.n_clusters.density_valleys import dip
from clusterforests.signal.dependence import excess_dependence, strong_dependence

GROUP = 300  # columns that are compared with each other at a time
FALSE_MODES = 1e-4  # probability that a table of columns with one mode shows one with several
WEAK = 3.0  # excess dependence, in standard deviations
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
    limit = strong_dependence(p * min(p, GROUP) // 2)
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


def _company(excess: FloatArray, limit: float) -> FloatArray:
    """Score how much a column belongs to groups that all depend on each other; 0 if no two columns clearly do."""
    if excess.max(initial=0.0) < limit:
        return np.zeros(len(excess))
    values, vectors = np.linalg.eigh(np.maximum(excess - WEAK, 0.0))
    strong = values > COMPANY * values[-1]
    company: FloatArray = np.sqrt((values[strong] ** 2 * vectors[:, strong] ** 2).sum(axis=1))
    return company
