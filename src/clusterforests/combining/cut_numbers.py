"""Cut one graph into several numbers of clusters: eigenvectors are found once for all."""

import contextlib
from collections.abc import Sequence

import numpy as np

from clusterforests._base.typing import FloatArray, IntArray
from clusterforests.backends import Backend
from clusterforests.combining.affinity import Signatures
from clusterforests.combining.cut import ConsensusGraph, cut_graph
from clusterforests.combining.eigenvectors import spectral_embedding
from clusterforests.combining.gaps import CLEAN, gap_graph, leak
from clusterforests.combining.registry import without_values
from clusterforests.combining.settings import CutSettings, GraphLimits
from clusterforests.combining.spectral_kmeans import kmeans_groups

STARTS = 10
DENSE = GraphLimits(dense_solver=1024)  # faster where many eigenvectors are wanted


def cut_numbers(
    backend: Backend, signatures: Signatures, settings: CutSettings, numbers: Sequence[int]
) -> list[IntArray | None]:
    """Cut the graph into each number of groups; None where it cannot be.

    "kway" and "gaps-or-kway" take their eigenvectors from one embedding and fewer starts of K-means, so that the result
    may differ from a cut into one number alone where many cuts are as good. Cuts are not refined.
    """
    settings = settings._replace(method=without_values(settings.method))
    able = [k for k in numbers if k < len(signatures)]
    if settings.method not in ("kway", "gaps-or-kway") or not able:
        return [
            _cut_alone(backend, signatures, settings._replace(n_clusters=k)) if k in able else None for k in numbers
        ]
    graph = ConsensusGraph(backend, signatures, settings, DENSE)
    embedded = {"kway": spectral_embedding(graph.affinity_graph(), max(able))}
    if settings.method != "kway":
        embedded["gaps"] = spectral_embedding(gap_graph(backend, signatures, DENSE), max(able))
    return [_groups(backend, signatures, embedded, k) if k in able else None for k in numbers]


def _groups(
    backend: Backend, signatures: Signatures, embedded: dict[str, FloatArray], n_clusters: int
) -> IntArray | None:
    with contextlib.suppress(ValueError):  # the graph may tell too few rows apart
        if "gaps" in embedded:
            groups = _kmeans(backend, signatures, embedded["gaps"], n_clusters)
            if leak(backend, signatures, groups) <= CLEAN:
                return groups
        return _kmeans(backend, signatures, embedded["kway"], n_clusters)
    return None


def _kmeans(backend: Backend, signatures: Signatures, rows: FloatArray, n_clusters: int) -> IntArray:
    """Cluster the leading columns: the first, and the last but for the first, which ascend."""
    leading = np.column_stack([rows[:, :1], rows[:, rows.shape[1] - (n_clusters - 1) :]])
    unit = leading / np.linalg.norm(leading, axis=1, keepdims=True)
    return kmeans_groups(backend, unit, signatures.weights, n_clusters, STARTS)


def _cut_alone(backend: Backend, signatures: Signatures, settings: CutSettings) -> IntArray | None:
    with contextlib.suppress(ValueError):
        return cut_graph(ConsensusGraph(backend, signatures, settings), settings).cut.groups
    return None
