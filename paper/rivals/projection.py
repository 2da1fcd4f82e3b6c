"""Random projection ensembles (RP): Fern and Brodley 2003."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from clusterforests._utils.arrays import FloatArray, IntArray
from clusterforests._utils.random import root_seed, stream
from clusterforests._utils.validation import choice, either, integer, none, real
from clusterforests.backends import Backend, CpuBackend
from clusterforests.table.checks import check_clustering
from paper.rivals.evidence_accumulation import kmeans_partitions, link_by_coassociation
from paper.rivals.njw import scale_to_unit


class RandomProjectionEnsemble(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Random projection ensemble: linkage on how often rows land together in K-means of random projections.

    As in the comparison of the Cluster Forests paper, the base clustering is K-means (the original has a Gaussian
    mixture) and the linkage is single (the original has complete linkage). The dimension is fixed here; the paper
    searches for it from five upwards by the score against the true labels, which only an experiment can do.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters of each K-means, and of the result if `threshold` is None.
    n_estimators : int, default=100
        Number of projections.
    n_components : int, default=5
        Number of dimensions that rows are projected to.
    linkage : {"single", "average"}, default="single"
        How groups are joined.
    threshold : float or None, default=None
        Rows that are together in at least this share of the projections are joined (single linkage only). None joins
        the nearest groups until `n_clusters` are left.
    n_init : int, default=20
        Random starts of each K-means.
    max_iter : int, default=200
        Maximum number of Lloyd iterations in each start.
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all cores. Does not change the result.
    random_state : int, RandomState, Generator or None, default=None
        Determines the projections and the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row; cluster 0 is the largest.
    n_clusters_ : int
        Number of clusters found.
    partitions_ : ndarray of shape (n_estimators, n_samples)
        Labels in each projection.
    n_iter_ : int
        Largest number of Lloyd iterations in a winning start.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had any.

    References
    ----------
    X. Z. Fern, C. E. Brodley. Random projection for high dimensional data clustering: a cluster ensemble approach.
    ICML 2003, 186-193.

    Examples
    --------
    >>> from paper.rivals import RandomProjectionEnsemble
    >>> X = [[0.0, 0.0], [1.0, 0.0], [10.0, 9.0], [11.0, 9.0], [12.0, 10.0]]
    >>> RandomProjectionEnsemble(n_clusters=2, random_state=0).fit(X).labels_
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
        n_components: int = 5,
        linkage: str = "single",
        threshold: float | None = None,
        n_init: int = 20,
        max_iter: int = 200,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_estimators = n_estimators
        self.n_components = n_components
        self.linkage = linkage
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
        self : RandomProjectionEnsemble
        """
        special = {
            "n_components": integer(1),
            "linkage": choice("single", "average"),
            "threshold": either(none(), real(0, 1)),
        }
        X = check_clustering(self, X, special)
        if self.threshold is not None and self.linkage != "single":
            raise ValueError(
                f"threshold={self.threshold} needs linkage='single', not {self.linkage!r}. Set threshold=None to join "
                "until n_clusters are left."
            )
        backend = CpuBackend(self.n_jobs)
        self.partitions_ = self._cluster_projections(backend, X, root_seed(self.random_state))
        self.labels_ = link_by_coassociation(backend, self.partitions_, self.n_clusters, self.linkage, self.threshold)
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    def _cluster_projections(self, backend: Backend, X: FloatArray, seed: int) -> IntArray:
        """Cluster all projections, which lie side by side in one table, by one call."""
        members, d = self.n_estimators, self.n_components
        directions = np.random.default_rng(seed).normal(size=(members, X.shape[1], d))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        # The rows are scaled so that nothing overflows, and centred so that a large offset costs no digits.
        rows = scale_to_unit(X)[0]
        rows -= rows.mean(axis=0)
        rows /= np.abs(rows).max() or 1.0
        # The last digits of a BLAS product depend on the number of threads, and so would everything that follows.
        projected = backend.multiply(rows, directions.transpose(0, 2, 1).reshape(members * d, -1))
        backend.load(np.ascontiguousarray(projected.T))
        features = list(np.arange(members * d, dtype=np.int32).reshape(members, d))
        seeds = stream(seed, np.arange(members))
        found = kmeans_partitions(backend, features, self.n_clusters, seeds, self.n_init, self.max_iter)
        if found is None:
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the number of distinct rows of X. Lower n_clusters."
            )
        self.n_iter_ = int(found.iterations.max())
        return found.labels
