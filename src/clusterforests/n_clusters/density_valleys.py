"""Are groups of rows apart? Tests of a valley of density between them.

Along a line a density with one mode is never lowest in the middle one of three intervals. Whatever the shape of a
single group (Gaussian, heavy-tailed, flat), rows that thin out between two places and grow dense again speak for two.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import bdtr

from clusterforests._base.random import permutations, stream
from clusterforests._base.typing import FloatArray, IndexArray

WIDTHS = np.array([0.1, 0.15, 0.2, 0.25])  # half-widths of the intervals, as shares of the groups' distance
TRIES = 2.0  # the widths are nearly one test: the best of four costs less than Bonferroni's factor
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


def valley(first: FloatArray, second: FloatArray) -> tuple[float, float]:
    """Find the p-value and the depth of the valley between places around 0 and places around 1.

    Binomial tests compare the count in an interval between them with those in an interval around each; of the two
    sides the one with less evidence counts. The middle lies nearer to the group that is less spread out.
    """
    spread = np.array([first.std(), second.std()]) + np.finfo(float).tiny
    middle = np.clip(spread[0] / spread.sum(), 0.3, 0.7)
    ends = np.array(
        [
            [-WIDTHS, np.minimum(WIDTHS, middle - WIDTHS)],
            [middle - WIDTHS, middle + WIDTHS],
            [np.maximum(1 - WIDTHS, middle + WIDTHS), 1 + WIDTHS],
        ]
    )
    places = np.sort(np.concatenate([first, second]))
    low, between, high = np.diff(np.searchsorted(places, ends), axis=1)[:, 0]
    widths = np.diff(ends, axis=1)[:, 0]
    p = np.maximum(
        bdtr(between, between + low, widths[1] / (widths[1] + widths[0])),
        bdtr(between, between + high, widths[1] / (widths[1] + widths[2])),
    )
    best = int(np.argmin(p))
    core = min(low[best] / widths[0, best], high[best] / widths[2, best])
    depth = 1 - between[best] / widths[1, best] / core if core > 0 else 0.0
    return min(1.0, TRIES * float(p[best])), max(-1.0, float(depth))
