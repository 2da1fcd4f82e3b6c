"""The distribution of P over pairs of rows, and what is read off it (Monti et al. 2003)."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._base.memory_limits import check_memory
from clusterforests._base.parameters import check_parameters, integer, real
from clusterforests._base.random import Purpose, permutations, stream
from clusterforests._base.typing import FloatArray, IndexArray, IntArray
from clusterforests.backends import CpuBackend
from clusterforests.diagnostics.arguments import SEED, check_counts, check_given


@dataclass(frozen=True)
class ConsensusCdf:
    """The distribution of P over pairs of distinct rows; pairs that no partition clusters both of are left out."""

    points: FloatArray  # from 0 to 1
    cdf: FloatArray  # share of pairs whose P is at most the point
    values: FloatArray  # the different values of P, ascending
    mass: FloatArray  # share of pairs with each value
    n_rows: int  # rows that the pairs are taken from


def consensus_cdf(
    partitions: Any, n_points: int = 101, *, max_rows: int = 2000, seed: int = 0, weights: Any = None
) -> ConsensusCdf:
    """Compute the distribution of P over pairs of rows (Monti et al. 2003).

    Parameters
    ----------
    partitions : array-like of shape (n_partitions, n_samples)
        As for `cluster_shares`.
    n_points : int, default=101
        Number of points at which the distribution function is given.
    max_rows : int, default=2000
        Of more rows a random sample of this many is used, the same for the same `seed`: memory and time grow with its
        square.
    seed : int, default=0
        Determines the sample.
    weights : array-like of shape (n_samples,) or None, default=None
        How often each row counts; copies of a row have P = 1.

    Returns
    -------
    distribution : ConsensusCdf

    Examples
    --------
    >>> from clusterforests.diagnostics import consensus_cdf, pac
    >>> distribution = consensus_cdf([[0, 0, 1], [0, 0, 1], [0, 1, 1], [0, 0, 1]], n_points=3)
    >>> distribution.cdf.round(2)
    array([0.33, 0.67, 1.  ])
    >>> round(pac(distribution), 2)
    0.67
    """
    rules = {"n_points": integer(2), "max_rows": integer(2), "seed": SEED}
    check_parameters({"n_points": n_points, "max_rows": max_rows, "seed": seed}, rules)
    members = check_given(partitions)
    counts = None if weights is None else check_counts(weights, members.shape[1])
    rows = sample_rows(members.shape[1], max_rows, seed, counts)
    w = np.ones(len(rows)) if counts is None else counts[rows]
    values, mass = _pair_distribution(np.ascontiguousarray(members[:, rows], dtype=np.int32), w)
    points = np.arange(n_points) / (n_points - 1)  # Rounded as P is, so that equal fractions compare equal.
    upto = np.concatenate([[0.0], np.cumsum(mass)])
    cdf = np.minimum(upto[np.searchsorted(values, points, side="right")] / upto[-1], 1.0)
    return ConsensusCdf(points, cdf, values, mass / upto[-1], len(rows))


def sample_rows(n_rows: int, max_rows: int, seed: int, weights: FloatArray | None) -> IndexArray:
    """Choose rows that count: all, or a random sample of max_rows, in ascending order."""
    rows = np.arange(n_rows) if weights is None else np.flatnonzero(weights > 0)
    if len(rows) <= max_rows:
        return rows
    return np.sort(rows[permutations(stream(seed, Purpose.DIAGNOSTIC_ROWS), len(rows))[0, :max_rows]])


def _pair_distribution(members: IntArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Find the values of P and the weight of ordered pairs with each."""
    n, size = members.shape[1], len(members)
    check_memory(4 * 8 * n * n, f"P between {n} rows", "Lower max_rows.")
    backend, table = CpuBackend(), np.arange(size + 1, dtype=np.float64)
    pairs = np.outer(weights, weights)
    np.fill_diagonal(pairs, weights * (weights - np.minimum(weights, 1.0)))
    if pairs.sum() <= 0:
        raise ValueError("partitions has only 1 row that counts; a pair needs at least 2.")
    together = backend.coassociate(members, members, table)
    if members.min() >= 0:
        mass = np.bincount(together.ravel().astype(np.intp), pairs.ravel(), minlength=size + 1).astype(np.float64)
        values = table / size
    else:
        some = np.where(members < 0, members, 0)
        both = backend.coassociate(some, some, table)
        pairs = pairs[both > 0]
        values, which = np.unique(together[both > 0] / both[both > 0], return_inverse=True)
        mass = np.bincount(which, pairs).astype(np.float64)
        if mass.sum() <= 0:
            raise ValueError("partitions has no two rows that are clustered in the same partition.")
    return values[mass > 0], mass[mass > 0]


def pac(distribution: ConsensusCdf, low: float = 0.1, high: float = 0.9) -> float:
    """Compute the proportion of ambiguous clustering: pairs with P strictly between two bounds (Senbabaoglu 2014).

    Parameters
    ----------
    distribution : ConsensusCdf
        From `consensus_cdf`.
    low, high : float, default=0.1 and 0.9
        The bounds.

    Returns
    -------
    pac : float
        From 0 (all pairs are as good as always or never together) to 1.
    """
    check_parameters({"low": low, "high": high}, {"low": real(0, 1), "high": real(0, 1)})
    if low > high:
        raise ValueError(f"low={low} is more than high={high}. Swap them.")
    between = (distribution.values > low) & (distribution.values < high)
    return float(distribution.mass[between].sum())


def cdf_area(distribution: ConsensusCdf) -> float:
    """Compute the area under the distribution function of P exactly: 1 - the mean of P over pairs.

    Monti et al. (2003) approximate this integral by a sum over a grid.
    """
    return float(1.0 - distribution.values @ distribution.mass)


def delta_area(areas: Any) -> FloatArray:
    """Compute how much the area under the distribution function grows with the number of clusters (Monti et al. 2003).

    Parameters
    ----------
    areas : array-like of shape (n,)
        From `cdf_area`, for consecutive numbers of clusters, usually from 2.

    Returns
    -------
    growth : ndarray of shape (n,)
        The first area itself, then growth over the area before, as a share of that.
    """
    given = np.asarray(areas, dtype=np.float64)
    if given.ndim != 1 or not len(given) or not (given >= 0).all():
        raise ValueError("areas must be one-dimensional, not empty, and hold numbers of at least 0.")
    before, step = given[:-1], np.diff(given)
    growth = np.divide(step, before, out=np.where(step > 0, np.inf, 0.0), where=before > 0)
    return np.concatenate([given[:1], growth])
