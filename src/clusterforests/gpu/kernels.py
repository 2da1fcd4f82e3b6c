"""Load or build the CUDA kernels of `cuda/`, once for each type of table and labels, and launch them."""

import functools
from pathlib import Path
from typing import Any

import numpy as np

from clusterforests._utils.arrays import AnyArray
from clusterforests._utils.devices import need_cupy
from clusterforests.gpu.sources import FILES, Source, sources_of

THREADS = 256
PLAIN_SHARED_BYTES = 48 * 1024  # of a block's memory, for which a kernel need not ask


def compiled_for(source: Source, capability: str) -> Path | None:
    """Find kernels that were compiled for a chip, or for an earlier one of its generation, which it runs too."""
    generation, minor = int(capability[:-1]), int(capability[-1])
    paths = (source.compiled(f"{generation}{earlier}") for earlier in range(minor, -1, -1))
    return next((path for path in paths if path.exists()), None)


@functools.cache
def _module(source: Source) -> Any:
    """Load kernels, or compile them, which takes seconds; CuPy keeps what it has compiled."""
    cupy = need_cupy()
    path = compiled_for(source, cupy.cuda.Device().compute_capability)
    return cupy.RawModule(code=source.code, options=source.options) if path is None else cupy.RawModule(path=str(path))


@functools.cache
def _kernel(source: Source, name: str) -> Any:
    return _module(source).get_function(name)


class Kernels:
    """The kernels for one type of table and one type of labels in a number of trees."""

    def __init__(self, real: Any = np.float64, label: Any = np.int8, members: int = 1) -> None:
        self.xp = need_cupy()
        self.sources = sources_of(real, label, members)

    def launch(self, name: str, grid: tuple[int, ...], threads: int, *arguments: Any, shared: int = 0) -> None:
        """Launch a kernel. Python's integers are 32 bits wide for it, NumPy's are what they are."""
        plain = tuple(np.int32(a) if type(a) is int else a for a in arguments)
        kernel = _kernel(self.sources[FILES[name]], name)
        if shared > kernel.max_dynamic_shared_size_bytes:
            kernel.max_dynamic_shared_size_bytes = shared
        kernel(grid, (threads,), plain, shared_mem=shared)

    def over(self, rows: int, name: str, *arguments: Any) -> None:
        """Launch a thread for each row."""
        if rows:
            self.launch(name, (-(-rows // THREADS),), THREADS, *arguments)

    def upload(self, array: AnyArray) -> Any:
        """Copy numbers or records to the GPU."""
        plain = np.ascontiguousarray(array)
        return self.xp.asarray(plain.view(np.uint8) if plain.dtype.names else plain)


def strides(array: Any) -> list[np.int64]:
    """Count strides in elements."""
    return [np.int64(step // array.itemsize) for step in array.strides]
