"""How much memory this process may still take: of the machine, of its container, of its address space."""

import os
import resource
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dgemm

PROCESS = Path("/proc/self")
CGROUPS = Path("/sys/fs/cgroup")
SMALL = 2**22  # bytes that are not worth the half millisecond of asking
BLAS_BYTES = 3 * 2**25  # what OpenBLAS takes at its first call, once for NumPy and once for SciPy, and a spare


class Kind(NamedTuple):
    """The names that a version of control groups has for the same things."""

    limit: str
    used: str
    cached: tuple[str, str]  # of what is used: files that can be read again


VERSION_1 = Kind("memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file ", "total_active_file "))
VERSION_2 = Kind("memory.max", "memory.current", ("inactive_file ", "active_file "))


def shortage(needed: int) -> int | None:
    """The bytes that are left, if that is less than what is needed."""
    if needed < SMALL and not any(limit != resource.RLIM_INFINITY for limit in _ulimits().values()):
        return None
    left = available_memory()
    return left if left is not None and left < needed else None


def available_memory() -> int | None:
    """Bytes, the least of what the limits leave. None if none is known."""
    known = [left for left in (_machine(), *_containers(), *_process()) if left is not None]
    return max(0, min(known)) if known else None


def _machine() -> int | None:
    """All that there is, but for what this process holds. Mapped files do not count."""
    try:
        every = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    return every - _held("RssAnon:")


def _containers() -> Iterator[int]:
    """What is left to each control group that this process is in, and to those that these are in."""
    for line in _lines(PROCESS / "cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from _groups(CGROUPS, path, VERSION_2)
        elif "memory" in controllers.split(","):
            yield from _groups(CGROUPS / "memory", path, VERSION_1)


def _groups(root: Path, path: str, kind: Kind) -> Iterator[int]:
    """A container may not see its own group under the name that the machine has for it; then `root` is that."""
    group = root / path.strip("/")
    for folder in (group, *group.parents):
        limit, used = _number(folder / kind.limit), _number(folder / kind.used)
        if limit is not None and used is not None:
            yield limit - used + sum(_number(folder / "memory.stat", name) or 0 for name in kind.cached)
        if folder == root:
            return


def _process() -> Iterator[int]:
    """What `ulimit` leaves. Where it limits something, BLAS takes its part first."""
    for held, limit in _ulimits().items():
        if limit != resource.RLIM_INFINITY:
            if _buffers_of_blas.cache_info().currsize == 0:
                if limit - _held(held) < BLAS_BYTES:
                    yield 0
                    return
                _buffers_of_blas()
            yield limit - _held(held)


def _ulimits() -> dict[str, int]:
    """By the name that /proc has for what they limit."""
    return {
        "VmSize:": resource.getrlimit(resource.RLIMIT_AS)[0],
        "VmData:": resource.getrlimit(resource.RLIMIT_DATA)[0],
    }


@cache
def _buffers_of_blas() -> None:
    """Let OpenBLAS take them while there is room: where it finds none it ends the process."""
    square = np.ones((300, 300))
    square @ square
    dgemm(1.0, square, square)


def _held(name: str) -> int:
    return 1024 * (_number(PROCESS / "status", name) or 0)


def _number(path: Path, start: str = "") -> int | None:
    """The number after `start` in the first line that has it."""
    words = next((line.removeprefix(start).split() for line in _lines(path) if line.startswith(start)), [])
    return int(words[0]) if words and words[0].isdigit() else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
