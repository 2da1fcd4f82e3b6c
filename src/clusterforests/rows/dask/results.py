"""Dask arrays as results: lazy, partition by partition."""

import copy
import functools
import operator
from typing import Any

import dask.array as da
import numpy as np

from clusterforests._utils.arrays import AnyArray, FloatArray, Int64Array, IntArray
from clusterforests._utils.memory import check_memory
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import LIMITS, coassociate
from clusterforests.consensus.consensus_clustering import place_by
from clusterforests.consensus.methods import Cut
from clusterforests.consensus.placement import Placement
from clusterforests.inspection.memberships import count_clusters, mean_of, sums_by_cluster
from clusterforests.inspection.stability import sample_rows
from clusterforests.rows.dask.partition_work import count_rows
from clusterforests.rows.dask.placing import settle_partitions
from clusterforests.rows.dask.reader import compute_all, cut_into, like, split
from clusterforests.rows.dask.tasks import chains, merged, share, stack, tasks
from clusterforests.rows.results import DiagnosticWork, HostResults, RowWork, clusters_of, counting_weights
from clusterforests.table.frames import check_names, plain_block

HEAVY = ("labels_", "partitions_", "_weights", "_nearest")  # attributes that new rows do not need


class DaskResults:
    """Dask arrays. `lengths` are the rows of each partition, for `send`; None if nothing is sent."""

    def __init__(self, lengths: Int64Array | None = None) -> None:
        self.lengths = lengths

    def send(self, values: Any) -> Any:
        """Cut an array of this process into the partitions; Dask's stay as they are."""
        if isinstance(values, da.Array):
            return values
        assert self.lengths is not None
        return cut_into(values, self.lengths)

    def map_rows(self, work: RowWork, forest: Any, X: Any, dtype: Any, *after: int) -> da.Array:
        partitions = chains(split(X))
        check_names(forest, like(X), reset=False)
        shared = share("forest", _light(forest))
        lengths = X.chunks[0] if isinstance(X, da.Array) else [np.nan] * len(partitions)
        calls = [(work, shared, partition, np.empty((0, *after), dtype)) for partition in partitions]
        return stack(tasks("map-rows", _map_partition, calls), lengths, dtype, after=after)

    def diagnose(self, work: DiagnosticWork, forest: Any, *after: int) -> da.Array:
        partitions = _fitted_partitions(forest)
        counts = _count(forest, partitions)
        nodes = tasks("diagnose-rows", _diagnose, [(work, counts, *partition, after) for partition in partitions])
        return stack(nodes, forest.labels_.chunks[0], np.float64, after=after)

    def average(self, values: da.Array, forest: Any) -> da.Array:
        blocks = zip(values.to_delayed().tolist(), _fitted_partitions(forest), strict=True)
        calls = [(block, labels, weights, forest.n_clusters_) for block, (_, labels, weights) in blocks]
        sums = merged("merge-sums", tasks("sum-by-cluster", sums_by_cluster, calls), sum)
        (node,) = tasks("average-rows", mean_of, [(sums,)])
        return da.from_delayed(node, (forest.n_clusters_,), dtype=np.float64)

    def sample(self, forest: Any, max_rows: int) -> tuple[IntArray, IntArray, FloatArray | None]:
        """Bring only the rows that `half_cuts` takes."""
        given = counting_weights(forest)
        weights = None if given is None else compute_all(given)[0]
        rows = sample_rows(forest.labels_.shape[0], max_rows, 0, weights)
        partitions, labels = compute_all(forest.partitions_[:, rows], clusters_of(forest)[rows])
        return partitions, labels, None if weights is None else weights[rows]

    def gather(self, forest: Any) -> Any:
        check_memory(
            forest.partitions_.nbytes,
            f"The labels of {forest.labels_.shape[0]} rows in {len(forest.partitions_)} trees, which a model file "
            "holds,",
            "Keep labels_ with dask.array.to_zarr instead, and fit again with the same random_state for the rest.",
        )
        whole = copy.copy(forest)
        arrays = forest.labels_, forest.partitions_, forest._weights, forest._nearest
        whole.labels_, whole.partitions_, whole._weights, whole._nearest = compute_all(*arrays)
        return whole

    def place(self, forest: Any, kept: Cut) -> tuple[Placement, da.Array]:
        blocks = _fitted_partitions(forest)
        lengths = forest.labels_.chunks[0]
        if forest.chosen_params_["n_landmarks"].value is None or sum(lengths) <= LIMITS.collapsed:
            placement, labels = HostResults().place(self.gather(forest), kept)
            return placement, cut_into(labels, np.array(lengths))

        def place(rule: Any) -> list[Any]:
            return tasks("place-rows", _place, [(partitions, rule) for partitions, _, _ in blocks])

        weights = None if forest._weights is None else [own for _, _, own in blocks]
        placement = place_by(kept, forest._placement.nodes)
        return settle_partitions(placement, place, weights, list(lengths))

    def choose(self, partitions: da.Array, which: Any) -> da.Array:
        return partitions[:, which]

    def coassociate(self, forest: Any, a: da.Array, b: da.Array) -> da.Array:
        return da.blockwise(_coassociate, "ij", a, "ti", b, "tj", dtype=np.float64, concatenate=True)


def _light(forest: Any) -> Any:
    """Copy what of a forest new rows need."""
    light = copy.copy(forest)
    for name in HEAVY:
        vars(light).pop(name, None)
    light.n_jobs = None
    return light


def _map_partition(work: RowWork, forest: Any, partition: Any, empty: AnyArray) -> AnyArray:
    if not count_rows(partition):
        return empty
    found: AnyArray = HostResults().map_rows(work, forest, plain_block(partition), empty.dtype)
    return found


def _fitted_partitions(forest: Any) -> list[tuple[Any, Any, Any]]:
    """List the labels in the trees, the clusters and the weights of each partition."""
    partitions = forest.partitions_.to_delayed().ravel().tolist()
    given = counting_weights(forest)
    weights = [None] * len(partitions) if given is None else given.to_delayed().tolist()
    return list(zip(partitions, clusters_of(forest).to_delayed().tolist(), weights, strict=True))


def _count(forest: Any, partitions: list[tuple[Any, Any, Any]]) -> Any:
    """Count the clusters of each partition and add the counts up."""
    n_parts = [len(centers) for centers in forest._trees.centers]
    counted = tasks("count-clusters", count_clusters, [(*one, n_parts, forest.n_clusters_) for one in partitions])
    return merged("merge-counts", counted, functools.partial(functools.reduce, operator.add))


def _place(partitions: AnyArray, placement: Placement) -> IntArray:
    return placement.clusters(CpuBackend(), partitions)


def _diagnose(
    work: DiagnosticWork, counts: Any, partitions: Any, labels: Any, weights: Any, after: tuple[int, ...]
) -> FloatArray:
    return work(counts, partitions, labels, weights, 1) if len(labels) else np.empty((0, *after))


def _coassociate(a: AnyArray, b: AnyArray) -> FloatArray:
    return coassociate(CpuBackend(), a.astype(np.int32), b.astype(np.int32))
