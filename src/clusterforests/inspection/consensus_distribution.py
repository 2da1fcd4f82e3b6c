"""The consensus matrix M of a number of clusters, and what is read off it (Monti et al. 2003).

M is the share of half forests that put two rows into the same one of K clusters. It is 0 or 1 for all pairs of rows if
every half finds the same clusters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray, IntArray
from clusterforests._utils.memory import check_memory
from clusterforests._utils.validation import check_parameters, integer, real
from clusterforests.backends import CpuBackend
from clusterforests.inspection.arguments import Combine
from clusterforests.inspection.stability import MAX_ROWS, N_SPLITS, half_cuts


@dataclass(frozen=True)
class ConsensusCdf:
    """The distribution of M over pairs of distinct rows; pairs that no half clusters both of are left out."""

    points: FloatArray  # from 0 to 1
    cdf: FloatArray  # share of pairs whose M is at most the point
    values: FloatArray  # the different values of M, ascending
    mass: FloatArray  # share of pairs with each value
    n_rows: int  # rows that the pairs are taken from


def consensus_cdf(
    source: Any,
    n_clusters: int | None = None,
    combine: Combine | None = None,
    *,
    n_points: int = 101,
    n_splits: int = N_SPLITS,
    seed: int = 0,
    max_rows: int = MAX_ROWS,
    weights: Any = None,
) -> ConsensusCdf:
    """Compute the distribution of M, the share of half forests that put two rows together, over pairs of rows.

    Parameters
    ----------
    source : ClusterForest, HalfCuts or array-like of shape (n_partitions, n_samples)
        A fitted forest or what `half_cuts` returned, which need no clusters to be named; or partitions.
    n_clusters, combine, n_splits, seed, max_rows
        As for `half_cuts`.
    n_points : int, default=101
        Number of points at which the distribution function is given.
    weights : array-like of shape (n_samples,) or None, default=None
        How often each row counts; copies of a row have M = 1.

    Returns
    -------
    distribution : ConsensusCdf

    Examples
    --------
    >>> from clusterforests import consensus_clustering
    >>> from clusterforests.inspection import consensus_cdf, pac
    >>> distribution = consensus_cdf([[0, 0, 1, 1]] * 4, 2, consensus_clustering, n_points=3)
    >>> distribution.cdf.round(2)
    array([0.67, 0.67, 1.  ])
    >>> pac(distribution)
    0.0
    """
    check_parameters({"n_points": n_points}, {"n_points": integer(2)})
    options = {"n_splits": n_splits, "seed": seed, "max_rows": max_rows, "weights": weights}
    cuts = half_cuts(source, n_clusters, combine, **options)
    values, mass = _pair_distribution(np.ascontiguousarray(cuts.labels, dtype=np.int32), cuts.weights)
    points = np.arange(n_points) / (n_points - 1)  # Rounded as M is, so that equal fractions compare equal.
    upto = np.concatenate([[0.0], np.cumsum(mass)])
    cdf = np.minimum(upto[np.searchsorted(values, points, side="right")] / upto[-1], 1.0)
    return ConsensusCdf(points, cdf, values, mass / upto[-1], len(cuts.rows))


def _pair_distribution(members: IntArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Find the values of M and the weight of ordered pairs with each."""
    n, size = members.shape[1], len(members)
    check_memory(4 * 8 * n * n, f"The consensus of {n} rows", "Lower max_rows.")
    backend, table = CpuBackend(), np.arange(size + 1, dtype=np.float64)
    pairs = np.outer(weights, weights)
    np.fill_diagonal(pairs, weights * (weights - np.minimum(weights, 1.0)))
    if pairs.sum() <= 0:
        raise ValueError("Only 1 row counts; a pair needs at least 2.")
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
            raise ValueError("No two rows are clustered by the same half of the partitions.")
    return values[mass > 0], mass[mass > 0]


def pac(source: Any, low: float = 0.1, high: float = 0.9) -> float:
    """Compute the proportion of ambiguous clustering: pairs with M strictly between two bounds (Senbabaoglu 2014).

    Parameters
    ----------
    source : ClusterForest, HalfCuts or ConsensusCdf
        A fitted forest, or what `half_cuts` or `consensus_cdf` returned.
    low, high : float, default=0.1 and 0.9
        The bounds.

    Returns
    -------
    pac : float
        From 0 (nearly all halves agree on every pair) to 1.
    """
    check_parameters({"low": low, "high": high}, {"low": real(0, 1), "high": real(0, 1)})
    if low > high:
        raise ValueError(f"low={low} is more than high={high}. Swap them.")
    distribution = _distribution_of(source)
    between = (distribution.values > low) & (distribution.values < high)
    return float(distribution.mass[between].sum())


def cdf_area(source: Any) -> float:
    """Compute the area under the distribution function of M exactly: 1 - the mean of M over pairs.

    Monti et al. (2003) approximate this integral by a sum over a grid.

    Parameters
    ----------
    source : ClusterForest, HalfCuts or ConsensusCdf
        As for `pac`.

    Returns
    -------
    area : float
    """
    distribution = _distribution_of(source)
    return float(1.0 - distribution.values @ distribution.mass)


def _distribution_of(source: Any) -> ConsensusCdf:
    return source if isinstance(source, ConsensusCdf) else consensus_cdf(source)


def delta_area(sources: Sequence[Any]) -> FloatArray:
    """Compute how much the area under the distribution function grows with the number of clusters (Monti et al. 2003).

    Parameters
    ----------
    sources : sequence
        For consecutive numbers of clusters, usually from 2: forests, or what `half_cuts`, `consensus_cdf` or `cdf_area`
        returned.

    Returns
    -------
    growth : ndarray of shape (n,)
        The first area itself, then growth over the area before, as a share of that.
    """
    areas = [area if isinstance(area, (float, int)) else cdf_area(area) for area in sources]
    given = np.asarray(areas, dtype=np.float64)
    if not len(given) or not (given >= 0).all():
        raise ValueError("sources must not be empty, and areas must be at least 0.")
    before, step = given[:-1], np.diff(given)
    growth = np.divide(step, before, out=np.where(step > 0, np.inf, 0.0), where=before > 0)
    return np.concatenate([given[:1], growth])
