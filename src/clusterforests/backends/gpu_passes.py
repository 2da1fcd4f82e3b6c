"""Trees on a GPU: labels of rows that are there, and sums over these, as `passes.Pass` has them."""

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from clusterforests.backends.gpu_kernels import THREADS, Kernels, strides
from clusterforests.backends.gpu_trees import (
    LANES,
    flatten_steps,
    flatten_trees,
    flatten_units,
    used_columns,
)
from clusterforests.passes import Pass, Sums

SCRATCH_BYTES = 2**26  # columns of the rows at hand: they stay in the GPU's cache
LEAST_ROWS = 4096
SEARCH_THREADS = 128
SEARCH_ROWS = 4 * SEARCH_THREADS  # of a block
TILE_COLUMNS = 24  # of these rows on the chip
ROOM_BYTES = 12 * 1024  # and of centres: 112 if they have 24 columns
COLUMNS_OF_THREAD = 4
SUMMED_ROWS = 4096  # by a warp
SHARED_BYTES = 48 * 1024
NULL = np.uint64(0)
MOST_CLUSTERS = SHARED_BYTES // (8 * LANES)  # of which every thread of a warp can have its own sums
CLASSES = (0, 24, 48, 96, 128, MOST_CLUSTERS, math.inf)  # sums; units with about as many are launched together


class DeviceTrees:
    """The trees of a pass. Rows are taken in pieces whose size changes no result."""

    def __init__(self, trees: Pass, real: Any) -> None:
        self.trees = trees
        used = used_columns(trees)
        self.kernels = kernels = Kernels(real, trees.label_type, len(trees.centers))
        self.xp = kernels.xp
        self.n_columns = len(used)
        self.steps = [kernels.upload(array) for array in flatten_steps(trees, used)]
        flat = flatten_trees(trees, used, TILE_COLUMNS)
        self.n_groups = len(flat.groups)
        self.flat = [kernels.upload(array) for array in flat]
        self.tile = SEARCH_ROWS * 4 * int(flat.groups["count"].max())
        self.pitch = piece_rows(self.n_columns)
        self.narrow = self.xp.zeros((self.n_columns, self.pitch), np.float32)
        self.exact = self.xp.zeros((self.n_columns, self.pitch), np.float64)
        self.unsure = self.xp.zeros(1, np.uint64)  # labels that float64 decided

    def label(self, rows: Any, out: Any) -> None:
        """Into out (T, len(rows)), a view of any pitch."""
        for start in range(0, len(rows), self.pitch):
            part = rows[start : start + self.pitch]
            self._project(part, NULL, NULL)
            self._label(len(part), out[:, start : start + self.pitch])

    def _project(self, rows: Any, weights: Any, fixed: Any) -> None:
        """The rows' columns to the scratch."""
        each, knots, ranks, before = self.steps
        grid = -(-len(rows) // THREADS), -(-self.n_columns // COLUMNS_OF_THREAD)
        ladders = each, self.n_columns, knots, ranks, before
        to = np.int64(self.pitch), self.narrow, self.exact, weights, np.int64(1 << self.trees.mass_bits), fixed
        self.kernels.launch("project", grid, THREADS, rows, *strides(rows), len(rows), *ladders, *to)

    def _label(self, n_rows: int, out: Any) -> None:
        grid = -(-n_rows // SEARCH_ROWS), self.n_groups
        given = self.narrow, self.exact, np.int64(self.pitch), n_rows, *self.flat
        more = out, strides(out)[0], ROOM_BYTES // 4, self.unsure
        self.kernels.launch("label_rows", grid, SEARCH_THREADS, *given, *more, shared=self.tile + ROOM_BYTES)

    def start(self) -> None:
        """Before rows are added."""
        units, self.values = flatten_units(self.trees, used_columns(self.trees))
        xp, clusters = self.xp, units["clusters"]
        self.sums = xp.zeros(sum(c.size + len(c) for c in self.trees.centers), np.uint64)
        self.labels = xp.empty((len(self.trees.centers), self.pitch), self.trees.label_type)
        self.fixed = xp.zeros((self.n_columns + 1, self.pitch), np.int64)
        self.classes = []
        for low, high in itertools.pairwise(CLASSES):
            some = units[(clusters > low) & (clusters <= high)]
            if len(some):
                most = 8 * LANES * int((some["clusters"] * some["count"]).max())
                self.classes.append((len(some), self.kernels.upload(some), most if most <= SHARED_BYTES else 0))

    def add(self, rows: Any, weights: Any) -> None:
        """`weights` are in the units of the pass, or None."""
        for start in range(0, len(rows), self.pitch):
            part = rows[start : start + self.pitch]
            self._project(part, NULL if weights is None else weights[start : start + self.pitch], self.fixed)
            self._label(len(part), self.labels)
            for count, units, shared in self.classes:
                grid = -(-len(part) // SUMMED_ROWS), count
                given = self.fixed, np.int64(self.pitch), len(part), SUMMED_ROWS, self.labels, units
                self.kernels.launch("add_rows", grid, LANES, *given, int(shared > 0), self.sums, shared=shared)

    def finish(self) -> Sums:
        """What was added."""
        found: npt.NDArray[np.int64] = self.xp.asnumpy(self.sums).view(np.int64)
        return Sums(found[self.values], np.delete(found, self.values))


def piece_rows(n_columns: int) -> int:
    """Rows whose columns are kept at a time, in float32 and float64."""
    return max(LEAST_ROWS, SCRATCH_BYTES // (12 * n_columns) // THREADS * THREADS)
