"""Dask arrays as results: lazy, partition by partition."""

import functools
import operator
from dataclasses import replace
from typing import Any

import dask.array as da
import numpy as np

from clusterforests._utils.arrays import AnyArray, FloatArray, Int64Array, IntArray
from clusterforests._utils.memory import check_memory
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import LIMITS, coassociate
from clusterforests.consensus.placement import Placement
from clusterforests.inspection.memberships import count_clusters, mean_of, sums_by_cluster
from clusterforests.inspection.stability import rows_to_compare
from clusterforests.rows.dask.partition_work import rows_of_piece
from clusterforests.rows.dask.tables import compute_all, cut_into, like, place_partitions, split
from clusterforests.rows.dask.tasks import chains, merged, share, stack, tasks
from clusterforests.rows.new_rows import Predictor
from clusterforests.rows.results import DiagnosticWork, FittedRows, HostResults, Recut, RowWork
from clusterforests.table.frames import check_feature_names, plain_block


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

    def map_rows(self, work: RowWork, predictor: Predictor, X: Any, dtype: Any, *after: int) -> da.Array:
        partitions = chains(split(X))
        check_feature_names(predictor.table, like(X), reset=False)
        shared = share("forest", replace(predictor, n_jobs=None))
        lengths = X.chunks[0] if isinstance(X, da.Array) else [np.nan] * len(partitions)
        calls = [(work, shared, partition, np.empty((0, *after), dtype)) for partition in partitions]
        return stack(tasks("map-rows", _map_partition, calls), lengths, dtype, after=after)

    def diagnose(self, work: DiagnosticWork, rows: FittedRows, *after: int) -> da.Array:
        partitions = _partitions(rows)
        sizes = list(rows.tree_sizes), rows.n_clusters
        counted = tasks("count-clusters", count_clusters, [(*one, *sizes) for one in partitions])
        counts = merged("merge-counts", counted, functools.partial(functools.reduce, operator.add))
        nodes = tasks("diagnose-rows", _diagnose, [(work, counts, *partition, after) for partition in partitions])
        return stack(nodes, rows.labels.chunks[0], np.float64, after=after)

    def average(self, values: da.Array, rows: FittedRows) -> da.Array:
        blocks = zip(values.to_delayed().tolist(), _partitions(rows), strict=True)
        calls = [(block, labels, weights, rows.n_clusters) for block, (_, labels, weights) in blocks]
        sums = merged("merge-sums", tasks("sum-by-cluster", sums_by_cluster, calls), sum)
        (node,) = tasks("average-rows", mean_of, [(sums,)])
        return da.from_delayed(node, (rows.n_clusters,), dtype=np.float64)

    def sample(self, rows: FittedRows, max_rows: int) -> tuple[IntArray, IntArray, FloatArray | None]:
        """Bring only the rows that `half_cuts` takes."""
        given = rows.counting_weights
        weights = None if given is None else compute_all(given)[0]
        drawn = rows_to_compare(rows.labels.shape[0], max_rows, 0, weights)
        partitions, labels = compute_all(rows.partitions[:, drawn], rows.clusters[drawn])
        return partitions, labels, None if weights is None else weights[drawn]

    def gather(self, rows: FittedRows) -> FittedRows:
        check_memory(
            rows.partitions.nbytes,
            f"The labels of {rows.labels.shape[0]} rows in {len(rows.partitions)} trees, which a model file holds,",
            "Keep labels_ with dask.array.to_zarr instead, and fit again with the same random_state for the rest.",
        )
        partitions, labels, nearest, weights = compute_all(rows.partitions, rows.labels, rows.nearest, rows.weights)
        return replace(rows, partitions=partitions, labels=labels, nearest=nearest, weights=weights)

    def place(self, rows: FittedRows, recut: Recut) -> tuple[Placement, da.Array]:
        lengths = rows.labels.chunks[0]
        if recut.exact or sum(lengths) <= LIMITS.collapsed:
            placement, labels = HostResults().place(self.gather(rows), recut)
            return placement, cut_into(labels, np.array(lengths))
        blocks = _partitions(rows)

        def place(rule: Any) -> list[Any]:
            return tasks("place-rows", _place, [(partitions, rule) for partitions, _, _ in blocks])

        weights = None if rows.weights is None else [own for _, _, own in blocks]
        return place_partitions(Placement.of(recut.kept, recut.nodes), place, weights, list(lengths))

    def choose(self, partitions: da.Array, which: Any) -> da.Array:
        return partitions[:, which]

    def coassociate(self, a: da.Array, b: da.Array, n_jobs: int | None) -> da.Array:
        return da.blockwise(_coassociate, "ij", a, "ti", b, "tj", dtype=np.float64, concatenate=True)


def _map_partition(work: RowWork, predictor: Predictor, partition: Any, empty: AnyArray) -> AnyArray:
    if not rows_of_piece(partition):
        return empty
    found: AnyArray = HostResults().map_rows(work, predictor, plain_block(partition), empty.dtype)
    return found


def _partitions(rows: FittedRows) -> list[tuple[Any, Any, Any]]:
    """List the labels in the trees, the clusters and the weights of each partition."""
    partitions = rows.partitions.to_delayed().ravel().tolist()
    given = rows.counting_weights
    weights = [None] * len(partitions) if given is None else given.to_delayed().tolist()
    return list(zip(partitions, rows.clusters.to_delayed().tolist(), weights, strict=True))


def _place(partitions: AnyArray, placement: Placement) -> IntArray:
    return placement.clusters(CpuBackend(), partitions)


def _diagnose(
    work: DiagnosticWork, counts: Any, partitions: Any, labels: Any, weights: Any, after: tuple[int, ...]
) -> FloatArray:
    return work(counts, partitions, labels, weights, 1) if len(labels) else np.empty((0, *after))


def _coassociate(a: AnyArray, b: AnyArray) -> FloatArray:
    return coassociate(CpuBackend(), a.astype(np.int32), b.astype(np.int32))
