"""A Lloyd pass on a GPU: labels of rows that are there, and sums over them, as `rows.lloyd_pass.LloydPass` has."""

import math
from typing import Any

import numpy as np

from clusterforests._base.size_limits import DeviceLimits
from clusterforests._base.typing import Int64Array
from clusterforests.rows.gpu.devices import need_cupy
from clusterforests.rows.gpu.flat_trees import (
    LANES,
    SEARCH_ROWS,
    WARP_SLOTS,
    flatten_ladders,
    flatten_steps,
    flatten_sums,
    flatten_trees,
    used_columns,
)
from clusterforests.rows.gpu.kernels import THREADS, Kernels, strides
from clusterforests.rows.lloyd_pass import LloydPass, Sums
from clusterforests.tables.scaling import Scaling

ROWS_OF_THREAD = 4
COLUMNS_OF_THREAD = 6
SUMMED_ROWS = 4096  # by a warp
NULL = np.uint64(0)


class DeviceLadders:
    """The ladders of a scaling, for all passes over its table."""

    def __init__(self, scaling: Scaling) -> None:
        self.scaling = scaling
        self.host = flatten_ladders(scaling)
        xp = need_cupy()
        self.arrays = xp.asarray(self.host.knots), xp.asarray(self.host.before)


class DeviceTrees:
    """The trees of a pass. Rows are taken in pieces whose size changes no result.

    `heaviest` is the largest weight of a row, in the units of the pass.
    """

    def __init__(
        self, trees: LloydPass, real: Any, ladders: DeviceLadders, limits: DeviceLimits, heaviest: float = 1.0
    ) -> None:
        self.trees, self.chip_bytes = trees, limits.chip_bytes
        self.used = used_columns(trees)
        self.digits = digits_of(trees.mass_bits, heaviest)
        self.kernels = kernels = Kernels(real, trees.label_type, len(trees.centers), self.digits)
        self.xp = kernels.xp
        steps, terms = flatten_steps(trees, self.used, ladders.host)
        self.steps = kernels.upload(steps), *ladders.arrays, kernels.upload(terms)
        self.order = kernels.upload(np.argsort(steps["column"][: len(self.used)], kind="stable").astype(np.int32))
        self.flat = flatten_trees(trees, self.used, limits)
        self.fields = [kernels.upload(array) for array in self.flat]
        label_bytes = len(trees.centers) * np.dtype(trees.label_type).itemsize
        self.pitch = piece_rows((4 + self.digits) * len(self.used) + label_bytes, limits)
        self.narrow = self.xp.zeros((len(self.used), self.pitch), np.float32)
        self.unsure = self.xp.zeros(1, np.uint64)  # labels that float64 decided

    def label(self, rows: Any, out: Any) -> None:
        """Write labels into out (T, len(rows)), a view of any pitch."""
        for start in range(0, len(rows), self.pitch):
            part = rows[start : start + self.pitch]
            self._project(part, NULL, NULL)
            self._label(part, out[:, start : start + self.pitch])

    def _project(self, rows: Any, weights: Any, planes: Any) -> None:
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
        mass = np.int64(1 << self.trees.mass_bits)
        self.kernels.launch("project", grid, THREADS, *given, weights, mass, self.digits, planes)

    def _label(self, rows: Any, out: Any) -> None:
        grid = len(self.flat.groups) - 1, -(-len(rows) // SEARCH_ROWS)
        given = rows, *strides(rows), *self.steps, self.narrow, np.int64(self.pitch), len(rows), *self.fields
        more = out, strides(out)[0], self.chip_bytes // 4, self.unsure
        self.kernels.launch("label_rows", grid, SEARCH_ROWS // ROWS_OF_THREAD, *given, *more, shared=self.chip_bytes)

    def start(self) -> None:
        """Prepare for rows to be added."""
        xp = self.xp
        self.taken = taken = flatten_sums(self.trees, self.used, self.flat)
        self.threads = LANES * -(-int(taken.units["count"].max()) // WARP_SLOTS)
        self.units, self.slots = (self.kernels.upload(array) for array in (taken.units, taken.slots))
        self.sums = xp.zeros(taken.size, np.uint64)
        self.labels = xp.zeros((len(self.trees.centers), self.pitch), self.trees.label_type)
        self.planes = xp.zeros(((len(self.used) + 1) * self.digits, self.pitch), np.uint8)

    def add(self, rows: Any, weights: Any) -> None:
        """Add rows. `weights` are in the units of the pass, or None."""
        for start in range(0, len(rows), self.pitch):
            part = rows[start : start + self.pitch]
            self._project(part, NULL if weights is None else weights[start : start + self.pitch], self.planes)
            self._label(part, self.labels)
            grid = len(self.taken.units), -(-len(part) // SUMMED_ROWS)
            given = self.planes, len(self.used) + 1, np.int64(self.pitch), len(part), SUMMED_ROWS
            self.kernels.launch("add_rows", grid, self.threads, *given, self.labels, self.units, self.slots, self.sums)

    def finish(self) -> Sums:
        """Return what was added."""
        found: Int64Array = self.xp.asnumpy(self.sums).view(np.int64)
        return Sums(found[self.taken.values], found[self.taken.mass])


def digits_of(bits: int, heaviest: float) -> int:
    """Count the digits in base 256, from -128 to 127, of numbers up to 2**bits times a weight."""
    return -(-(bits + math.ceil(math.log2(max(heaviest, 1.0))) + 2) // 8)


def piece_rows(row_bytes: int, limits: DeviceLimits) -> int:
    """Choose how many rows are kept at a time: their columns, in float32 and in digits, and their labels."""
    rows = limits.scratch_bytes // row_bytes // THREADS * THREADS
    return min(max(limits.least_scratch_rows, rows), limits.most_scratch_rows)
