"""Trees on a GPU: labels of rows that are there, and sums over these, as `passes.Pass` has them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from clusterforests.backends.gpu_kernels import THREADS, Kernels, strides
from clusterforests.backends.gpu_trees import (
    GROUP,
    LANES,
    flatten_steps,
    flatten_trees,
    flatten_units,
    used_columns,
)
from clusterforests.passes import Pass, Sums

SCRATCH_BYTES = 2**25  # columns of the rows at hand: they stay in the GPU's cache
LEAST_ROWS = 4096
ROWS_OF_THREAD = 4
SUMMED_ROWS = 4096  # by a warp
SHARED_BYTES = 48 * 1024
MOST_CLUSTERS = SHARED_BYTES // (8 * LANES)  # of which every thread of a warp can have its own sums
CLASSES = (0, 8, 16, 32, 64, 128, MOST_CLUSTERS)  # units with about as many clusters are launched together


class DeviceTrees:
    """The trees of a pass. Rows are taken in pieces whose size changes no result."""

    def __init__(self, trees: Pass, real: Any) -> None:
        self.trees = trees
        used = used_columns(trees)
        self.kernels = kernels = Kernels(real, trees.label_type, len(trees.centers))
        self.xp = kernels.xp
        self.n_columns = len(used)
        flat = flatten_trees(trees, used)
        self.steps = [kernels.upload(array) for array in flatten_steps(trees, used)]
        self.flat = [kernels.upload(array) for array in flat]
        needed = 4 * GROUP * flat.each["groups"].astype(np.int64) * flat.each["width"]
        self.shared = int(needed[needed <= SHARED_BYTES].max(initial=0))
        self.units, self.values = flatten_units(trees, used)
        self.pitch = piece_rows(self.n_columns)
        self.narrow = self.xp.zeros((self.n_columns, self.pitch), np.float32)
        self.exact = self.xp.zeros((self.n_columns, self.pitch), np.float64)
        self.unsure = self.xp.zeros(1, np.uint64)  # labels that float64 decided

    def label(self, rows: Any, out: Any) -> None:
        """Into out (T, len(rows)), a view of any pitch."""
        for start in range(0, len(rows), self.pitch):
            self._label(rows[start : start + self.pitch], out[:, start : start + self.pitch])

    def _label(self, rows: Any, out: Any) -> None:
        each, knots, ranks, before = self.steps
        pitch = np.int64(self.pitch)
        columns = each, self.n_columns, knots, ranks, before, pitch, self.narrow, self.exact
        self.kernels.over(len(rows), "project", rows, *strides(rows), len(rows), *columns)
        grid = (-(-len(rows) // (THREADS * ROWS_OF_THREAD)), len(self.trees.centers))
        given = self.narrow, self.exact, pitch, len(rows), *self.flat, out, strides(out)[0], self.shared // 4
        self.kernels.launch("label_rows", grid, THREADS, *given, self.unsure, shared=self.shared)

    def start(self) -> None:
        """Before rows are added."""
        count = sum(c.size + len(c) for c in self.trees.centers)
        self.sums = self.xp.zeros(count, np.uint64)
        self.labels = self.xp.empty((len(self.trees.centers), self.pitch), self.trees.label_type)
        many = self.units["clusters"]
        bounds = zip(CLASSES, (*CLASSES[1:], np.inf), strict=True)
        chosen = [(high, self.units[(many > low) & (many <= high)]) for low, high in bounds]
        self.classes = [(high, len(units), self.kernels.upload(units)) for high, units in chosen if len(units)]

    def add(self, rows: Any, weights: Any) -> None:
        """`weights` are in the units of the pass, or None."""
        for start in range(0, len(rows), self.pitch):
            part = rows[start : start + self.pitch]
            self._label(part, self.labels[:, : len(part)])
            own = np.uint64(0) if weights is None else weights[start : start + self.pitch]
            for clusters, count, units in self.classes:
                kept = clusters <= MOST_CLUSTERS
                given = self.exact, np.int64(self.pitch), len(part), SUMMED_ROWS, self.labels, np.int64(self.pitch)
                more = own, np.int64(1 << self.trees.mass_bits), units, int(kept), self.sums
                grid, shared = (-(-len(part) // SUMMED_ROWS), count), 8 * LANES * int(clusters) if kept else 0
                self.kernels.launch("add_rows", grid, LANES, *given, *more, shared=shared)

    def finish(self) -> Sums:
        """What was added."""
        found: npt.NDArray[np.int64] = self.xp.asnumpy(self.sums).view(np.int64)
        return Sums(found[self.values], np.delete(found, self.values))


def piece_rows(n_columns: int) -> int:
    """Rows whose columns are kept at a time, in float32 and float64."""
    return max(LEAST_ROWS, SCRATCH_BYTES // (12 * n_columns) // THREADS * THREADS)
