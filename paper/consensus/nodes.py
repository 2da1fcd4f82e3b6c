"""What the consensus functions share: partitions as weighted nodes, and their clusters as columns of zeros and ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from scipy.optimize import linear_sum_assignment

from clusterforests._utils.arrays import FloatArray, IntArray
from clusterforests._utils.validation import check_parameters
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import Signatures, check_pairs, coassociate, collapse
from clusterforests.consensus.consensus_clustering import check_partitions
from clusterforests.consensus.linkage import by_size
from clusterforests.consensus.nodes import check_enough_nodes
from clusterforests.table.checks import check_enough_rows


def nodes_of(partitions: Any, n_clusters: int) -> Signatures:
    """Check partitions, and keep rows with the same labels once."""
    check_parameters({"n_clusters": n_clusters})
    labels = check_partitions(partitions)
    check_enough_rows(labels.shape[1], n_clusters)
    nodes = collapse(labels)
    check_enough_nodes(len(nodes), n_clusters)
    return nodes


def labels_of(nodes: Signatures, groups: IntArray) -> IntArray:
    """Give rows the groups of their nodes, largest first."""
    return by_size(groups, nodes.weights)[nodes.inverse]


def shares(nodes: Signatures) -> FloatArray:
    """Compute P between the nodes, 1 on the diagonal."""
    check_pairs(nodes)
    P = coassociate(CpuBackend(), nodes.labels, nodes.labels)
    np.fill_diagonal(P, 1.0)
    return P


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


def best_nonempty_groups(scores: FloatArray, weights: FloatArray) -> IntArray:
    """Give each row the group with its highest score, the first on ties, but leave no group empty.

    Of all labellings without an empty group this one has the highest sum of weighted scores: each group claims one row
    and the others are free, so the cost of the claims is an assignment problem.
    """
    labels: IntArray = scores.argmax(axis=1).astype(np.int32)
    if len(np.unique(labels)) < scores.shape[1]:
        cost = weights[:, None] * (scores.max(axis=1, keepdims=True) - scores)
        claimed, groups = linear_sum_assignment(cost)
        labels[claimed] = groups
    return labels
