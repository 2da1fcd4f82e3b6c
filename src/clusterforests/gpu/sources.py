"""The CUDA kernels of `cuda/`: which file has which, for which types. It imports nothing of the package, so that
`tools/compile_kernels.py` can read it before the package is built.
"""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SOURCES = {
    "rows": ("survey_rows", "take_rows", "find_unequal", "project"),
    "sample": ("order_keys", "count_chances", "take_keys"),
    "nearest": ("label_rows",),
    "votes": (
        *(f"votes_{count}" for count in range(1, 9)),
        *("embed_rows", "linked_rows", "walk_rows", "share_rows", "name_rows", "tally_rows"),
    ),
    "companions": ("count_cells", "sum_lines", "sum_companions"),
}
FILES = {kernel: name for name, kernels in SOURCES.items() for kernel in kernels}
INCLUDED = {"rows": ("hash.cuh", "steps.cuh"), "sample": ("hash.cuh",), "nearest": ("steps.cuh",)}
TYPES = "typedef long long i64;\ntypedef unsigned long long u64;\n"
REALS = {"float32": "float", "float64": "double"}
LABELS = {"int8": "signed char", "int16": "short", "int32": "int"}
FOLDER = Path(__file__).parent / "cuda"
COMPILED = FOLDER / "compiled"  # what tools/compile_kernels.py makes
OPTIONS = ("--std=c++17", "--fmad=false")  # multiplications and additions are fused only where the source says so


class Source(NamedTuple):
    """A file of kernels for some types of table and labels."""

    name: str
    types: tuple[str, ...]  # options that say which

    @property
    def code(self) -> str:
        files = *INCLUDED.get(self.name, ()), f"{self.name}.cu"
        return TYPES + "".join((FOLDER / file).read_text(encoding="utf-8") for file in files)

    @property
    def options(self) -> tuple[str, ...]:
        return (*OPTIONS, *self.types)

    def compiled(self, capability: str) -> Path:
        """Name the file of the kernels compiled for a chip, such as "90": another one if the source changes."""
        digest = hashlib.sha256("\0".join((self.code, *self.options)).encode()).hexdigest()[:12]
        return COMPILED / f"{self.name}-{digest}.sm_{capability}.cubin"


def sources_of(real: Any, label: Any, members: int) -> dict[str, Source]:
    """List the kernels for one type of table and one type of labels in a number of trees."""
    reals = f"-DREAL={REALS[np.dtype(real).name]}"
    labels = f"-DLABEL={LABELS[np.dtype(label).name]}"
    types = {
        "rows": (reals,),
        "nearest": (reals, labels),
        "votes": (labels, f"-DCOUNT_BYTES={1 if members < 256 else 2}"),
        "companions": (labels,),
    }
    return {name: Source(name, types.get(name, ())) for name in SOURCES}
