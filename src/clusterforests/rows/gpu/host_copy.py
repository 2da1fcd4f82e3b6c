"""Copies from a GPU to this machine's memory that are made while both do something else."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from clusterforests._base.typing import AnyArray
from clusterforests.rows.gpu.devices import need_cupy
from clusterforests.rows.results import HostResults

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
