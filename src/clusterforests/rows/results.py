"""Where results are: an array with an entry for each row is where the rows are, in memory, on a GPU or in Dask."""

import copy
import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import coassociate
from clusterforests.consensus.consensus_clustering import place_rows
from clusterforests.consensus.enforcement import Placed, enforce, name_by_size
from clusterforests.consensus.methods import Cut
from clusterforests.consensus.nodes import known_nodes
from clusterforests.consensus.outliers import OutlierRule, are_outliers, lost_clusters, without_outliers
from clusterforests.consensus.placement import Placement
from clusterforests.inspection.memberships import ClusterCounts, counted, mean_of, sums_by_cluster
from clusterforests.rows.devices import on_gpu, to_host
from clusterforests.rows.new_rows import NewRows, RowsHere
from clusterforests.table.frames import is_dask, row_slices
from clusterforests.table.reader.remarks import NewCells

BLOCK_ROWS = 65536  # new rows at a time
BLOCK_CELLS = 2**24  # or so many cells

RowWork = Callable[[NewRows], Any]
# (counts over all rows; labels in the trees, clusters and weights of some rows; threads) -> a row for each
DiagnosticWork = Callable[[ClusterCounts, IntArray, IndexArray, FloatArray | None, int], FloatArray]


class Results(Protocol):
    """Arrays of one kind, and how a fitted forest fills them."""

    def send(self, values: Any) -> Any:
        """Make values that have an entry for each row such an array."""

    def map_rows(self, work: RowWork, forest: Any, X: Any, dtype: Any, *after: int) -> Any:
        """Apply `work` to new rows. `after` are the axes of the result after that of the rows."""

    def diagnose(self, work: DiagnosticWork, forest: Any, *after: int) -> Any:
        """Apply `work` to the fitted rows, with counts over all of them."""

    def average(self, values: Any, forest: Any) -> Any:
        """Average what has an entry for each fitted row over the rows of each cluster."""

    def sample(self, forest: Any, max_rows: int) -> tuple[IntArray, IntArray, FloatArray | None]:
        """Bring partitions, labels and weights to this process: of all rows, or of enough to draw max_rows."""

    def gather(self, forest: Any) -> Any:
        """Copy the forest with its arrays in this process."""

    def place(self, forest: Any, kept: Cut) -> tuple[Placement, Any]:
        """Place the fitted rows by another cut of the forest's nodes; return the rule and the clusters."""

    def choose(self, partitions: Any, which: Any) -> Any:
        """Take some of the fitted rows; IndexError where there are none such."""

    def coassociate(self, forest: Any, a: Any, b: Any) -> Any:
        """Compute P between chosen rows."""


class HostResults:
    """Arrays of NumPy."""

    def send(self, values: Any) -> Any:
        return to_host(values)

    def map_rows(self, work: RowWork, forest: Any, X: Any, dtype: Any, *after: int) -> Any:
        blocks, new = row_slices(X, BLOCK_ROWS, BLOCK_CELLS), NewCells()
        found = np.concatenate([work(RowsHere(forest, to_host(rows), start, new)) for start, rows in blocks])
        new.warn()
        return self.send(found)

    def diagnose(self, work: DiagnosticWork, forest: Any, *after: int) -> Any:
        partitions, labels, weights = _fitted(forest)
        clusters, threads = labels.astype(np.intp), CpuBackend(forest.n_jobs).threads
        counts = counted(partitions, clusters, weights, threads)
        return self.send(work(counts, partitions, clusters, weights, threads))

    def average(self, values: Any, forest: Any) -> Any:
        _, labels, weights = _fitted(forest)
        return self.send(mean_of(sums_by_cluster(to_host(values), labels, weights, forest.n_clusters_)))

    def sample(self, forest: Any, max_rows: int) -> tuple[IntArray, IntArray, FloatArray | None]:
        return _fitted(forest)

    def gather(self, forest: Any) -> Any:
        whole = copy.copy(forest)
        whole.partitions_, whole.labels_ = to_host(forest.partitions_), to_host(forest.labels_)
        whole._nearest = None if forest._nearest is None else to_host(forest._nearest)
        return whole

    def place(self, forest: Any, kept: Cut) -> tuple[Placement, Any]:
        partitions, weights = to_host(forest.partitions_), forest._weights
        exact = forest.chosen_params_["n_landmarks"].value is None
        nodes = known_nodes(forest._placement.nodes, partitions, weights, exact=exact)
        backend = CpuBackend(forest.n_jobs)
        placement, labels = place_rows(backend, nodes, kept, partitions, weights)
        if forest._constraints is not None:
            placement, labels = enforce(backend, Placed(partitions, weights, placement, labels), forest._constraints)
        if forest._nearest is not None:
            outside = to_host(are_outliers(forest._outlier_rule, forest.labels_, forest._nearest))
            outside &= ~np.isin(labels, lost_clusters(labels, outside, len(placement.names)))
            placement, labels = name_by_size(placement, labels, ~outside * (1.0 if weights is None else weights))
        return placement, self.send(labels)

    def choose(self, partitions: Any, which: Any) -> Any:
        return to_host(partitions[:, which])

    def coassociate(self, forest: Any, a: Any, b: Any) -> Any:
        return self.send(coassociate(CpuBackend(forest.n_jobs), a, b))


def results_for(X: Any) -> Results:
    """Choose the arrays that go with a table or an array."""
    if is_dask(X):
        results: Results = importlib.import_module("clusterforests.rows.dask.results").DaskResults()
        return results
    if on_gpu(X):
        device: Results = importlib.import_module("clusterforests.gpu.results").DeviceResults(X)
        return device
    return HostResults()


def in_memory(values: Any) -> Any:
    """Bring an array of Dask or of a GPU into this process's memory."""
    return values.compute() if is_dask(values) else to_host(values)


def clusters_of(forest: Any) -> Any:
    """Return the cluster of each fitted row, the nearest one for a row that has no label."""
    return forest.labels_ if forest._nearest is None else forest._nearest


def counting_weights(forest: Any) -> Any:
    """Return the weights of the fitted rows; those that have no label count nothing."""
    if forest._nearest is None:
        return forest._weights
    labels = forest.labels_ if is_dask(forest.labels_) else to_host(forest.labels_)
    labelled = (labels >= 0).astype(np.float64)
    return labelled if forest._weights is None else labelled * forest._weights


def set_apart_again(forest: Any, clusters: Any, n_clusters: int) -> tuple[OutlierRule, Any]:
    """Give the outliers of a forest no label in another cut, unless a cluster has no other rows."""
    outside = are_outliers(forest._outlier_rule, forest.labels_, forest._nearest)
    lost = lost_clusters(in_memory(clusters), in_memory(outside), n_clusters)
    rule = replace(forest._outlier_rule, spared=tuple(lost.tolist()))
    return rule, without_outliers(rule, clusters, outside)


def _fitted(forest: Any) -> tuple[IntArray, IntArray, FloatArray | None]:
    return to_host(forest.partitions_), to_host(clusters_of(forest)), counting_weights(forest)
