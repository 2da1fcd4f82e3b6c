"""Bagged clustering (bC2): Dudoit and Fridlyand 2003, BagClust2."""

from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClusterMixin

from clusterforests._utils.arrays import FloatArray, IntArray
from clusterforests._utils.memory import check_memory
from clusterforests._utils.random import integers, root_seed, stream
from clusterforests._utils.validation import choice
from clusterforests.backends import Backend, CpuBackend
from clusterforests.consensus.affinity import coassociate
from clusterforests.consensus.linkage import by_size
from clusterforests.table.checks import check_clustering
from paper.rivals.evidence_accumulation import all_features, kmeans_partitions
from paper.rivals.medoids import partition_around_medoids
from paper.rivals.njw import scale_to_unit

MAX_REDRAWS = 100


class BaggedClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Bagged clustering: cluster bootstrap samples, then cluster by how often they put rows together.

    The dissimilarity of two rows is 1 minus the share of bootstrap samples that put them together, among those that
    hold both; the rows are partitioned around medoids by it. As in the comparison of the Cluster Forests paper, the
    base clustering is K-means with as many clusters as the result; `base="medoids"` is the original method.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters of the result.
    n_estimators : int, default=100
        Number of bootstrap samples.
    base : {"kmeans", "medoids"}, default="kmeans"
        How a bootstrap sample is clustered.
    n_base_clusters : int or None, default=None
        Clusters of each bootstrap sample; None means `n_clusters`.
    n_init : int, default=20
        Random starts of each K-means.
    max_iter : int, default=200
        Maximum number of Lloyd iterations in each start.
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all cores. Does not change the result.
    random_state : int, RandomState, Generator or None, default=None
        Determines the samples and the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row; cluster 0 is the largest.
    partitions_ : ndarray of shape (n_estimators, n_samples)
        Labels in each bootstrap sample, -1 for rows that are not in it.
    n_iter_ : int
        Largest number of Lloyd iterations in a winning start.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had any.

    References
    ----------
    S. Dudoit, J. Fridlyand. Bagging to improve the accuracy of a clustering procedure. Bioinformatics 19 (2003),
    1090-1099.

    Examples
    --------
    >>> from paper.rivals import BaggedClustering
    >>> BaggedClustering(n_clusters=2, random_state=0).fit([[0.0], [1.0], [10.0], [11.0], [12.0]]).labels_
    array([1, 1, 0, 0, 0], dtype=int32)
    """

    labels_: IntArray
    n_iter_: int
    partitions_: IntArray

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_estimators: int = 100,
        base: str = "kmeans",
        n_base_clusters: int | None = None,
        n_init: int = 20,
        max_iter: int = 200,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_estimators = n_estimators
        self.base = base
        self.n_base_clusters = n_base_clusters
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
        self : BaggedClustering
        """
        X = check_clustering(self, X, {"base": choice("kmeans", "medoids")})
        check_memory(5 * 8 * len(X) ** 2, f"The dissimilarities of {len(X)} rows", "Use fewer rows.")
        backend = CpuBackend(self.n_jobs)
        seed = root_seed(self.random_state)
        self.n_iter_ = 1
        members = [self._cluster_sample(backend, X, seed, member) for member in range(self.n_estimators)]
        self.partitions_ = np.stack(members)
        distances = 1.0 - coassociate(backend, self.partitions_, self.partitions_)
        np.fill_diagonal(distances, 0.0)
        self.labels_ = by_size(partition_around_medoids(distances, self.n_clusters).labels)
        return self

    def _cluster_sample(self, backend: Backend, X: FloatArray, seed: int, member: int) -> IntArray:
        """Cluster one bootstrap sample; draw it again if it has fewer distinct rows than clusters."""
        clusters = self.n_clusters if self.n_base_clusters is None else self.n_base_clusters
        for redraw in range(MAX_REDRAWS):
            key = stream(seed, member, redraw)
            drawn = integers(stream(key[:, None], np.arange(len(X)))[0], len(X))
            times = np.bincount(drawn, minlength=len(X)).astype(np.float64)
            if self.base == "medoids":
                labels = _medoid_labels(X, np.sort(drawn), clusters)
                if labels is not None:
                    return labels
                continue
            backend.load(X, times)
            found = kmeans_partitions(backend, [all_features(X)], clusters, key, self.n_init, self.max_iter)
            if found is not None:
                self.n_iter_ = max(self.n_iter_, int(found.iterations[0]))
                in_sample: IntArray = found.labels[0]
                return in_sample
        name = "n_clusters" if self.n_base_clusters is None else "n_base_clusters"
        raise ValueError(
            f"{name}={clusters} is more than the distinct rows in each of {MAX_REDRAWS} bootstrap samples of X, which "
            f"hold about 63 % of its rows. Lower {name}."
        )


def _medoid_labels(X: FloatArray, drawn: IntArray, clusters: int) -> IntArray | None:
    """Partition the drawn rows around medoids; return None if too few of them are distinct."""
    rows = scale_to_unit(X[drawn])[0]
    if len(np.unique(rows, axis=0)) < clusters:
        return None
    labels = np.full(len(X), -1, dtype=np.int32)
    labels[drawn] = partition_around_medoids(cdist(rows, rows), clusters).labels
    return labels
