"""Evidence accumulation (EA): Fred and Jain 2002."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, ClusterMixin

from clusterforests._utils.arrays import FloatArray, IntArray, KeyArray
from clusterforests._utils.memory import check_memory
from clusterforests._utils.random import root_seed, stream
from clusterforests._utils.validation import choice, either, integer, none, real
from clusterforests.backends import Backend, CpuBackend, KMeansJobs
from clusterforests.consensus.affinity import coassociate, collapse
from clusterforests.consensus.consensus_clustering import consensus_clustering
from clusterforests.consensus.linkage import by_size
from clusterforests.table.checks import check_clustering
from paper.consensus import single_linkage

# Linkage of rows by how often partitions put them together: the last step of two baselines.


def link_by_coassociation(
    backend: Backend,
    partitions: IntArray,
    n_clusters: int,
    linkage: str,
    threshold: float | None,
) -> IntArray:
    """Join rows that share a cluster in at least the share `threshold` of partitions, by single linkage.

    Without a threshold, join the nearest groups until `n_clusters` are left, by single or average linkage.
    """
    if threshold is None:
        if linkage == "single":
            return single_linkage(partitions, n_clusters)
        return consensus_clustering(partitions, n_clusters, method=linkage, n_landmarks=None)
    signatures = collapse(partitions)
    m = len(signatures)
    check_memory(5 * 8 * m * m, f"Linkage of {m} distinct rows of labels", "Use fewer rows.")
    P = coassociate(backend, signatures.labels, signatures.labels)
    np.fill_diagonal(P, 1.0)
    joined = connected_components(csr_array(threshold <= P), directed=False)[1]
    return by_size(joined, signatures.weights)[signatures.inverse]


# K-means partitions, one per seed: what most baselines combine.


class KMeansPartitions(NamedTuple):
    """Labels in each partition, its within sum of squares over 4**exponent, and its iterations of Lloyd."""

    labels: IntArray  # (T, n)
    within: FloatArray  # (T,)
    exponent: IntArray  # (T,)
    iterations: IntArray  # (T,)


def all_features(X: FloatArray) -> IntArray:
    """Return the numbers of all columns of X."""
    return np.arange(X.shape[1], dtype=np.int32)


def kmeans_partitions(
    backend: Backend, features: Sequence[IntArray], n_clusters: int, seeds: KeyArray, n_init: int, max_iter: int
) -> KMeansPartitions | None:
    """Partition the loaded rows by K-means, once per seed, each time by its own features.

    Return None if there are fewer distinct rows than clusters.
    """
    sizes = np.full(len(seeds), n_clusters, dtype=np.int32)
    runs = backend.kmeans(KMeansJobs(features, sizes, seeds, n_init, max_iter))
    if not runs.solved.all():
        return None
    return KMeansPartitions(backend.assign(features, runs.centers), runs.within, runs.exponent, runs.iterations)


class EvidenceAccumulation(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Evidence accumulation: single linkage on how often rows land together in K-means runs from random starts.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters of the result if `threshold` is None. Otherwise the threshold decides how many there are,
        and this is only the default of `n_base_clusters`.
    n_estimators : int, default=100
        Number of K-means runs.
    n_base_clusters : int, "sqrt" or None, default=None
        Clusters of each run; None means `n_clusters`, "sqrt" the square root of the number of rows. The authors
        suggest the square root; the Cluster Forests paper used `n_clusters` instead on most of its data.
    threshold : float or None, default=0.5
        Rows that are together in at least this share of the runs are joined, directly or through other rows. None
        joins the nearest groups until `n_clusters` are left.
    n_init : int, default=1
        Random starts of each K-means. With more of them the runs, whose differences are the evidence, are more alike.
    max_iter : int, default=200
        Maximum number of Lloyd iterations in each start.
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all cores. Does not change the result.
    random_state : int, RandomState, Generator or None, default=None
        Determines the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row; cluster 0 is the largest.
    n_clusters_ : int
        Number of clusters found.
    partitions_ : ndarray of shape (n_estimators, n_samples)
        Labels in each run.
    n_iter_ : int
        Largest number of Lloyd iterations in a winning start.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had any.

    References
    ----------
    A. Fred, A. K. Jain. Data clustering using evidence accumulation. ICPR 2002, 276-280.

    Examples
    --------
    >>> from paper.rivals import EvidenceAccumulation
    >>> EvidenceAccumulation(n_clusters=2, random_state=0).fit([[0.0], [1.0], [10.0], [11.0], [12.0]]).labels_
    array([1, 1, 0, 0, 0], dtype=int32)
    """

    labels_: IntArray
    n_iter_: int
    n_clusters_: int
    partitions_: IntArray

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_estimators: int = 100,
        n_base_clusters: int | str | None = None,
        threshold: float | None = 0.5,
        n_init: int = 1,
        max_iter: int = 200,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_estimators = n_estimators
        self.n_base_clusters = n_base_clusters
        self.threshold = threshold
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, all finite. Rows are samples.
        y : ignored

        Returns
        -------
        self : EvidenceAccumulation
        """
        special = {
            "n_base_clusters": either(none(), integer(1), choice("sqrt")),
            "threshold": either(none(), real(0, 1)),
        }
        X = check_clustering(self, X, special)
        backend = CpuBackend(self.n_jobs)
        n_distinct = backend.load(X).n_distinct
        clusters = self._base_clusters(len(X))
        features = [all_features(X)] * self.n_estimators
        seeds = stream(root_seed(self.random_state), np.arange(self.n_estimators))
        found = kmeans_partitions(backend, features, clusters, seeds, self.n_init, self.max_iter)
        if found is None:
            name = "n_clusters" if self.n_base_clusters is None else "n_base_clusters"
            raise ValueError(
                f"{name}={clusters} is more than the {n_distinct} distinct rows of X, or more than float64 can tell "
                f"apart. Lower {name}."
            )
        self.partitions_, self.n_iter_ = found.labels, int(found.iterations.max())
        self.labels_ = link_by_coassociation(backend, self.partitions_, self.n_clusters, "single", self.threshold)
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    def _base_clusters(self, n_rows: int) -> int:
        if isinstance(self.n_base_clusters, str):
            return round(math.sqrt(n_rows))
        return int(self.n_clusters if self.n_base_clusters is None else self.n_base_clusters)
