"""CUDA kernels built by the C++ compiler and run on the CPU: see emulator/."""

import atexit
import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HEADERS = Path(__file__).parent / "emulator"
COMPILER = shutil.which(os.environ.get("CXX", "c++"))
MISSING = None if sys.platform == "linux" and COMPILER else "emulated kernels need Linux and a C++ compiler"
FLAGS = (
    *("-std=c++17", "-O2", "-march=native", "-ffp-contract=off", "-fno-strict-aliasing", "-fno-exceptions"),
    *("-U_FORTIFY_SOURCE", "-fsanitize=alignment,bounds", "-fsanitize-undefined-trap-on-error"),
    *("-fPIC", "-shared", "-fvisibility=hidden", "-Wno-unknown-pragmas"),
)
KERNEL = re.compile(r"__global__\s+void\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\(")
DYNAMIC = re.compile(r"extern\s+__shared__\s+(?:(?:__align__|alignas)\s*\(\w+\)\s*)?([\w\s]+?)\s+(\w+)\s*\[\s*\]\s*;")
PLAIN_SHARED_BYTES = 48 * 1024  # a kernel may have without asking
SHARED_BYTES = 227 * 1024
MOST_THREADS = 1024
MOST_GRID = (2**31 - 1, 65535)


class Argument(ctypes.Structure):
    _fields_ = [
        ("bits", ctypes.c_uint64),
        ("size", ctypes.c_int),
        ("floating", ctypes.c_int),
        ("array", ctypes.c_int),
    ]


class Launch(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint * 2),
        ("threads", ctypes.c_uint),
        ("shared_bytes", ctypes.c_uint),
        ("count", ctypes.c_int),
        ("arguments", ctypes.POINTER(Argument)),
    ]


class KernelError(RuntimeError):
    """A launch that a GPU would refuse, hang on, or have wrong results of."""


def compile_kernels(code: str, options: tuple[str, ...] = ()) -> ctypes.PyDLL:
    """A library that has `launch_NAME` for each kernel. PyDLL, because one launch at a time is what it can do."""
    defines = [option for option in options if option.startswith("-D")]
    known = {"--std=c++17", "--fmad=false", *defines}
    if set(options) != known:
        raise ValueError(f"The emulator does what {sorted(known)} say, not {options}.")
    folder = _folder()
    path = folder / hashlib.sha256("\0".join((code, *defines)).encode()).hexdigest()[:16]
    library = path.with_suffix(".so")
    if not library.exists():
        expanded = _compile(["-E", "-x", "c++", "-DEMULATED", *defines, "-"], code)
        names = KERNEL.findall(expanded)
        body = DYNAMIC.sub(r"\1* const \2 = emulator::dynamic_shared<\1>();", expanded)
        exports = "\n".join(f"LAUNCH({name})" for name in names)
        whole = f"#include <cuda.hpp>\nnamespace kernels {{\n{body}\n}}\n{exports}\n"
        _compile([*FLAGS, "-I", str(HEADERS), "-x", "c++", "-", "-o", str(library)], whole)
    return ctypes.PyDLL(str(library))


def _compile(arguments: list[str], code: str) -> str:
    done = subprocess.run([COMPILER, *arguments], input=code, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"The kernels do not compile:\n{done.stderr}")
    return done.stdout


_made: list[Path] = []


def _folder() -> Path:
    """Of the libraries of this session."""
    if not _made:
        _made.append(Path(tempfile.mkdtemp(prefix="emulated_cuda")))
        atexit.register(shutil.rmtree, _made[0], ignore_errors=True)
    return _made[0]


class Kernel:
    """A kernel of a library. Arguments are NumPy's numbers, and arrays that have a `device_address`."""

    def __init__(self, library: ctypes.PyDLL, name: str) -> None:
        self.function = getattr(library, f"launch_{name}")
        self.function.restype = ctypes.c_char_p
        self._shared = PLAIN_SHARED_BYTES

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        return self._shared

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, size: int) -> None:
        if size > SHARED_BYTES:
            raise KernelError(f"{size} bytes of shared memory are too many")
        self._shared = size

    def __call__(self, grid, block, arguments, shared_mem=0) -> None:
        columns, lines = (*grid, 1)[:2]
        (threads,) = block
        if not (1 <= columns <= MOST_GRID[0] and 1 <= lines <= MOST_GRID[1] and 1 <= threads <= MOST_THREADS):
            raise KernelError(f"no grid of {grid} blocks of {block} threads")
        if shared_mem > self._shared:
            raise KernelError(f"{shared_mem} bytes of shared memory, {self._shared} were asked for")
        given = (Argument * len(arguments))(*map(_argument, arguments))
        found = self.function(ctypes.byref(Launch((columns, lines), threads, shared_mem, len(given), given)))
        if found is not None:
            raise KernelError(found.decode())


def _argument(value) -> Argument:
    if isinstance(value, np.generic):
        bits = int.from_bytes(value.tobytes(), sys.byteorder)
        return Argument(bits, value.itemsize, value.dtype.kind == "f", False)
    if not hasattr(value, "device_address"):
        raise TypeError(f"a kernel takes arrays of the GPU and NumPy's numbers, not {type(value).__name__}")
    return Argument(value.device_address, value.itemsize, value.dtype.kind == "f", True)
