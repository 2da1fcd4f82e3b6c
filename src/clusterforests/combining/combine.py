"""One clustering from many partitions: choose nodes, cut their graph, place the rows (Algorithm 3, lines 4 to 8)."""

from typing import NamedTuple

import numpy as np

from clusterforests._base.typing import AnyIntArray, FloatArray, IntArray
from clusterforests.backends import Backend
from clusterforests.combining.cut import ConsensusGraph, KeptCut, cut_graph, place_by
from clusterforests.combining.nodes import Nodes, choose_nodes
from clusterforests.combining.placement import Placement, settle
from clusterforests.combining.settings import LIMITS, CutSettings, GraphLimits


class Combined(NamedTuple):
    """The consensus: labels of the rows, the rule by which new rows are placed, and how the graph was cut."""

    labels: IntArray  # an array of Dask if the rows are in one
    placement: Placement
    kept: KeptCut
    n_landmarks: int | None  # None if the cut is exact


def combine(
    backend: Backend,
    partitions: AnyIntArray,
    n_clusters: int,
    method: str,
    threshold: float | str,
    sharpness: float | str,
    weights: FloatArray | None = None,
    *,
    landmarks: int | str | None = "auto",
    seed: int = 0,
    limits: GraphLimits = LIMITS,
) -> Combined:
    """Combine labels of shape (T, n), where a label below zero means "not clustered".

    The graph is that of the different rows of labels, or of landmarks that stand for them. Rows that are no nodes are
    placed: those of weight 0, which take no part, and those for which landmarks stand.
    """
    settings = CutSettings(n_clusters, method, threshold, sharpness, landmarks)
    nodes = choose_nodes(backend, partitions, weights, settings, seed, limits)
    kept = cut_graph(ConsensusGraph(backend, nodes.signatures, settings, limits), settings)
    placement, labels = place_rows(backend, nodes, kept, partitions, weights)
    return Combined(labels, placement, kept, nodes.n_landmarks)


def place_rows(
    backend: Backend, nodes: Nodes, kept: KeptCut, partitions: AnyIntArray, weights: FloatArray | None
) -> tuple[Placement, IntArray]:
    """Place every row: by its own labels, or by those of its signature if all signatures are known."""
    placement = place_by(kept.cut, nodes.signatures, exact=nodes.exact)
    every = nodes.every
    if every is None:
        return settle(placement, backend, partitions, weights)
    if not nodes.exact:
        placement, found = settle(placement, backend, every.labels, every.weights)
        return placement, found[every.inverse]
    with_weight = every.weights > 0
    labels = np.empty(len(every), dtype=np.int32)
    labels[with_weight] = placement.groups
    if not with_weight.all():
        labels[~with_weight] = placement.clusters(backend, every.labels[:, ~with_weight])
    return placement, labels[every.inverse]
