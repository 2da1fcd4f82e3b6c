"""Trees on a GPU: labels of rows that are there, and sums over these, as `passes.Pass` has them."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from clusterforests.backends.gpu_kernels import THREADS, Kernels, strides
from clusterforests.backends.gpu_trees import (
    LANES,
    WARP_SLOTS,
    flatten_ladders,
    flatten_steps,
    flatten_sums,
    flatten_trees,
    used_columns,
)
from clusterforests.devices import need_cupy
from clusterforests.passes import Pass, Sums
from clusterforests.scaling import Scaling

SCRATCH_BYTES = 2**26  # columns of the rows at hand: they stay in the GPU's cache
LEAST_ROWS = 4096
SEARCH_THREADS = 128
ROWS_OF_THREAD = 4
SEARCH_ROWS = ROWS_OF_THREAD * SEARCH_THREADS  # of a block
TILE_COLUMNS = 23  # of these rows on the chip
ROOM_BYTES = 9 * 1024  # and of centres
COLUMNS_OF_THREAD = 8
SUMMED_ROWS = 4096  # by a warp
NULL = np.uint64(0)


class DeviceLadders:
    """Those of a scaling, for all passes over its table."""

    def __init__(self, scaling: Scaling) -> None:
        self.scaling = scaling
        self.host = flatten_ladders(scaling)
        xp = need_cupy()
        self.arrays = xp.asarray(self.host.knots), xp.asarray(self.host.before)


class DeviceTrees:
    """The trees of a pass. Rows are taken in pieces whose size changes no result.

    `heaviest` is the largest weight of a row, in the units of the pass.
    """

    def __init__(self, trees: Pass, real: Any, ladders: DeviceLadders, heaviest: float = 1.0) -> None:
        self.trees = trees
        self.used = used_columns(trees)
        self.digits = digits_of(trees.mass_bits, heaviest)
        self.kernels = kernels = Kernels(real, trees.label_type, len(trees.centers), self.digits)
        self.xp = kernels.xp
        self.steps = kernels.upload(flatten_steps(trees, self.used, ladders.host)), *ladders.arrays
        self.flat = flatten_trees(trees, self.used, TILE_COLUMNS)
        self.fields = [kernels.upload(array) for array in self.flat]
        self.tile = SEARCH_ROWS * 4 * int(self.flat.groups["count"].max())
        self.pitch = piece_rows(len(self.used), self.digits)
        self.narrow = self.xp.zeros((len(self.used), self.pitch), np.float32)
        self.unsure = self.xp.zeros(1, np.uint64)  # labels that float64 decided

    def label(self, rows: Any, out: Any) -> None:
        """Into out (T, len(rows)), a view of any pitch."""
        for start in range(0, len(rows), self.pitch):
            part = rows[start : start + self.pitch]
            self._project(part, NULL, NULL)
            self._label(part, out[:, start : start + self.pitch])

    def _project(self, rows: Any, weights: Any, planes: Any) -> None:
        """The rows' columns to the scratch."""
        grid = -(-len(rows) // (ROWS_OF_THREAD * THREADS)), -(-len(self.used) // COLUMNS_OF_THREAD)
        given = (
            rows,
            *strides(rows),
            len(rows),
            self.steps[0],
            len(self.used),
            *self.steps[1:],
            np.int64(self.pitch),
            self.narrow,
        )
        mass = np.int64(1 << self.trees.mass_bits)
        self.kernels.launch("project", grid, THREADS, *given, weights, mass, self.digits, planes)

    def _label(self, rows: Any, out: Any) -> None:
        grid = -(-len(rows) // SEARCH_ROWS), len(self.flat.groups) - 1
        given = rows, *strides(rows), *self.steps, self.narrow, np.int64(self.pitch), len(rows), *self.fields
        more = out, strides(out)[0], ROOM_BYTES // 4, self.unsure
        self.kernels.launch("label_rows", grid, SEARCH_THREADS, *given, *more, shared=self.tile + ROOM_BYTES)

    def start(self) -> None:
        """Before rows are added."""
        xp = self.xp
        self.taken = taken = flatten_sums(self.trees, self.used, self.flat)
        self.threads = LANES * -(-int(taken.units["count"].max()) // WARP_SLOTS)
        self.units, self.slots = (self.kernels.upload(array) for array in (taken.units, taken.slots))
        self.sums = xp.zeros(taken.size, np.uint64)
        self.labels = xp.zeros((len(self.trees.centers), self.pitch), self.trees.label_type)
        self.planes = xp.zeros(((len(self.used) + 1) * self.digits, self.pitch), np.uint8)

    def add(self, rows: Any, weights: Any) -> None:
        """`weights` are in the units of the pass, or None."""
        for start in range(0, len(rows), self.pitch):
            part = rows[start : start + self.pitch]
            self._project(part, NULL if weights is None else weights[start : start + self.pitch], self.planes)
            self._label(part, self.labels)
            grid = len(self.taken.units), -(-len(part) // SUMMED_ROWS)
            given = self.planes, np.int64(self.pitch), len(part), SUMMED_ROWS, self.labels, self.units, self.slots
            self.kernels.launch("add_rows", grid, self.threads, *given, self.sums)

    def finish(self) -> Sums:
        """What was added."""
        found: npt.NDArray[np.int64] = self.xp.asnumpy(self.sums).view(np.int64)
        return Sums(found[self.taken.values], found[self.taken.mass])


def digits_of(bits: int, heaviest: float) -> int:
    """In base 256, from -128 to 127, of numbers up to 2**bits times a weight."""
    return -(-(bits + math.ceil(math.log2(max(heaviest, 1.0))) + 2) // 8)


def piece_rows(n_columns: int, digits: int) -> int:
    """Rows whose columns are kept at a time, in float32 and in digits."""
    return max(LEAST_ROWS, SCRATCH_BYTES // ((4 + digits) * n_columns) // THREADS * THREADS)
