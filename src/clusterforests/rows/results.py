"""Where results are: an array with an entry for each row is where the rows are, in memory, on a GPU or in Dask."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray
from clusterforests._utils.devices import is_dask, on_gpu, to_host
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import Signatures, coassociate
from clusterforests.consensus.constraints import Constraints
from clusterforests.consensus.enforcement import RowsInClusters, enforce
from clusterforests.consensus.nodes import known_nodes
from clusterforests.consensus.outliers import OutlierRule, are_outliers, lost_clusters
from clusterforests.consensus.placement import Cut, Placement, place_rows, renumber_by_size
from clusterforests.inspection.memberships import ClusterCounts, counted, mean_of, sums_by_cluster
from clusterforests.rows.new_rows import NewRows, Predictor, RowsHere
from clusterforests.table.encoding import UnseenLevels
from clusterforests.table.frames import row_slices

NEW_ROWS_AT_A_TIME = 65536  # new rows at a time
NEW_CELLS_AT_A_TIME = 2**24  # or so many cells

RowWork = Callable[[NewRows], Any]
# (counts over all rows; labels in the trees, clusters and weights of some rows; threads) -> a row for each
DiagnosticWork = Callable[[ClusterCounts, IntArray, IndexArray, FloatArray | None, int], FloatArray]


@dataclass(frozen=True)
class FittedRows:
    """The fitted rows: arrays with an entry for each, where the rows are.

    Attributes
    ----------
    partitions : array of shape (n_trees, n_rows)
        Labels in each tree.
    labels : array of shape (n_rows,)
        Clusters, -1 for outliers.
    nearest : array of shape (n_rows,) or None
        The same with the nearest cluster of each outlier; None if all rows have a label.
    weights : array of shape (n_rows,) or None
        Weights; None if each row counts once.
    n_clusters : int
        Number of clusters.
    tree_sizes : tuple of int
        Number of clusters of each tree.
    n_jobs : int or None
        Number of threads.
    """

    partitions: Any
    labels: Any
    nearest: Any
    weights: Any
    n_clusters: int
    tree_sizes: tuple[int, ...]
    n_jobs: int | None = None

    @property
    def clusters(self) -> Any:
        """The cluster of each row, the nearest one for a row that has no label."""
        return self.labels if self.nearest is None else self.nearest

    @property
    def counting_weights(self) -> Any:
        """The weights of the rows; those that have no label count nothing."""
        if self.nearest is None:
            return self.weights
        labels = self.labels if is_dask(self.labels) else to_host(self.labels)
        labelled = (labels >= 0).astype(np.float64)
        return labelled if self.weights is None else labelled * self.weights

    @property
    def here(self) -> "tuple[IntArray, IntArray, FloatArray | None]":
        """Partitions, clusters and weights in this machine's memory, where they are not in Dask."""
        return to_host(self.partitions), to_host(self.clusters), self.counting_weights


class Recut(NamedTuple):
    """Another cut of the nodes of a fitted forest, and what its rows keep."""

    kept: Cut
    nodes: Signatures
    exact: bool  # whether every different row of labels is a node
    constraints: Constraints | None
    outliers: OutlierRule | None


class Results(Protocol):
    """Arrays of one kind, and how a fitted forest fills them."""

    def send(self, values: Any) -> Any:
        """Make values that have an entry for each row such an array."""

    def map_rows(self, work: RowWork, predictor: Predictor, X: Any, dtype: Any, *after: int) -> Any:
        """Apply `work` to new rows. `after` are the axes of the result after that of the rows."""

    def diagnose(self, work: DiagnosticWork, rows: FittedRows, *after: int) -> Any:
        """Apply `work` to the fitted rows, with counts over all of them."""

    def average(self, values: Any, rows: FittedRows) -> Any:
        """Average what has an entry for each fitted row over the rows of each cluster."""

    def sample(self, rows: FittedRows, max_rows: int) -> tuple[IntArray, IntArray, FloatArray | None]:
        """Bring partitions, clusters and weights to this process: of all rows, or of enough to draw max_rows."""

    def gather(self, rows: FittedRows) -> FittedRows:
        """Bring the arrays into this process."""

    def place(self, rows: FittedRows, recut: Recut) -> tuple[Placement, Any]:
        """Place the fitted rows by another cut; return the rule and the clusters."""

    def choose(self, partitions: Any, which: Any) -> Any:
        """Take some of the fitted rows; IndexError where there are none such."""

    def coassociate(self, a: Any, b: Any, n_jobs: int | None) -> Any:
        """Compute P between chosen rows."""


class HostResults:
    """Arrays of NumPy."""

    def send(self, values: Any) -> Any:
        return to_host(values)

    def map_rows(self, work: RowWork, predictor: Predictor, X: Any, dtype: Any, *after: int) -> Any:
        blocks, new = row_slices(X, NEW_ROWS_AT_A_TIME, NEW_CELLS_AT_A_TIME), UnseenLevels()
        found = np.concatenate([work(RowsHere(predictor, to_host(rows), start, new)) for start, rows in blocks])
        new.warn()
        return self.send(found)

    def diagnose(self, work: DiagnosticWork, rows: FittedRows, *after: int) -> Any:
        partitions, labels, weights = rows.here
        clusters, threads = labels.astype(np.intp), CpuBackend(rows.n_jobs).threads
        counts = counted(partitions, clusters, weights, threads)
        return self.send(work(counts, partitions, clusters, weights, threads))

    def average(self, values: Any, rows: FittedRows) -> Any:
        _, labels, weights = rows.here
        return self.send(mean_of(sums_by_cluster(to_host(values), labels, weights, rows.n_clusters)))

    def sample(self, rows: FittedRows, max_rows: int) -> tuple[IntArray, IntArray, FloatArray | None]:
        return rows.here

    def gather(self, rows: FittedRows) -> FittedRows:
        nearest = None if rows.nearest is None else to_host(rows.nearest)
        arrays = to_host(rows.partitions), to_host(rows.labels), nearest, to_host(rows.weights)
        return FittedRows(*arrays, rows.n_clusters, rows.tree_sizes, rows.n_jobs)

    def place(self, rows: FittedRows, recut: Recut) -> tuple[Placement, Any]:
        partitions, weights, backend = to_host(rows.partitions), rows.weights, CpuBackend(rows.n_jobs)
        nodes = known_nodes(recut.nodes, partitions, weights, exact=recut.exact)
        placement, labels = place_rows(backend, nodes, recut.kept, partitions, weights)
        if recut.constraints is not None:
            placement, labels = enforce(
                backend, RowsInClusters(partitions, weights, placement, labels), recut.constraints
            )
        if recut.outliers is not None:  # they do not count in the sizes that clusters are named by
            outside = to_host(are_outliers(recut.outliers, rows.labels, rows.nearest))
            outside &= ~np.isin(labels, lost_clusters(labels, outside, len(placement.group_to_cluster)))
            placement, labels = renumber_by_size(placement, labels, ~outside * (1.0 if weights is None else weights))
        return placement, self.send(labels)

    def choose(self, partitions: Any, which: Any) -> Any:
        return to_host(partitions[:, which])

    def coassociate(self, a: Any, b: Any, n_jobs: int | None) -> Any:
        return self.send(coassociate(CpuBackend(n_jobs), a, b))


def results_for(X: Any) -> Results:
    """Choose the arrays that go with a table or an array."""
    if is_dask(X):
        results: Results = importlib.import_module("clusterforests.rows.dask.results").DaskResults()
        return results
    if on_gpu(X):
        device: Results = importlib.import_module("clusterforests.gpu.results").DeviceResults(X)
        return device
    return HostResults()
