"""Clustering on random-forest proximities (Shi and Horvath 2006)."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.ensemble import RandomForestClassifier

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray, KeyArray
from clusterforests._utils.memory import check_memory
from clusterforests._utils.random import integers, root_seed, stream
from clusterforests._utils.validation import MAX_MEMBERS, integer
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import coassociate
from clusterforests.consensus.linkage import by_size
from clusterforests.table.checks import check_clustering
from paper.rivals.medoids import partition_around_medoids


class RandomForestProximity(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Partitioning around medoids by the proximities of random forests that tell the table from a shuffled copy.

    In the copy each column is drawn anew from its own values, so that the columns no longer depend on each other. A
    forest learns to tell the rows of the two apart. The proximity of two rows is the share of trees in which they end
    in the same leaf; rows are partitioned around medoids by sqrt(1 - proximity).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_estimators : int, default=100
        Number of trees in each forest.
    n_forests : int, default=5
        Number of forests, each with its own copy; their trees are pooled.
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all cores. Does not change the result.
    random_state : int, RandomState, Generator or None, default=None
        Determines the copies and the trees.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row; cluster 0 is the largest.
    medoid_indices_ : ndarray of shape (n_clusters,)
        The row in the middle of each cluster.
    partitions_ : ndarray of shape (n_forests * n_estimators, n_samples)
        Leaf of each row in each tree, numbered from 0.
    feature_importances_ : ndarray of shape (`n_features_in_`,)
        Importance of each feature for telling the table from the copy, averaged over the forests.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had any.

    References
    ----------
    T. Shi, S. Horvath. Unsupervised learning with random forest predictors. Journal of Computational and Graphical
    Statistics 15 (2006), 118-138.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from paper.rivals import RandomForestProximity
    >>> X, y = load_wine(return_X_y=True)
    >>> RandomForestProximity(n_clusters=3, n_estimators=20, random_state=0).fit_predict(X).shape
    (178,)
    """

    labels_: IntArray
    medoid_indices_: IndexArray
    partitions_: IntArray
    feature_importances_: FloatArray

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_estimators: int = 100,
        n_forests: int = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_estimators = n_estimators
        self.n_forests = n_forests
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, all finite: an array, or a pandas or polars frame. Rows are samples.
        y : ignored

        Returns
        -------
        self : RandomForestProximity
        """
        X = check_clustering(self, X, {"n_forests": integer(1)})
        if self.n_forests * self.n_estimators > MAX_MEMBERS:
            raise ValueError(
                f"n_forests={self.n_forests} times n_estimators={self.n_estimators} must be at most {MAX_MEMBERS}."
            )
        check_memory(4 * 8 * len(X) ** 2, f"The proximities of {len(X)} rows", "Use fewer rows.")
        # Trees see only the order of values, in float32: with ranks, neither scale nor offset costs digits.
        X = np.stack([np.unique(column, return_inverse=True)[1] for column in X.T], axis=1).astype(np.float64)
        seed = root_seed(self.random_state)
        forests = [self._grow(X, stream(seed, forest)) for forest in range(self.n_forests)]
        leaves = np.concatenate([forest.apply(X).T for forest in forests])
        self.partitions_ = np.array([np.unique(tree, return_inverse=True)[1] for tree in leaves], dtype=np.int32)
        self.feature_importances_ = np.mean([forest.feature_importances_ for forest in forests], axis=0)
        proximity = coassociate(CpuBackend(self.n_jobs), self.partitions_, self.partitions_)
        found = partition_around_medoids(np.sqrt(1.0 - proximity), int(self.n_clusters))
        self.labels_ = by_size(found.labels)
        self.medoid_indices_ = found.medoids[np.argsort(self.labels_[found.medoids])]
        return self

    def _grow(self, X: FloatArray, key: KeyArray) -> RandomForestClassifier:
        """Grow a forest that tells X from a copy with independent columns."""
        n, p = X.shape
        rows = integers(stream(key, 0, np.arange(n)[:, None], np.arange(p)), n)
        both = np.concatenate([X, np.take_along_axis(X, rows, axis=0)])
        forest = RandomForestClassifier(
            self.n_estimators, n_jobs=self.n_jobs, random_state=int(stream(key, 1)[0] >> np.uint64(32))
        )
        return forest.fit(both, np.repeat([0, 1], n))
