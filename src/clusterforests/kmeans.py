"""An estimator of K-means: many random starts, finished by Hartigan's moves of single rows."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from clusterforests._utils.arrays import FloatArray, IntArray
from clusterforests._utils.random import root_seed
from clusterforests._utils.validation import warn_caller
from clusterforests.backends import Effort
from clusterforests.backends.cpu import fit_kmeans
from clusterforests.table.checks import check_clustering, check_numbers, check_weights


class HartiganWongKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """K-means whose result no single row can improve by changing its cluster.

    Lloyd's iteration searches in float32 from many random starts; the best results are finished in float64 by moving
    single rows, which is the stopping rule of the Hartigan-Wong algorithm. A single feature is solved by dynamic
    programming, which is exact up to the precision of float64.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters. If there are fewer distinct rows, each becomes a cluster, with a warning.
    n_init : int, default=20
        Number of random starts, each from `n_clusters` distinct rows.
    max_iter : int, default=200
        Maximum number of Lloyd iterations in each start. The single-row moves that follow always run to their end.
    improve : bool, default=True
        Whether to try to improve the best result by moving one centre elsewhere, in up to twice as many attempts as
        there were starts; if a quarter of the starts agree on the best result, this is skipped. False means plain
        restarts, as in R's `kmeans`.
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all cores that the process may use, or 1 inside a worker of joblib or a
        task of Dask. Does not change the result.
    random_state : int, RandomState, Generator or None, default=None
        Determines the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row; cluster 0 is the largest.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means of the clusters.
    inertia_ : float
        Sum of the squared distances of the rows to their centres, weighted by `sample_weight`.
    n_iter_ : int
        Number of Lloyd iterations in the winning start.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had any.

    Examples
    --------
    >>> from clusterforests import HartiganWongKMeans
    >>> HartiganWongKMeans(n_clusters=2, random_state=0).fit([[0.0], [1.0], [10.0], [11.0], [12.0]]).labels_
    array([1, 1, 0, 0, 0], dtype=int32)
    """

    labels_: IntArray
    cluster_centers_: FloatArray
    inertia_: float
    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 20,
        max_iter: int = 200,
        improve: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.improve = improve
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, all finite. Rows are samples.
        y : ignored
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a row of weight 3 counts like three equal rows, one of weight 0 not at all.

        Returns
        -------
        self : HartiganWongKMeans
        """
        # Check the parameters and the table.
        X = check_clustering(self, X)
        weights = check_weights(sample_weight, len(X))

        # Solve from every start; the core keeps the best solution.
        fit = fit_kmeans(
            X,
            weights,
            n_clusters=self.n_clusters,
            seed=root_seed(self.random_state),
            n_init=self.n_init,
            max_iter=self.max_iter,
            effort=Effort.IMPROVED if self.improve else Effort.POLISHED,
            n_jobs=self.n_jobs,
        )

        # Too few different rows are clusters of one each; rows that the core cannot tell apart are refused.
        if fit.n_distinct < self.n_clusters:
            warn_caller(
                f"X has {fit.n_distinct} distinct rows, fewer than n_clusters={self.n_clusters}: each becomes a "
                "cluster.",
                ConvergenceWarning,
            )
        if not fit.solved:
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the rows of X that float64 can tell apart at the scale of "
                "the largest values. Lower n_clusters, or rescale the columns."
            )

        # Set the attributes. Distances are computed from centres in the core's units, so that none overflows.
        self._exponent, self._origin, self._scale = fit.exponent, fit.origin, fit.scale
        self._relative_centers = fit.places
        self.cluster_centers_ = fit.centers
        self.inertia_ = fit.within
        self.n_iter_ = fit.iterations
        self.labels_ = fit.labels
        return self

    def predict(self, X: Any) -> IntArray:
        """Find the nearest centre of each row of X; ties go to the lowest index.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        labels: IntArray = self._squared_distances(X).argmin(axis=1).astype(np.int32)
        return labels

    def transform(self, X: Any) -> FloatArray:
        """Compute the distances of each row of X to the centres.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        distances : ndarray of shape (n_samples, n_clusters)
        """
        return np.ldexp(np.sqrt(self._squared_distances(X)), self._scale)

    def _squared_distances(self, X: Any) -> FloatArray:
        """Compute squared distances in units of 4**scale, so that none overflows or underflows at any scale of X."""
        check_is_fitted(self)
        X = check_numbers(self, X, reset=False)
        unit = self._exponent - self._scale
        rows = np.ldexp(np.ldexp(X, -self._exponent) - self._origin, unit)
        centers = np.ldexp(self._relative_centers, unit)
        return np.stack([((rows - center) ** 2).sum(axis=1) for center in centers], axis=1)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)
