"""Build the CUDA kernels of `cuda/`, once for each type of table and labels, and launch them."""

import functools
from pathlib import Path
from typing import Any

import numpy as np

from clusterforests._base.typing import AnyArray
from clusterforests.rows.gpu.devices import need_cupy

SOURCES = {
    "rows": ("survey_rows", "chances", "project"),
    "nearest": ("label_rows",),
    "votes": (*(f"votes_{count}" for count in range(1, 9)), "embed_rows", "walk_rows", "share_rows"),
}
FILES = {kernel: name for name, kernels in SOURCES.items() for kernel in kernels}
INCLUDED = {"rows": "steps.cuh", "nearest": "steps.cuh"}
TYPES = "typedef long long i64;\ntypedef unsigned long long u64;\n"
REALS = {"float32": "float", "float64": "double"}
LABELS = {"int8": "signed char", "int16": "short", "int32": "int"}
THREADS = 256


@functools.cache
def _kernel(name: str, *types: str) -> Any:
    """Build a kernel that fuses multiplications and additions only where the source says so, as on the CPU."""
    return _module(FILES[name], *types).get_function(name)


@functools.cache
def _module(name: str, *types: str) -> Any:
    folder = Path(__file__).parent / "cuda"
    files = [INCLUDED[name]] if name in INCLUDED else []
    code = TYPES + "".join((folder / file).read_text(encoding="utf-8") for file in [*files, f"{name}.cu"])
    return need_cupy().RawModule(code=code, options=("--std=c++17", "--fmad=false", *types))


class Kernels:
    """The kernels for one type of table and one type of labels in a number of trees."""

    def __init__(self, real: Any = np.float64, label: Any = np.int8, members: int = 1) -> None:
        self.xp = need_cupy()
        reals = f"-DREAL={REALS[np.dtype(real).name]}"
        labels = f"-DLABEL={LABELS[np.dtype(label).name]}"
        self.types = {
            "rows": (reals,),
            "nearest": (reals, labels),
            "votes": (labels, f"-DCOUNT_BYTES={1 if members < 256 else 2}"),
        }

    def launch(self, name: str, grid: tuple[int, ...], threads: int, *arguments: Any, shared: int = 0) -> None:
        """Launch a kernel. Python's integers are 32 bits wide for it, NumPy's are what they are."""
        plain = tuple(np.int32(a) if type(a) is int else a for a in arguments)
        kernel = _kernel(name, *self.types[FILES[name]])
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

    def chances(self, names: Any, key: np.uint64) -> Any:
        """Compute the random numbers of `row_sampling.waiting`."""
        out = self.xp.empty_like(names)
        self.over(len(names), "chances", names, np.int64(len(names)), key, out)
        return out


def strides(array: Any) -> list[np.int64]:
    """Count strides in elements."""
    return [np.int64(step // array.itemsize) for step in array.strides]
