"""K-means on the rows of a spectral embedding."""

import numpy as np

from clusterforests._base.random import stream
from clusterforests._base.typing import FloatArray, IntArray
from clusterforests.backends import Backend, CpuBackend, Effort, KMeansJobs

STARTS = 20
STARTED_CENTERS = 2000  # in all starts together: beyond 100 clusters there are fewer starts, down to 2


def starts_for(n_clusters: int) -> int:
    """Choose the number of random starts. The time of one grows with the square of the number of clusters."""
    return max(2, min(STARTS, STARTED_CENTERS // n_clusters))


def kmeans_groups(
    backend: Backend, rows: FloatArray, weights: FloatArray, n_clusters: int, starts: int | None = None
) -> IntArray:
    """Cluster the rows of an embedding, on the CPU and beside the table that the back end holds."""
    starts = starts_for(n_clusters) if starts is None else starts
    side = CpuBackend(backend.threads)
    table = side.load(np.ascontiguousarray(rows), weights)
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
