"""K-means partitions, one per seed: what most baselines combine."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from clusterforests._base.typing import FloatArray, IntArray, KeyArray
from clusterforests.backends import Backend, KMeansJobs


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
