"""Refine groups of rows by their values: each group is a normal distribution of its own, long, thin or wide.

Partitions are made by distances, so their borders lie half-way between clusters, however much one spreads and the other
does not. A group's own mean and covariance say better where it ends. A row then goes where its values and its shares of
partitions point together: values alone would follow any wide group, shares alone keep borders half-way.
"""

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_limits

from clusterforests._utils.arrays import FloatArray, IntArray
from clusterforests.backends import Backend
from clusterforests.consensus.affinity import Signatures
from clusterforests.consensus.placement import Shares

ROUNDS = 15
PRIOR = 1.0  # times d + 1: so many rows with the covariance that all groups have in common are added to each group
LEAST_VARIANCE = 1e-4  # of a column's
LEAST_LEFT = 0.1  # of a group
LEAST_SHARE = 1e-3  # so that no row is forbidden a group with which it is never together


def refine(
    backend: Backend,
    signatures: Signatures,
    groups: IntArray,
    fixed: IntArray | None = None,
    rounds: int = ROUNDS,
) -> IntArray:
    """Let nodes, whose values must be known, move between the groups, as long as every group keeps some of its size.

    Nodes whose group is `fixed`, which is -1 for the others, stay there.
    """
    assert signatures.values is not None
    n_groups = int(groups.max()) + 1
    weights = signatures.weights * (len(signatures) / signatures.weights.sum())
    values = _unit(signatures.values, weights)
    least_variances = LEAST_VARIANCE + (usual_steps(values) / 2) ** 2
    least = LEAST_LEFT * np.bincount(groups, weights)
    responsibilities = np.eye(n_groups)[groups]
    pull = _pull(backend, signatures, groups, n_groups)
    with threadpool_limits(1, "blas"):  # so that the last digit does not depend on the threads asked for
        for _ in range(rounds):
            # How well a row's values and its shares of partitions fit each group.
            scores = log_densities(values, weights[:, None] * responsibilities, least_variances) + pull
            if fixed is not None:
                scores[(fixed >= 0)[:, None] & (fixed[:, None] != np.arange(n_groups))] = -np.inf
            moved = scores.argmax(axis=1).astype(np.int32)
            # A group that would lose nearly all of its rows ends the refinement.
            if (np.bincount(moved, weights, minlength=n_groups) <= least).any():
                break
            if not np.array_equal(moved, groups):
                groups, pull = moved, _pull(backend, signatures, moved, n_groups)
            # Rows between groups count for each of them in the next round.
            responsibilities = np.exp(scores - scores.max(axis=1, keepdims=True))
            responsibilities /= responsibilities.sum(axis=1, keepdims=True)
    return groups


def _pull(backend: Backend, signatures: Signatures, groups: IntArray, n_groups: int) -> FloatArray:
    """Take the logarithm of the nodes' mean shares with each group."""
    shares = Shares.of(signatures, groups, n_groups).mean(backend, signatures.labels)
    return np.asarray(np.log(shares + LEAST_SHARE))


def log_densities(values: FloatArray, responsibilities: FloatArray, least_variances: FloatArray) -> FloatArray:
    """Compute the log of each group's share of the rows times its normal density, (m, groups), but for a constant.

    Parameters
    ----------
    values : array of shape (m, d)
    responsibilities : array of shape (m, groups)
        How much of each row is in each group.
    least_variances : array of shape (d,)
        Added to the variances of every group.
    """
    n_columns = values.shape[1]
    mass = responsibilities.sum(axis=0)
    apart = [values - center for center in (responsibilities.T @ values) / mass[:, None]]
    scatter = [(own[:, None] * away).T @ away for own, away in zip(responsibilities.T, apart, strict=True)]
    common = sum(scatter, np.zeros((n_columns, n_columns))) / mass.sum()
    added = PRIOR * (n_columns + 1)
    densities = np.empty(responsibilities.shape)
    for g, away in enumerate(apart):
        covariance = (scatter[g] + added * common) / (mass[g] + added) + np.diag(least_variances)
        root = np.linalg.cholesky(covariance)
        length = (scipy.linalg.solve_triangular(root, away.T, lower=True) ** 2).sum(axis=0)
        densities[:, g] = np.log(mass[g] / mass.sum()) - length / 2 - np.log(np.diag(root)).sum()
    return densities


def usual_steps(values: FloatArray) -> FloatArray:
    """Measure the usual step from one value of a column to the next.

    Where it is large, values are kinds or coarse numbers: a group in which all are equal is not as thin as it looks.
    """
    return np.array([np.median(np.diff(np.unique(column))) for column in values.T])


def _unit(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Bring columns to mean 0 and variance 1; those that do not vary leave."""
    share = weights / weights.sum()
    centred = values - share @ values
    spread = np.sqrt(share @ centred**2)
    varies = spread > np.finfo(np.float64).eps * np.abs(values).max(axis=0, initial=0.0)
    return np.asarray(centred[:, varies] / spread[varies])
