"""How much memory this process may still use: of the machine, of its container, of its address space."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.blas import dgemm

try:
    import resource
except ImportError:  # on Windows, which has no such limits
    resource = None  # type: ignore[assignment]

PROCESS = Path("/proc/self")
CGROUPS = Path("/sys/fs/cgroup")
# Bytes: less is not worth the half millisecond that asking takes.
UNCHECKED_BYTES = 2**22
# OpenBLAS takes 2**25 bytes at its first call, once for NumPy and once for SciPy; one to spare.
BLAS_BYTES = 3 * 2**25


class CgroupFiles(NamedTuple):
    """The files in which a version of control groups keeps its limit, its use, and how much of that is cached files."""

    limit: str
    used: str
    cached: tuple[str, str]  # lines of memory.stat; such files can be read again, so they do not count


CGROUP_V1 = CgroupFiles(
    "memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file ", "total_active_file ")
)
CGROUP_V2 = CgroupFiles("memory.max", "memory.current", ("inactive_file ", "active_file "))


def check_memory(needed: int, purpose: str, instead: str) -> None:
    """Refuse, before it starts, what would be killed half-way."""
    left = shortage(needed)
    if left is not None:
        raise MemoryError(f"{purpose} needs {format_bytes(needed)}, but only {format_bytes(left)} are left. {instead}")


def format_bytes(count: int) -> str:
    """Write a number of bytes in GiB or MiB."""
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.1f} MiB"


def shortage(needed: int) -> int | None:
    """Return the bytes that are left if they are fewer than needed, otherwise None."""
    if needed < UNCHECKED_BYTES and not _ulimits():
        return None
    left = available_memory()
    return left if left is not None and left < needed else None


def available_memory(process: Path = PROCESS, cgroups: Path = CGROUPS) -> int | None:
    """Return the bytes that the tightest limit leaves, None if no limit is known."""
    left = list(_left_to_containers(process, cgroups))
    # The machine's memory less what this process holds; mapped files do not count.
    with suppress(AttributeError, ValueError, OSError):
        left.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") - _held(process, "RssAnon:"))
    # What `ulimit` leaves. Where it limits something, BLAS takes its share first.
    for name, limit in _ulimits().items():
        if _warm_up_blas.cache_info().currsize == 0:
            if limit - _held(process, name) < BLAS_BYTES:
                return 0
            _warm_up_blas()
        left.append(limit - _held(process, name))
    return max(0, min(left)) if left else None


def _left_to_containers(process: Path, cgroups: Path) -> Iterator[int]:
    """Yield what is left to each control group of this process, and to the groups around it."""
    for line in _lines(process / "cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        files, root = (CGROUP_V1, cgroups / "memory") if controllers else (CGROUP_V2, cgroups)
        # A container may not see its own group under the machine's name for it; the root is then that group.
        group = root / path.strip("/")
        for folder in (group, *group.parents):
            limit, used = _number(folder / files.limit), _number(folder / files.used)
            if limit is not None and used is not None:
                yield limit - used + sum(_number(folder / "memory.stat", name) or 0 for name in files.cached)
            if folder == root:
                break


def _ulimits() -> dict[str, int]:
    """Return the limits that are set, by the name that /proc gives to what they limit."""
    if resource is None:
        return {}
    limits = {"VmSize:": resource.RLIMIT_AS, "VmData:": resource.RLIMIT_DATA}
    soft = {name: resource.getrlimit(limit)[0] for name, limit in limits.items()}
    return {name: limit for name, limit in soft.items() if limit != resource.RLIM_INFINITY}


@cache
def _warm_up_blas() -> None:
    """Let OpenBLAS allocate its buffers while there is room: if it cannot, it ends the process."""
    square = np.ones((300, 300))
    square @ square
    dgemm(1.0, square, square)


def _held(process: Path, name: str) -> int:
    return 1024 * (_number(process / "status", name) or 0)


def _number(path: Path, start: str = "") -> int | None:
    """Return the number that follows `start` in the first line that begins with it."""
    words = next((line.removeprefix(start).split() for line in _lines(path) if line.startswith(start)), [])
    return int(words[0]) if words and words[0].isdigit() else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


# The sizes at which a fit changes how it works.


@dataclass(frozen=True)
class DeviceLimits:
    """How much of a GPU is taken at a time."""

    spare: float = 0.8  # of its free memory may be taken
    block_bytes: int = 2**28  # of rows, or of labels, on their way to it
    vote_bytes: int = 2**28
    vote_chip_bytes: int = 2**18  # of nodes' labels on the chip, if it has so much
    label_bytes: int = 2**31  # of new rows' labels in all trees
    scratch_bytes: int = 2**29  # columns and labels of the rows at hand
    least_scratch_rows: int = 4_096
    most_scratch_rows: int = 2**24
    tile_columns: int = 23  # of these rows on the chip
    chip_bytes: int = 56 * 1024  # for them and the records of their trees: four blocks have room


@dataclass(frozen=True)
class SizeLimits:
    """When a table is large, and how it is then read and sampled."""

    large_rows: int = 65_536  # tables of more rows are read in blocks, and a sample stands for them
    block_bytes: int = 2**24  # of a block of rows as float64
    least_block_rows: int = 256
    sample_rows: int = 16_384
    least_sample: int = 4_096  # of a very wide table
    sample_cells: int = 2**26
    device: DeviceLimits = DeviceLimits()

    def is_large(self, n_rows: int) -> bool:
        return n_rows > self.large_rows

    def block_rows(self, n_columns: int) -> int:
        """Choose the rows of a block."""
        return max(self.least_block_rows, self.block_bytes // (8 * n_columns))

    def sample_size(self, n_columns: int, max_samples: Any, landmarks: Any) -> int:
        """Choose the rows of a sample: fewer of a wide table, but enough to grow on and for the landmarks."""
        rows = min(self.sample_rows, max(self.least_sample, self.sample_cells // n_columns))
        return max(rows, *(int(n) for n in (max_samples, landmarks) if isinstance(n, (int, np.integer))), 1)


DEFAULT_LIMITS = SizeLimits()
