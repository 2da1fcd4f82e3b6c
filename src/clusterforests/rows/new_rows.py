"""New rows of a fitted forest: where its trees and its rule of placement lead them."""

from functools import cached_property
from typing import Any, Protocol

import numpy as np

from clusterforests._utils.arrays import FloatArray, IntArray
from clusterforests.backends import CpuBackend
from clusterforests.consensus.outliers import OUTLIER
from clusterforests.table.reader.remarks import NewCells
from clusterforests.table.scaling import SCALED_ROWS
from clusterforests.trees.forest import label_rows


class NewRows(Protocol):
    """Some new rows, in this machine's memory or on a GPU."""

    def clusters(self) -> Any:
        """Find the cluster of each row, -1 where it belongs to none."""

    def nearest(self) -> Any:
        """Find the cluster of each row, whether it belongs to it or not."""

    def mean_shares(self) -> Any:
        """Compute the mean share of trees in which each row is with the fitted rows of each cluster."""

    def companions(self) -> Any:
        """Sum over the trees the share of each cluster among the fitted rows with the label of each row."""


class RowsHere:
    """New rows in memory. `first_row` is the number of the first; `new` counts what is special about their cells."""

    def __init__(self, forest: Any, rows: Any, first_row: int, new: NewCells) -> None:
        self.forest, self.placement = forest, forest._placement
        self.backend = CpuBackend(forest.n_jobs)
        self.values: FloatArray = forest._read(self.backend, rows, first_row, new)

    @cached_property
    def labels(self) -> IntArray:
        """The labels in each tree."""
        return label_rows(self.backend, self.forest._trees, self.forest._scaling, self.values)

    def clusters(self) -> IntArray:
        clusters = self.nearest()
        rule = self.forest._outlier_rule
        if rule is not None:
            for start in range(0, len(clusters), SCALED_ROWS):
                some = np.ascontiguousarray(self.values[start : start + SCALED_ROWS])
                scaled = self.forest._scaling.apply(some, self.backend.threads)
                nearest = clusters[start : start + SCALED_ROWS]
                nearest[rule.finds(scaled[:, rule.columns], nearest)] = OUTLIER
        return clusters

    def nearest(self) -> IntArray:
        clusters: IntArray = self.placement.clusters(self.backend, self.labels)
        return clusters

    def mean_shares(self) -> FloatArray:
        shares: FloatArray = self.placement.mean_shares(self.backend, self.labels)
        return shares

    def companions(self) -> FloatArray:
        sums: FloatArray = self.placement.companions(self.backend, self.labels)
        return sums
