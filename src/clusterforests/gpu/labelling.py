"""Labels of rows that are on a GPU, as `rows.lloyd_pass.Labelling` has them."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from clusterforests._utils.arrays import AnyArray
from clusterforests._utils.devices import need_cupy
from clusterforests._utils.memory import DeviceLimits
from clusterforests.gpu.flat_trees import SEARCH_ROWS, flatten_ladders, flatten_steps, flatten_trees, used_columns
from clusterforests.gpu.kernels import THREADS, Kernels, strides
from clusterforests.rows.lloyd_pass import Labelling
from clusterforests.rows.results import HostResults
from clusterforests.table.scaling import Scaling

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


# Copies from a GPU to this machine's memory that are made while both do something else.

COPIERS = 4  # threads: one alone spends its time on bringing in new pages


class HostCopy:
    """A copy of an array on the GPU, begun as soon as what was asked of the GPU so far is done."""

    def __init__(self, array: Any) -> None:
        cupy = need_cupy()
        self.array = array
        self.host: AnyArray = np.empty(array.shape, array.dtype)
        ready = cupy.cuda.Event()
        ready.record()
        parts = [part for part in np.array_split(np.arange(len(array)), COPIERS) if len(part)]
        self._copiers = ThreadPoolExecutor(COPIERS)
        device = cupy.cuda.Device().id
        self._copies = [self._copiers.submit(self._copy, device, ready, slice(p[0], p[-1] + 1)) for p in parts]

    def _copy(self, device: int, ready: Any, some: slice) -> None:
        cupy = need_cupy()
        with cupy.cuda.Device(device):
            stream = cupy.cuda.Stream(non_blocking=True)
            stream.wait_event(ready)
            self.array[some].get(stream=stream, out=self.host[some])

    def wait(self) -> AnyArray:
        """Wait for the copy."""
        copies: Sequence[Future[None]] = self._copies
        for copy in copies:
            copy.result()
        self._copiers.shutdown()
        return self.host


class CopiedResults(HostResults):
    """Arrays of NumPy, of which some are already on their way from the GPU."""

    def __init__(self) -> None:
        self.copy: HostCopy | None = None

    def begin(self, array: Any) -> None:
        """Begin to copy an array that will be sent."""
        self.copy = HostCopy(array)

    def send(self, values: Any) -> Any:
        if self.copy is None or self.copy.array is not values:
            return super().send(values)
        copy, self.copy = self.copy, None
        return copy.wait()
