"""Stability: would half of the partitions have given the same clustering?"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._base.adjusted_rand import adjusted_rand, contingency
from clusterforests._base.parameters import check_parameters, real
from clusterforests._base.typing import BoolArray, FloatArray, IndexArray
from clusterforests.diagnostics.arguments import Combine
from clusterforests.diagnostics.half_forests import MAX_ROWS, N_SPLITS, half_cuts

FOUND_AGAIN = 0.75  # Jaccard index from which on a cluster counts as found again (Hennig 2007)


@dataclass(frozen=True)
class Stability:
    """How well clusterings from two halves of the partitions agree."""

    mean: float  # adjusted Rand index of the two, averaged over the splits
    low: float  # the share `level` of the splits lies between `low` and `high`
    high: float
    scores: FloatArray  # of each split; NaN if its halves share no pair of clustered rows
    clusters: FloatArray  # best Jaccard index of each cluster in the clustering of a half, averaged over the halves
    found_again: FloatArray  # share of the halves in which this index of a cluster is at least 0.75
    n_rows: int  # rows that were clustered


def stability(
    source: Any,
    n_clusters: int | None = None,
    combine: Combine | None = None,
    *,
    n_splits: int = N_SPLITS,
    seed: int = 0,
    level: float = 0.9,
    max_rows: int = MAX_ROWS,
    labels: Any = None,
    weights: Any = None,
) -> Stability:
    """Estimate whether other partitions of the same kind would have given the same clustering.

    The clusterings by the two halves of each split are compared by the adjusted Rand index: 1 if they are the same,
    0 on average if they have nothing to do with each other.

    Parameters
    ----------
    source : ClusterForest, HalfCuts or array-like of shape (n_partitions, n_samples)
        A fitted forest or what `half_cuts` returned, which need no clusters to be named; or partitions.
    n_clusters, combine, n_splits, seed, max_rows, labels, weights
        As for `half_cuts`.
    level : float, default=0.9
        Share of the splits that the interval holds.

    Returns
    -------
    result : Stability
        With `mean`, `low`, `high`, `scores`, `n_rows` and, for each cluster, `clusters` and `found_again`: NaN if no
        half clusters any of its rows.

    Examples
    --------
    >>> from clusterforests import consensus
    >>> from clusterforests.diagnostics import stability
    >>> stability([[0, 0, 1, 1]] * 4, 2, consensus, n_splits=5).mean
    1.0
    """
    check_parameters({"level": level}, {"level": real(0, 1)})
    options = {"n_splits": n_splits, "seed": seed, "max_rows": max_rows, "labels": labels, "weights": weights}
    cuts = half_cuts(source, n_clusters, combine, **options)
    pairs = zip(cuts.labels[::2], cuts.labels[1::2], strict=True)
    scores = np.array([adjusted_rand(first, second, cuts.weights) for first, second in pairs])
    known = scores[~np.isnan(scores)]
    if not len(known):
        raise ValueError("partitions has no two rows that both halves of a split cluster. Give more partitions.")
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    again = np.array([_best_jaccard(cuts.whole, found, cuts.weights, cuts.n_clusters) for found in cuts.labels])
    return Stability(
        mean=float(known.mean()),
        low=float(low),
        high=float(high),
        scores=scores,
        clusters=_mean_known(again),
        found_again=_mean_known(np.where(np.isnan(again), np.nan, again >= FOUND_AGAIN)),
        n_rows=len(cuts.rows),
    )


def _best_jaccard(whole: IndexArray, found: IndexArray, weights: FloatArray, n_clusters: int) -> FloatArray:
    """Find the best Jaccard index of each cluster of `whole`, over rows with a label in `found`; NaN without any."""
    table = contingency(whole, found, weights, n_clusters)
    sizes = table.sum(axis=1)
    union = sizes[:, None] + table.sum(axis=0)[None, :] - table
    index = np.divide(table, union, out=np.zeros_like(table), where=union > 0).max(axis=1)
    return np.where(sizes > 0, index, np.nan)


def _mean_known(values: FloatArray) -> FloatArray:
    """Average the columns over what is not NaN."""
    known: BoolArray = ~np.isnan(values)
    count = known.sum(axis=0).astype(np.float64)
    means: FloatArray = np.where(known, values, 0.0).sum(axis=0) / np.where(count > 0, count, np.nan)
    return means
