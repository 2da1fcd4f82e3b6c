"""Choose the nodes of the consensus graph: the different rows of labels, or landmarks that stand for them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from clusterforests import _core
from clusterforests._utils.arrays import AnyIntArray, FloatArray, IndexArray, IntArray, KeyArray
from clusterforests._utils.portable_math import exponential
from clusterforests._utils.random import Purpose, stream, uniform
from clusterforests.backends import Backend
from clusterforests.consensus.affinity import (
    LIMITS,
    GraphLimits,
    Inside,
    Signatures,
    coassociate,
    collapse,
    find_columns,
    label_blocks,
)
from clusterforests.table.feature_columns import DistinctRows
from clusterforests.table.row_sampling import draw_rows


class CutSettings(NamedTuple):
    """How the graph is cut: what the user sets, see `consensus_clustering`."""

    n_clusters: int
    method: str
    affinity_threshold: float | str = "auto"
    affinity_scale: float | str = "auto"
    n_landmarks: int | str | None = "auto"
    named: bool = True  # False if the method was chosen for the user, who did not ask for an exact cut of many rows


def works_without_matrix(method: str) -> bool:
    """Say whether the method can cut a graph that is too large for a matrix."""
    return method in ("ncut", "kway", "refined")


# Landmarks: some rows of labels that stand for all of them, each with the weight of those nearest to it.

WAVES = 4  # in which the second half of the landmarks is drawn, each from what is not covered yet
PAIRS_AT_A_TIME = 2048  # compared
COMPARED_ROWS = 512  # rows compared with the landmarks at a time: few, so that memory for their shares is used again


class Picked(NamedTuple):
    """Signatures that stand for all, the number of the one that each signature is nearest to, and their weights."""

    chosen: IndexArray
    nearest: IndexArray
    weights: FloatArray


class Nearest(NamedTuple):
    """For each signature the one with the highest P among some, the first on ties, and that P."""

    signature: IndexArray
    share: FloatArray

    def merge(self, other: "Nearest") -> "Nearest":
        """Find the nearest among those of both."""
        before = (other.share == self.share) & (other.signature < self.signature)
        nearer = (other.share > self.share) | before
        return Nearest(np.where(nearer, other.signature, self.signature), np.maximum(self.share, other.share))


def choose_landmarks(
    backend: Backend, signatures: Signatures, count: int, seed: int, *, sampled: bool = False
) -> Signatures:
    """Choose `count` of the signatures and give them the weights of all.

    If the signatures are `sampled`, each of them stands for others like it. Half of the landmarks are drawn by
    weight, the others with a preference for what is far from all chosen so far, so that a small group that is unlike
    the rest is represented.
    """
    chosen, nearest, weights = pick_landmarks(backend, signatures, count, seed)
    labels = np.ascontiguousarray(signatures.labels[:, chosen])
    inside = _inside(signatures, nearest, weights, sampled)
    return Signatures(labels, np.arange(len(chosen)), weights, inside)


def pick_landmarks(backend: Backend, signatures: Signatures, count: int, seed: int) -> Picked:
    """Pick the signatures that are landmarks."""
    # Half of them by weight.
    half = count - count // 2
    chosen = np.sort(_draw(signatures.weights, half, np.empty(0, np.intp), stream(seed, Purpose.LANDMARKS, 0)))
    found = _nearest(backend, signatures, chosen)
    # The others where nothing is near yet, in waves that see what those before them cover.
    for wave in range(WAVES):
        missing = count - len(chosen)
        share = -(-missing // (WAVES - wave))
        far = signatures.weights * np.square(np.square(1.0 - found.share))
        more = np.sort(_draw(far, share, chosen, stream(seed, Purpose.LANDMARKS, wave + 1)))
        found = found.merge(_nearest(backend, signatures, more))
        chosen = np.concatenate([chosen, more])
    # Each stands for the signatures that are nearest to it, and has their weight.
    chosen = np.sort(chosen)
    nearest = np.searchsorted(chosen, found.signature)
    nearest[chosen] = np.arange(len(chosen))
    weights = np.bincount(nearest, signatures.weights, minlength=len(chosen)).astype(np.float64)
    return Picked(chosen, nearest, weights)


def _inside(signatures: Signatures, nearest: IndexArray, weights: FloatArray, sampled: bool) -> Inside:
    """Estimate the pairs inside each landmark by comparing each of its signatures with the next."""
    order = np.argsort(nearest, kind="stable")
    cell = nearest[order]
    first = np.flatnonzero(np.diff(cell, prepend=-1))
    following = np.arange(1, len(order) + 1)
    following[np.append(first[1:], len(order)) - 1] = first  # A landmark's last signature is followed by its first.
    P = _shares(signatures.labels, order, order[following])
    several = np.bincount(cell, minlength=len(weights)) > 1
    mean = np.bincount(cell, P, minlength=len(weights)) / np.bincount(cell, minlength=len(weights))
    mean[~several] = mean[several].mean() if several.any() else 1.0
    alike = signatures.weights**2 - signatures.weights * sampled
    same = np.bincount(nearest, alike, minlength=len(weights)).clip(min=0) / weights**2
    return Inside(same, mean)


def _shares(labels: IntArray, a: IndexArray, b: IndexArray) -> FloatArray:
    """Compute P of the pairs (a[i], b[i])."""
    rows, shares = np.ascontiguousarray(labels.T), np.zeros(len(a))
    for start in range(0, len(a), PAIRS_AT_A_TIME):
        some = slice(start, start + PAIRS_AT_A_TIME)
        x, y = rows[a[some]], rows[b[some]]
        known = (x >= 0) & (y >= 0)
        together, both = np.count_nonzero(known & (x == y), axis=1), np.count_nonzero(known, axis=1)
        np.divide(together, both, out=shares[some], where=both > 0)
    return shares


def _draw(preference: FloatArray, count: int, taken: IndexArray, key: KeyArray) -> IndexArray:
    """Draw without replacement in proportion to the preference; without any only if nothing else is left."""
    waiting = exponential(uniform(stream(key, np.arange(len(preference)))))
    with np.errstate(divide="ignore", invalid="ignore"):
        arrival = np.where(preference > 0, waiting / preference, np.inf)
    arrival[taken] = np.nan  # NaN is sorted last.
    return np.argsort(arrival, kind="stable")[:count]


def _nearest(backend: Backend, signatures: Signatures, chosen: IndexArray) -> Nearest:
    """Find for each signature the nearest of those chosen, whose numbers ascend."""
    if not len(chosen):
        return Nearest(np.full(len(signatures), len(signatures)), np.full(len(signatures), -1.0))
    landmarks = np.ascontiguousarray(signatures.labels[:, chosen])
    if signatures.labels.min(initial=0) < 0:
        return _nearest_with_missing_labels(backend, signatures, chosen, landmarks)
    place, matches = backend.most_matched(signatures.labels, landmarks)
    return Nearest(chosen[place], matches / len(landmarks))


def _nearest_with_missing_labels(
    backend: Backend, signatures: Signatures, chosen: IndexArray, landmarks: IntArray
) -> Nearest:
    """Find the same where rows are not clustered in all partitions."""
    found = Nearest(np.empty(len(signatures), np.intp), np.empty(len(signatures)))
    for start in range(0, len(signatures), COMPARED_ROWS):
        some = slice(start, start + COMPARED_ROWS)
        P = coassociate(backend, np.ascontiguousarray(signatures.labels[:, some]), landmarks)
        found.signature[some] = chosen[P.argmax(axis=1)]
        found.share[some] = P.max(axis=1)
    return found


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
    n_landmarks, n_clusters = settings.n_landmarks, settings.n_clusters
    if n_landmarks is not None and partitions.shape[1] > limits.collapsed:
        # There are too many rows to compare all: landmarks are chosen from a sample of different ones.
        pool = sample_pool(partitions, weights, n_landmarks, seed, limits)
        sample = collapse(_int32(partitions[:, pool.rows]), pool.weights)
        return choose_sampled_nodes(backend, sample, settings, seed, limits)
    check_landmarks(n_landmarks, n_clusters)
    # Rows with equal labels are one node, as long as there are few enough of them.
    every = collapse(_int32(partitions), weights)
    counted = _with_weight(every)
    most = _most_exact(settings, limits)
    if most is None or len(counted) <= most:
        return _enough(Nodes(counted, every, exact=True), n_clusters)
    count = limits.landmarks if n_landmarks == "auto" else most
    return _enough(Nodes(choose_landmarks(backend, counted, count, seed), every), n_clusters)


def choose_sampled_nodes(
    backend: Backend, sample: Signatures, settings: CutSettings, seed: int, limits: GraphLimits = LIMITS
) -> Nodes:
    """Choose landmarks from a sample of too many rows to compare all."""
    check_landmarks(settings.n_landmarks, settings.n_clusters)
    count = limits.landmarks if settings.n_landmarks in ("auto", None) else int(settings.n_landmarks)
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


def check_landmarks(n_landmarks: int | str | None, n_clusters: int) -> None:
    """Refuse fewer landmarks than clusters."""
    if isinstance(n_landmarks, (int, np.integer)) and n_landmarks < n_clusters:
        raise ValueError(
            f"n_landmarks={n_landmarks} is less than n_clusters={n_clusters}. Raise it, or leave it at 'auto'."
        )


def sample_pool(
    partitions: AnyIntArray,
    weights: FloatArray | None,
    n_landmarks: int | str | None,
    seed: int,
    limits: GraphLimits = LIMITS,
) -> DistinctRows:
    """Draw different rows of labels from which landmarks are chosen."""
    keys = np.concatenate([_core.column_keys(block) for _, block in label_blocks(partitions)])
    asked = n_landmarks if isinstance(n_landmarks, (int, np.integer)) else 0
    return draw_rows(keys, weights, max(limits.pool, asked), seed)


def _enough(nodes: Nodes, n_clusters: int, where: str = "") -> Nodes:
    check_enough_nodes(len(nodes.signatures), n_clusters, where)
    return nodes


def check_enough_nodes(found: int, n_clusters: int, where: str = "") -> None:
    """Refuse fewer nodes than clusters."""
    if found < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {found} groups of rows that the partitions tell apart{where}. "
            "Lower n_clusters, or raise n_base_clusters or n_estimators."
        )


def _most_exact(settings: CutSettings, limits: GraphLimits) -> int | None:
    """Find the number of signatures up to which each of them is a node; None means always."""
    if settings.n_landmarks != "auto":
        return None if settings.n_landmarks is None else int(settings.n_landmarks)
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
