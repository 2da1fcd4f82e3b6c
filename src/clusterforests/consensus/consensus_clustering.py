"""The public function that combines partitions from any source."""

from typing import Any

from clusterforests._utils.arrays import IntArray
from clusterforests._utils.validation import FOREST_RULES, check_parameters, warn_caller
from clusterforests.backends import CpuBackend
from clusterforests.consensus.cut import combine
from clusterforests.consensus.methods import METHOD_RULES
from clusterforests.consensus.partitions import check_partitions
from clusterforests.table.checks import check_enough_rows, check_weights


def consensus_clustering(
    partitions: Any,
    n_clusters: int,
    *,
    method: str = "ncut",
    affinity_threshold: float | str = 0.4,
    affinity_scale: float | str = "auto",
    sample_weight: Any = None,
    n_landmarks: int | str | None = "auto",
) -> IntArray:
    """Combine partitions of the same rows, from any source, into one.

    Parameters
    ----------
    partitions : array-like of shape (n_partitions, n_samples)
        Integer labels, one row for each partition. A negative label means "not clustered" there.
    n_clusters : int
        Number of clusters of the result.
    method : str, default="ncut"
        "ncut" (recursive normalised cuts, largest part next), "ncut-lowest", "ncut-best", "ncut-shifted", "kway",
        "average", "average-trimmed", "single", "medoid", "cspa", "hbgf", "mcla", "mixture" or "agreement": see
        `ClusterForest`.
    affinity_threshold : float or "auto", default=0.4
        Shares of partitions below it count as 0. "auto" cuts nothing off, and instead gives pairs that are never
        together no link. Used by "kway" and the cuts named "ncut...".
    affinity_scale : float or "auto", default="auto"
        The graph's weights are exp(affinity_scale * share), at most 50; "auto" is a tenth of the number of partitions,
        at most 10. 0 takes the shares themselves, if `affinity_threshold` is "auto". Used where that is.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows: a row of weight 3 counts like three equal rows. A row of weight 0 has no say and goes where
        its links with the others lead.
    n_landmarks : int, None or "auto", default="auto"
        The largest number of different rows of labels that are all nodes of the graph: see `ClusterForest`.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Cluster of each row; cluster 0 is the largest.

    Examples
    --------
    >>> from clusterforests import consensus_clustering
    >>> consensus_clustering([[0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 0, -1]], n_clusters=2)
    array([0, 0, 1, 1], dtype=int32)
    """
    given = {
        "n_clusters": n_clusters,
        "method": method,
        "affinity_threshold": affinity_threshold,
        "affinity_scale": affinity_scale,
    }
    rules = {**METHOD_RULES, "n_landmarks": FOREST_RULES["n_landmarks"]}
    check_parameters({**given, "n_landmarks": n_landmarks}, rules)
    labels = check_partitions(partitions)
    check_enough_rows(labels.shape[1], n_clusters)
    weights = check_weights(sample_weight, labels.shape[1])
    found = combine(
        CpuBackend(), labels, n_clusters, method, affinity_threshold, affinity_scale, weights, n_landmarks=n_landmarks
    )
    if found.kept.failed:
        warn_caller(f"method={method!r} chose among fewer cuts: {'; '.join(found.kept.failed)}.")
    return found.labels
