"""One clustering from many partitions of the same rows: nodes, graph, cut, placement (Algorithm 3, lines 4 to 8)."""

from typing import Any, NamedTuple

import numpy as np

from clusterforests._utils.arrays import AnyArray, AnyIntArray, FloatArray, IndexArray, IntArray
from clusterforests._utils.validation import FOREST_RULES, MAX_MEMBERS, check_parameters, warn_caller
from clusterforests.backends import Backend, CpuBackend
from clusterforests.consensus.affinity import LIMITS, GraphLimits
from clusterforests.consensus.methods import METHOD_RULES, ConsensusGraph
from clusterforests.consensus.nodes import CutSettings, choose_nodes
from clusterforests.consensus.placement import Cut, Placement, place_rows
from clusterforests.table.checks import check_enough_rows, check_weights

FEW_LABELS = 2**18  # that are renumbered all at once


def consensus_clustering(
    partitions: Any,
    n_clusters: int,
    *,
    method: str = "kway",
    affinity_threshold: float | str = "auto",
    affinity_scale: float | str = "auto",
    n_landmarks: int | str | None = "auto",
    sample_weight: Any = None,
) -> IntArray:
    """Combine partitions of the same rows, from any source, into one.

    Parameters
    ----------
    partitions : array-like of shape (n_partitions, n_samples)
        Integer labels, one row for each partition. A negative label means "not clustered" there.
    n_clusters : int
        Number of clusters of the result.
    method : {"kway", "ncut", "gaps", "average", "average-trimmed", "medoid"}, default="kway"
        How the graph of the rows is cut: see `consensus` of `ClusterForest`, which has two more that need the values
        of the rows.
    affinity_threshold : float or "auto", default="auto"
        Shares of partitions below it count as 0. "auto" cuts nothing off, and instead gives pairs that are never
        together no link. Used by "kway" and "ncut".
    affinity_scale : float or "auto", default="auto"
        The graph's weights are exp(affinity_scale * share), at most 50; "auto" is a tenth of the number of partitions,
        at most 10. 0 takes the shares themselves, if `affinity_threshold` is "auto". Used where that is.
    n_landmarks : int, None or "auto", default="auto"
        The largest number of different rows of labels that are all nodes of the graph: see `ClusterForest`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows: a row of weight 3 counts like three equal rows. A row of weight 0 has no say and goes where
        its links with the others lead.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Cluster of each row; cluster 0 is the largest.

    Examples
    --------
    >>> from clusterforests import consensus_clustering
    >>> consensus_clustering([[0, 0, 1, 1, 1], [1, 1, 0, 0, 0], [0, 0, 0, -1, 1]], n_clusters=2)
    array([1, 1, 0, 0, 0], dtype=int32)
    """
    settings = CutSettings(n_clusters, method, affinity_threshold, affinity_scale, n_landmarks)
    rules = {**METHOD_RULES, "n_landmarks": FOREST_RULES["n_landmarks"]}
    check_parameters({name: value for name, value in settings._asdict().items() if name != "named"}, rules)
    labels = check_partitions(partitions)
    check_enough_rows(labels.shape[1], n_clusters)
    weights = check_weights(sample_weight, labels.shape[1])
    found = combine(CpuBackend(), labels, settings, weights)
    if found.cut.failed:
        warn_caller(f"method={method!r} chose among fewer cuts: {'; '.join(found.cut.failed)}.")
    return found.labels


class Combined(NamedTuple):
    """The consensus: labels of the rows, the rule by which new rows are placed, and how the graph was cut."""

    labels: IntArray
    placement: Placement
    cut: Cut
    n_landmarks: int | None  # None if the cut is exact


def combine(
    backend: Backend,
    partitions: AnyIntArray,
    settings: CutSettings,
    weights: FloatArray | None = None,
    *,
    seed: int = 0,
    limits: GraphLimits = LIMITS,
) -> Combined:
    """Combine labels of shape (T, n), where a label below zero means "not clustered"."""
    # Nodes are the different rows of labels, or landmarks that stand for them.
    nodes = choose_nodes(backend, partitions, weights, settings, seed, limits)
    # How often they are together makes the graph (lines 4 to 7), which is cut (line 8).
    cut = ConsensusGraph(backend, nodes.signatures, settings, limits).cut(settings.method)
    # Rows that are no nodes are placed: those of weight 0, which take no part, and those for which landmarks stand.
    placement, labels = place_rows(backend, nodes, cut, partitions, weights)
    return Combined(labels, placement, cut, nodes.n_landmarks)


def check_partitions(partitions: Any) -> IntArray:
    """Return the labels of each partition, renumbered from 0 as they appear; -1 where they are negative."""
    try:
        given = np.asarray(partitions)
    except ValueError as error:
        raise ValueError("partitions must all label the same number of rows.") from error
    if given.ndim != 2 or 0 in given.shape:
        raise ValueError(
            f"partitions must have shape (n_partitions, n_samples), both at least 1; it has shape {given.shape}."
        )
    if len(given) > MAX_MEMBERS:
        raise ValueError(f"partitions has {len(given)} members; at most {MAX_MEMBERS} are allowed.")
    if given.dtype.kind not in "biu":
        raise TypeError(f"partitions must hold integer labels, not {given.dtype}. Encode other labels as integers.")
    if given.size <= FEW_LABELS and int(given.min()) >= 0 and int(given.max()) < given.shape[1]:
        return _all_renumbered(given.astype(np.intp))
    labels = np.full(given.shape, -1, dtype=np.int32)
    for partition, out in zip(given, labels, strict=True):
        clustered = partition >= 0
        out[clustered] = _renumbered(partition[clustered])
    never = np.flatnonzero((labels < 0).all(axis=0))
    if len(never):
        raise ValueError(
            f"{len(never)} row(s) are not clustered in any partition, the first is row {never[0]}: nothing is known "
            "about them. Leave them out, or cluster them in at least one partition."
        )
    return labels


def _all_renumbered(labels: IndexArray) -> IntArray:
    """Do what `_renumbered` does for all partitions at once, which takes more memory but less time."""
    size, n = labels.shape
    width = int(labels.max()) + 1
    places = np.arange(size)[:, None] * width + labels
    first = np.full(size * width, n)
    first[places.ravel()[::-1]] = np.tile(np.arange(n), size)[::-1]  # of several writes to one place the last stays
    order = np.argsort(first.reshape(size, width), axis=1)
    rank = np.empty((size, width), dtype=np.int32)
    np.put_along_axis(rank, order, np.arange(width, dtype=np.int32)[None, :], axis=1)
    renumbered: IntArray = rank.ravel()[places]
    return renumbered


def _renumbered(labels: AnyArray) -> AnyArray:
    """Number the labels from 0 in the order in which they appear, so that their names do not matter."""
    if len(labels) == 0 or int(labels.max()) >= len(labels):  # only labels that are far apart are sorted
        labels = np.unique(labels, return_inverse=True)[1]
    first = np.full(int(labels.max(initial=-1)) + 1, len(labels))  # the row where each label appears first
    first[labels[::-1]] = np.arange(len(labels))[::-1]  # of several writes to one place the last stays
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first))
    renumbered: IntArray = rank[labels]
    return renumbered
