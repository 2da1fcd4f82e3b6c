"""Locally weighted evidence accumulation (LWEA) of Huang, Wang and Lai (IEEE Trans. Cybernetics 2018), plainly."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import cut_tree, linkage

THETA = 0.4  # the authors' setting
Labels = npt.NDArray[Any]


def locally_weighted(labels: Labels, k: int) -> Labels:
    """Cut average linkage of the weighted shares; `labels` has a base clustering in each row."""
    n_members, n_rows = labels.shape
    weights = np.stack([w[row] for w, row in zip(cluster_weights(labels), labels, strict=True)]).astype(np.float32)
    columns, by_row = np.ascontiguousarray(labels.T), np.ascontiguousarray(weights.T)
    distance = np.empty(n_rows * (n_rows - 1) // 2, dtype=np.float32)
    at = 0
    for i in range(n_rows - 1):
        shares = (columns[i + 1 :] == columns[i]) @ by_row[i] / n_members
        distance[at : at + len(shares)] = 1 - shares
        at += len(shares)
    return cut_tree(linkage(distance, "average"), n_clusters=k)[:, 0]


def cluster_weights(labels: Labels) -> list[npt.NDArray[np.float64]]:
    """Return exp(-H / (theta M)) for the clusters of each member, H their entropy summed over the M members."""
    sizes = labels.max(axis=1) + 1
    weights = []
    for own, size in zip(labels, sizes, strict=True):
        entropy = np.zeros(size)
        for other, other_size in zip(labels, sizes, strict=True):
            counts = np.bincount(own * other_size + other, minlength=size * other_size).reshape(size, other_size)
            share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
            entropy -= (share * np.log2(np.where(share > 0, share, 1))).sum(axis=1)
        weights.append(np.exp(-entropy / (THETA * len(labels))))
    return weights
