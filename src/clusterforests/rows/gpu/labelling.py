"""Labels of rows that are on a GPU, as `rows.lloyd_pass.Labelling` has them."""

from typing import Any

import numpy as np

from clusterforests._base.size_limits import DeviceLimits
from clusterforests.rows.gpu.devices import need_cupy
from clusterforests.rows.gpu.flat_trees import (
    SEARCH_ROWS,
    flatten_ladders,
    flatten_steps,
    flatten_trees,
    used_columns,
)
from clusterforests.rows.gpu.kernels import THREADS, Kernels, strides
from clusterforests.rows.lloyd_pass import Labelling
from clusterforests.tables.scaling import Scaling

ROWS_OF_THREAD = 4
COLUMNS_OF_THREAD = 6


class DeviceLadders:
    """The ladders of a scaling, for all passes over its table."""

    def __init__(self, scaling: Scaling) -> None:
        self.scaling = scaling
        self.host = flatten_ladders(scaling)
        xp = need_cupy()
        self.arrays = xp.asarray(self.host.knots), xp.asarray(self.host.before)


class DeviceTrees:
    """The trees of a pass. Rows are taken in pieces whose size changes no result."""

    def __init__(self, trees: Labelling, real: Any, ladders: DeviceLadders, limits: DeviceLimits) -> None:
        self.chip_bytes = limits.chip_bytes
        self.used = used_columns(trees)
        self.kernels = kernels = Kernels(real, trees.label_type, len(trees.centers))
        self.xp = kernels.xp
        steps, terms = flatten_steps(trees, self.used, ladders.host)
        self.steps = kernels.upload(steps), *ladders.arrays, kernels.upload(terms)
        self.order = kernels.upload(np.argsort(steps["column"][: len(self.used)], kind="stable").astype(np.int32))
        self.flat = flatten_trees(trees, self.used, limits)
        self.fields = [kernels.upload(array) for array in self.flat]
        label_bytes = len(trees.centers) * np.dtype(trees.label_type).itemsize
        self.pitch = piece_rows(4 * len(self.used) + label_bytes, limits)
        self.narrow = self.xp.zeros((len(self.used), self.pitch), np.float32)
        self.unsure = self.xp.zeros(1, np.uint64)  # labels that float64 decided

    def label(self, rows: Any, out: Any) -> None:
        """Write labels into out (T, len(rows)), a view of any pitch."""
        for start in range(0, len(rows), self.pitch):
            part = rows[start : start + self.pitch]
            self._project(part)
            self._label(part, out[:, start : start + self.pitch])

    def _project(self, rows: Any) -> None:
        """Project the rows' columns into the scratch."""
        grid = -(-len(rows) // (ROWS_OF_THREAD * THREADS)), -(-len(self.used) // COLUMNS_OF_THREAD)
        given = (
            rows,
            *strides(rows),
            len(rows),
            self.steps[0],
            self.order,
            len(self.used),
            *self.steps[1:],
            np.int64(self.pitch),
            self.narrow,
        )
        self.kernels.launch("project", grid, THREADS, *given)

    def _label(self, rows: Any, out: Any) -> None:
        grid = len(self.flat.groups) - 1, -(-len(rows) // SEARCH_ROWS)
        given = rows, *strides(rows), *self.steps, self.narrow, np.int64(self.pitch), len(rows), *self.fields
        more = out, strides(out)[0], self.chip_bytes // 4, self.unsure
        self.kernels.launch("label_rows", grid, SEARCH_ROWS // ROWS_OF_THREAD, *given, *more, shared=self.chip_bytes)


def piece_rows(row_bytes: int, limits: DeviceLimits) -> int:
    """Choose how many rows are kept at a time: their columns and their labels."""
    rows = limits.scratch_bytes // row_bytes // THREADS * THREADS
    return min(max(limits.least_scratch_rows, rows), limits.most_scratch_rows)
