"""Arrays on a GPU as results: what can be computed there is, the rest goes through this machine's memory."""

from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray
from clusterforests._utils.devices import as_cupy, need_cupy, on_gpu, send_to, to_host
from clusterforests.gpu.kernels import PLAIN_SHARED_BYTES, THREADS, Kernels, strides
from clusterforests.gpu.new_rows import open_new_rows
from clusterforests.inspection.memberships import EQUAL_SUMS, FromMemberships, without_itself
from clusterforests.rows.new_rows import Predictor
from clusterforests.rows.results import DiagnosticWork, FittedRows, HostResults, RowWork

COUNT_BLOCKS = 32  # of threads, for each tree
CELL_BYTES = 4


class DeviceResults(HostResults):
    """Arrays on an NVIDIA GPU: of CuPy, or of torch, as `like` is."""

    def __init__(self, like: Any) -> None:
        self.like = like

    def send(self, values: Any) -> Any:
        return send_to(self.like, values)

    def map_rows(self, work: RowWork, predictor: Predictor, X: Any, dtype: Any, *after: int) -> Any:
        rows = open_new_rows(predictor, X)
        if rows is None:
            return super().map_rows(work, predictor, X, dtype, *after)
        found = [work(some) for some in rows.blocks()]
        return self.send(found[0] if len(found) == 1 else np.concatenate(list(map(to_host, found))))

    def diagnose(self, work: DiagnosticWork, rows: FittedRows, *after: int) -> Any:
        counted = on_gpu(rows.partitions) and on_gpu(rows.labels) and rows.counting_weights is None
        if not (counted and isinstance(work, FromMemberships)):
            return super().diagnose(work, rows, *after)
        labels = to_host(rows.clusters).astype(np.intp)
        return self.send(work.finish(without_itself(sum_fitted_companions(rows), labels), labels))

    def choose(self, partitions: Any, which: Any) -> Any:
        return super().choose(partitions, np.arange(partitions.shape[1])[which])  # NumPy refuses what is not there


def sum_fitted_companions(fitted: FittedRows) -> FloatArray:
    """Do what `_core.sum_companions` does, for all rows of a fitted forest without weights."""
    cupy = need_cupy()
    partitions, clusters = as_cupy(fitted.partitions), as_cupy(fitted.labels)
    members, rows = partitions.shape
    width, parts = fitted.n_clusters, list(fitted.tree_sizes)
    ends = np.concatenate([[0], np.cumsum(parts)]).astype(np.int64)
    kernels, first = Kernels(label=partitions.dtype, members=members), cupy.asarray(ends)
    cells = cupy.zeros((int(ends[-1]), width), np.uint64)
    local = min(PLAIN_SHARED_BYTES // CELL_BYTES, max(parts) * width)
    given = partitions, strides(partitions)[0], np.int64(rows)
    counting = first, clusters, width, local, cells
    kernels.launch("count_cells", (COUNT_BLOCKS, members), THREADS, *given, *counting, shared=CELL_BYTES * local)
    counts = cupy.asnumpy(cells).astype(np.float64)
    alone = (counts[: ends[1]].sum(axis=0) <= 1).astype(np.int32)
    tables = cupy.asarray(counts), cupy.asarray(counts.sum(axis=1))
    out = cupy.empty((rows, width + 1), np.float64)
    after = first, *tables, width, clusters, cupy.asarray(alone), np.float64(EQUAL_SUMS), out
    kernels.over(rows, "sum_companions", *given, members, *after)
    sums: FloatArray = cupy.asnumpy(out)
    return sums
