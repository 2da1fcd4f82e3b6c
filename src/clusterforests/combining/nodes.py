"""Choose the nodes of the consensus graph: the different rows of labels, or landmarks that stand for them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from clusterforests._base.typing import AnyIntArray, FloatArray, IndexArray, IntArray
from clusterforests.backends import Backend
from clusterforests.backends.label_tables import hash_columns
from clusterforests.combining.affinity import Signatures, collapse
from clusterforests.combining.landmarks import choose_landmarks
from clusterforests.combining.placement import find_columns, label_blocks
from clusterforests.combining.registry import works_without_matrix
from clusterforests.combining.settings import LIMITS, CutSettings, GraphLimits
from clusterforests.tables.distinct_rows import DistinctRows
from clusterforests.tables.row_sampling import draw_rows


@dataclass(frozen=True)
class Nodes:
    """The nodes, and the rows of labels that they stand for."""

    signatures: Signatures
    every: Signatures | None = None  # all different rows of labels; None if there are too many rows to tell
    exact: bool = False  # every signature that has a weight is a node

    @property
    def n_landmarks(self) -> int | None:
        """The number of nodes, None if the cut is exact."""
        return None if self.exact else len(self.signatures)


def choose_nodes(
    backend: Backend,
    partitions: AnyIntArray,
    weights: FloatArray | None,
    settings: CutSettings,
    seed: int,
    limits: GraphLimits = LIMITS,
) -> Nodes:
    """Choose the nodes for partitions of shape (T, n)."""
    landmarks, n_clusters = settings.landmarks, settings.n_clusters
    if landmarks is not None and partitions.shape[1] > limits.collapsed:
        pool = sample_pool(partitions, weights, landmarks, seed, limits)
        sample = collapse(_int32(partitions[:, pool.rows]), pool.weights)
        return choose_sampled_nodes(backend, sample, settings, seed, limits)
    check_landmarks(landmarks, n_clusters)
    every = collapse(_int32(partitions), weights)
    counted = _with_weight(every)
    most = _most_exact(settings, limits)
    if most is None or len(counted) <= most:
        return _enough(Nodes(counted, every, exact=True), n_clusters)
    count = limits.landmarks if landmarks == "auto" else most
    return _enough(Nodes(choose_landmarks(backend, counted, count, seed), every), n_clusters)


def choose_sampled_nodes(
    backend: Backend, sample: Signatures, settings: CutSettings, seed: int, limits: GraphLimits = LIMITS
) -> Nodes:
    """Choose landmarks from a sample of too many rows to compare all."""
    check_landmarks(settings.landmarks, settings.n_clusters)
    count = limits.landmarks if settings.landmarks in ("auto", None) else int(settings.landmarks)
    signatures = sample
    if len(sample) > count:
        signatures = choose_landmarks(backend, sample, count, seed, sampled=True)
    return _enough(Nodes(signatures), settings.n_clusters, f" in a sample of {len(sample.inverse)} rows")


def with_values(
    nodes: Nodes, labels: AnyIntArray, weights: FloatArray | None, scaled: Callable[[IndexArray], FloatArray]
) -> Nodes:
    """Give every node the mean of the rows that have its labels, if there are such rows for each.

    Parameters
    ----------
    labels, weights
        Those of the rows of a sample: (T, n), and (n,) or None.
    scaled : callable
        Its scaled values of the rows with these numbers.
    """
    known = nodes.signatures
    node = np.concatenate([find_columns(known.labels, block) for _, block in label_blocks(labels)])
    rows = np.flatnonzero(node >= 0 if weights is None else (node >= 0) & (weights > 0))
    node = node[rows]
    if len(np.unique(node)) < len(known):
        return nodes
    values = scaled(rows)
    order = np.lexsort((*values.T[::-1], node))  # The order of the rows must not show in the sums.
    share = np.ones(len(rows)) if weights is None else weights[rows]
    first = np.flatnonzero(np.diff(node[order], prepend=-1))
    sums = np.add.reduceat((share[:, None] * values)[order], first, axis=0)
    means = sums / np.add.reduceat(share[order], first)[:, None]
    return replace(nodes, signatures=replace(known, values=means))


def known_nodes(
    signatures: Signatures,
    partitions: AnyIntArray,
    weights: FloatArray | None,
    *,
    exact: bool,
    limits: GraphLimits = LIMITS,
) -> Nodes:
    """Take nodes that were chosen before, and the rows of labels that they stand for, to cut them again."""
    compared = exact or partitions.shape[1] <= limits.collapsed
    every = collapse(_int32(partitions), weights) if compared else None
    return Nodes(signatures, every, exact)


def check_landmarks(landmarks: int | str | None, n_clusters: int) -> None:
    """Refuse fewer landmarks than clusters."""
    if isinstance(landmarks, (int, np.integer)) and landmarks < n_clusters:
        raise ValueError(
            f"landmarks={landmarks} is less than n_clusters={n_clusters}. Raise it, or leave it at 'auto'."
        )


def sample_pool(
    partitions: AnyIntArray,
    weights: FloatArray | None,
    landmarks: int | str | None,
    seed: int,
    limits: GraphLimits = LIMITS,
) -> DistinctRows:
    """Draw different rows of labels from which landmarks are chosen."""
    keys = np.concatenate([hash_columns(block) for _, block in label_blocks(partitions)])
    asked = landmarks if isinstance(landmarks, (int, np.integer)) else 0
    return draw_rows(keys, weights, max(limits.pool, asked), seed)


def _enough(nodes: Nodes, n_clusters: int, where: str = "") -> Nodes:
    check_enough_nodes(len(nodes.signatures), n_clusters, where)
    return nodes


def check_enough_nodes(found: int, n_clusters: int, where: str = "") -> None:
    """Refuse fewer nodes than clusters."""
    if found < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {found} groups of rows that the partitions tell apart{where}. "
            "Lower n_clusters, or raise base_clusters or n_estimators."
        )


def _most_exact(settings: CutSettings, limits: GraphLimits) -> int | None:
    """Find the number of signatures up to which each of them is a node; None means always."""
    if settings.landmarks != "auto":
        return None if settings.landmarks is None else int(settings.landmarks)
    without_matrix = settings.named and works_without_matrix(settings.method)
    return limits.exact_without_matrix if without_matrix else limits.exact


def _with_weight(every: Signatures) -> Signatures:
    """Keep the signatures of rows that have a weight."""
    counted = np.flatnonzero(every.weights > 0)
    if len(counted) == len(every):
        return every
    return Signatures(np.ascontiguousarray(every.labels[:, counted]), np.arange(len(counted)), every.weights[counted])


def _int32(labels: AnyIntArray) -> IntArray:
    return labels.astype(np.int32, copy=False)
