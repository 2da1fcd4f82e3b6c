"""K-means on the rows of a spectral embedding."""

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from clusterforests._base.random import stream
from clusterforests._base.typing import FloatArray, IntArray
from clusterforests.backends import Backend, CpuBackend, Effort, KMeansJobs

STARTS = 20
MANY_CLUSTERS = 100  # beyond, random rows hardly ever start in every cluster: starts are spread out instead


def kmeans_groups(
    backend: Backend, rows: FloatArray, weights: FloatArray, n_clusters: int, starts: int = STARTS
) -> IntArray:
    """Cluster the rows of an embedding, on the CPU and beside the table that the back end holds."""
    side = CpuBackend(backend.threads)
    table = side.load(np.ascontiguousarray(rows), weights)
    if n_clusters > MANY_CLUSTERS and table.n_distinct >= n_clusters:
        groups = _spread_start(rows, weights, n_clusters)
        if len(np.unique(groups)) == n_clusters:
            return groups
    features = [np.arange(rows.shape[1], dtype=np.int32)]
    jobs = KMeansJobs(features, np.array([n_clusters], np.int32), stream(0), starts, 200, Effort.IMPROVED)
    runs = side.kmeans(jobs)
    if not runs.solved[0]:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {table.n_distinct} different rows of the spectral "
            "embedding. Lower n_clusters."
        )
    labels: IntArray = side.assign(features, runs.centers)[0]
    return labels


def _spread_start(rows: FloatArray, weights: FloatArray, n_clusters: int) -> IntArray:
    """Run K-means once, from rows that are drawn far from each other (k-means++)."""
    with threadpool_limits(1):  # so that the last digit does not depend on the threads asked for
        found = KMeans(n_clusters, n_init=1, random_state=0).fit(rows, sample_weight=weights)
    groups: IntArray = found.labels_.astype(np.int32)
    return groups
