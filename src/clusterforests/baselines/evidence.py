"""Evidence accumulation (EA): Fred and Jain 2002."""

import math
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from clusterforests._base.parameters import check_parameters, choice, either, integer, none, real
from clusterforests._base.random import root_seed, stream
from clusterforests._base.typing import IntArray
from clusterforests.backends import CpuBackend, KMeansJobs
from clusterforests.baselines.linkage_step import join
from clusterforests.tables.checks import check_enough_rows, check_table


class EvidenceAccumulation(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Evidence accumulation: single linkage on how often rows land together in K-means runs from random starts.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters of the result where `threshold` is None; with a threshold, how many there are follows
        from it, and this is only the default of `base_clusters`.
    n_estimators : int, default=100
        Number of K-means runs.
    base_clusters : int, "sqrt" or None, default=None
        Clusters of each run; None means `n_clusters`, "sqrt" the root of the number of rows. The authors suggest the
        root; the Cluster Forests paper replaced it by `n_clusters` on most of its data.
    threshold : float or None, default=0.5
        Rows together in at least this share of the runs are joined, and so is whatever hangs together by them. None
        joins the nearest groups until `n_clusters` are left.
    n_init : int, default=1
        Random starts of each K-means: more make the runs, whose differences are the evidence, more alike.
    max_iter : int, default=200
        Most iterations of Lloyd in each start.
    n_jobs : int or None, default=None
        Number of threads; None means 1, -1 all cores. It never changes the result.
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
        Most iterations of Lloyd in a start that won.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had any.

    References
    ----------
    A. Fred, A. K. Jain. Data clustering using evidence accumulation. ICPR 2002, 276-280.

    Examples
    --------
    >>> from clusterforests.baselines import EvidenceAccumulation
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
        base_clusters: int | str | None = None,
        threshold: float | None = 0.5,
        n_init: int = 1,
        max_iter: int = 200,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_estimators = n_estimators
        self.base_clusters = base_clusters
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
        special = {"base_clusters": either(none(), integer(1), choice("sqrt")), "threshold": either(none(), real(0, 1))}
        check_parameters(vars(self), special)
        X = check_table(self, X)
        check_enough_rows(len(X), self.n_clusters)
        backend = CpuBackend(self.n_jobs)
        n_distinct = backend.load(X).n_distinct
        clusters = self._base_clusters(len(X))
        if n_distinct < clusters:
            name = "n_clusters" if self.base_clusters is None else "base_clusters"
            raise ValueError(
                f"{name}={clusters} is more than the number of distinct rows of X, {n_distinct}. Lower {name}."
            )
        features = [np.arange(X.shape[1], dtype=np.int32)] * self.n_estimators
        seeds = stream(root_seed(self.random_state), np.arange(self.n_estimators))
        sizes = np.full(self.n_estimators, clusters, dtype=np.int32)
        runs = backend.kmeans(KMeansJobs(features, sizes, seeds, self.n_init, self.max_iter))
        self.partitions_ = backend.assign(features, runs.centers)
        self.labels_ = join(backend, self.partitions_, self.n_clusters, "single", self.threshold)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.n_iter_ = int(runs.iterations.max())
        return self

    def _base_clusters(self, n_rows: int) -> int:
        if isinstance(self.base_clusters, str):
            return round(math.sqrt(n_rows))
        return int(self.n_clusters if self.base_clusters is None else self.base_clusters)
