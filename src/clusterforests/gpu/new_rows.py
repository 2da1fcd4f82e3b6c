"""New rows on a GPU, labelled and placed there by a fitted forest."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray
from clusterforests._utils.devices import as_cupy, need_cupy
from clusterforests.consensus.placement import Shares
from clusterforests.gpu.kernels import Kernels, strides
from clusterforests.gpu.labelling import DeviceLadders, DeviceTrees
from clusterforests.gpu.placement import DeviceRule
from clusterforests.gpu.reader import DeviceTable, survey_on_gpu
from clusterforests.rows.lloyd_pass import Labelling
from clusterforests.rows.new_rows import Predictor

REAL = (np.float32, np.float64)


def open_new_rows(predictor: Predictor, X: Any) -> "RowsOnGpu | None":
    """Open new rows that are on a GPU; None where this machine has to read them or to say what is wrong with them."""
    encoding = predictor.encoding
    plain = not (encoding.levels or encoding.orders or encoding.dates or encoding.names or predictor.reduction)
    if not plain or predictor.outliers is not None or predictor.scaling.sources is not None:
        return None
    if not DeviceRule.knows(predictor.placement):
        return None
    array = as_cupy(X)
    if array.ndim != 2 or array.shape[1] != encoding.n_features or not len(array) or array.dtype not in REAL:
        return None
    table = DeviceTable(array, predictor.limits.device)
    seen = survey_on_gpu(table)
    if not (np.isfinite(seen.low).all() and np.isfinite(seen.high).all()):
        return None
    return RowsOnGpu(predictor, table)


class RowsOnGpu:
    """New rows, all numbers, none missing."""

    def __init__(self, predictor: Predictor, table: DeviceTable) -> None:
        self.predictor, self.placement, self.table, self.limits = predictor, predictor.placement, table, table.limits
        trees = predictor.trees
        self.trees = Labelling(predictor.scaling, trees.coordinates, trees.columns, trees.centers)

    def blocks(self) -> "Iterator[RowsOnGpu]":
        """Go through the rows in blocks whose labels in all trees the GPU has room for."""
        step = max(1, self.limits.label_bytes // (len(self.trees.centers) * np.dtype(self.trees.label_type).itemsize))
        for start in range(0, self.table.shape[0], step):
            yield RowsOnGpu(self.predictor, DeviceTable(self.table.X[start : start + step], self.limits))

    @cached_property
    def labels(self) -> Any:
        """The labels in each tree."""
        trees = DeviceTrees(self.trees, self.table.real, DeviceLadders(self.trees.scaling), self.limits)
        labels = need_cupy().empty((len(self.trees.centers), self.table.shape[0]), self.trees.label_type)
        trees.label(self.table.X, labels)
        return labels

    def clusters(self) -> Any:
        return self.nearest()

    def nearest(self) -> Any:
        labels = self.labels  # the GPU makes them while the rule is laid out
        rule = DeviceRule(self.placement, list(map(len, self.trees.centers)), self.trees.label_type, self.limits)
        out = need_cupy().empty(self.table.shape[0], np.int32)
        rule.clusters(labels, out)
        return out

    def mean_shares(self) -> FloatArray:
        shares: Shares = self.placement.shares
        together, both = (self._sum(table) for table in (shares.together, shares.clustered))
        return self._by_cluster(np.divide(together, both, out=np.zeros_like(both), where=both > 0))

    def co_members(self) -> FloatArray:
        return self._by_cluster(self._sum(self.placement.shares.by_co_member()))

    def _by_cluster(self, values: FloatArray) -> FloatArray:
        """Put columns that groups have in the order of their clusters."""
        named = np.empty_like(values)
        named[:, self.placement.group_to_cluster] = values
        return named

    def _sum(self, lines: FloatArray) -> FloatArray:
        """Sum the lines of a table that the labels of each row pick."""
        cupy, (members, rows) = need_cupy(), self.labels.shape
        out = cupy.empty((rows, lines.shape[1]), np.float64)
        given = self.labels, strides(self.labels)[0], np.int64(rows), members, cupy.asarray(self.placement.shares.first)
        kernels = Kernels(label=self.trees.label_type)
        kernels.over(rows, "sum_lines", *given, cupy.asarray(lines), lines.shape[1], out)
        sums: FloatArray = cupy.asnumpy(out)
        return sums
