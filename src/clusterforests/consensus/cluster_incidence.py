"""The clusters of all partitions as columns of zeros and ones."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from clusterforests._utils.arrays import IntArray


@dataclass(frozen=True)
class Incidence:
    """Every cluster of every partition as a column of zeros and ones; clusters without rows have none."""

    rows: scipy.sparse.csr_array  # (m, C): 1 where the row is in the cluster
    partitions: scipy.sparse.csr_array  # (T, C): 1 where the cluster is the partition's


def incidence(labels: IntArray) -> Incidence:
    """List the clusters of labels (T, m), numbered from 0 in each partition; below zero means in no cluster."""
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
