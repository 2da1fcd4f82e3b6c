"""Are groups of rows apart? Tests of a valley of density between each pair of them."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clusterforests._base.random import permutations, stream
from clusterforests._base.typing import FloatArray, IndexArray
from clusterforests.signal.valley import valley

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
