"""What the ways of combining partitions share: clusters as columns, coordinates and scores as groups."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from scipy.optimize import linear_sum_assignment

from clusterforests._base.random import stream
from clusterforests._base.typing import FloatArray, IntArray
from clusterforests.backends import Backend, CpuBackend, Effort, KMeansJobs


@dataclass(frozen=True)
class Incidence:
    """Every cluster of every partition as a column of zeros and ones; clusters without rows have none."""

    rows: scipy.sparse.csr_array  # (m, C): 1 where the row is in the cluster
    partitions: scipy.sparse.csr_array  # (T, C): 1 where the cluster is the partition's


def incidence(labels: IntArray) -> Incidence:
    """Of labels of shape (T, m), numbered from 0 in each partition; below zero means in no cluster."""
    widths = labels.max(axis=1).astype(np.int64) + 1
    names = labels + (np.cumsum(widths) - widths)[:, None]
    seen = labels >= 0
    used = np.bincount(names[seen], minlength=int(widths.sum())) > 0
    column = (np.cumsum(used) - 1)[names.T[seen.T]]
    starts = np.concatenate([[0], np.cumsum(seen.sum(axis=0))])
    owner = np.repeat(np.arange(len(labels)), widths)[used]
    clusters = np.arange(len(owner))
    rows = scipy.sparse.csr_array((np.ones(len(column)), column, starts), shape=(labels.shape[1], len(owner)))
    partitions = scipy.sparse.csr_array((np.ones(len(owner)), (owner, clusters)), shape=(len(labels), len(owner)))
    return Incidence(rows, partitions)


def kmeans_groups(backend: Backend, rows: FloatArray, weights: FloatArray, n_clusters: int) -> IntArray:
    """K-means on the rows of a spectral embedding."""
    side = CpuBackend(backend.threads)
    table = side.load(np.ascontiguousarray(rows), weights)
    features = [np.arange(rows.shape[1], dtype=np.int32)]
    jobs = KMeansJobs(features, np.array([n_clusters], np.int32), stream(0), 20, 200, Effort.IMPROVED)
    runs = side.kmeans(jobs)
    if not runs.solved[0]:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {table.n_distinct} different rows of the spectral "
            "embedding. Lower n_clusters."
        )
    labels: IntArray = side.assign(features, runs.centers)[0]
    return labels


def best_groups(scores: FloatArray, weights: FloatArray) -> IntArray:
    """The group with the highest score for each row, the lowest on ties, such that no group is empty.

    Among all such labellings the sum of weighted scores is the highest: each group claims a row of its own and the
    others are free, so what the claims cost is an assignment problem.
    """
    labels: IntArray = scores.argmax(axis=1).astype(np.int32)
    if len(np.unique(labels)) < scores.shape[1]:
        cost = weights[:, None] * (scores.max(axis=1, keepdims=True) - scores)
        claimed, groups = linear_sum_assignment(cost)
        labels[claimed] = groups
    return labels
