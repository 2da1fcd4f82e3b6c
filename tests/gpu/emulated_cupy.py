"""CuPy as far as clusterforests uses it, made of NumPy; its kernels run in the emulator.

Arrays are no arrays of NumPy: as on a GPU, what mixes the two is an error. Each ends where nothing can be read or
written, so that a kernel that goes beyond the end fails, and a new one is full of garbage.
"""

import ctypes
import mmap
import types
import weakref
from typing import ClassVar

import numpy as np
from emulated_cuda import SHARED_BYTES, Kernel, compile_kernels

ALIGNMENT = 16
GARBAGE = 0xA5
FACTS = ("dtype", "itemsize", "nbytes", "ndim", "shape", "size", "strides")
METHODS = ("argmax", "argmin", "astype", "copy", "max", "min", "sum", "view")
FUNCTIONS = ("argwhere", "bincount", "diff", "flatnonzero", "isinf", "maximum", "minimum", "partition")

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


class ndarray(np.lib.mixins.NDArrayOperatorsMixin):
    """Memory that kernels and the functions of this module read."""

    def __init__(self, host):
        self._host = host

    @property
    def device_address(self):
        return self._host.ctypes.data

    def __getattr__(self, name):
        if name in FACTS:
            return getattr(self._host, name)
        if name in METHODS:
            return _lift(getattr(self._host, name))
        raise AttributeError(f"emulated arrays have no {name}")

    def __array_ufunc__(self, ufunc, method, *inputs, **given):
        return _lift(getattr(ufunc, method))(*inputs, **given)

    def __array__(self, *_, **__):
        raise TypeError("an array of the GPU does not become one of NumPy by itself: use asnumpy")

    def __dlpack_device__(self):
        return 2, 0

    def __getitem__(self, at):
        return _wrap(self._host[_index(at)])

    def __setitem__(self, at, values):
        self._host[_index(at)] = _unwrap(values)

    def set(self, values):
        """Copy from memory."""
        if not isinstance(values, np.ndarray) or values.dtype != self.dtype or values.shape != self.shape:
            raise TypeError("set takes an array of NumPy of the same type and shape")
        self._host[...] = values

    def get(self, stream=None, out=None):
        """Copy to memory."""
        if out is None:
            return asnumpy(self)
        out[...] = self._host
        return out

    def __len__(self):
        return len(self._host)

    def __int__(self):
        return int(self._host)

    def __bool__(self):
        return bool(self._host)

    def __repr__(self):
        return f"emulated {self._host!r}"


def _index(at):
    """CuPy takes indices of either kind."""
    if isinstance(at, tuple):
        return tuple(map(_index, at))
    return at._host if isinstance(at, ndarray) else at


def _unwrap(value):
    """What is in an emulated array; arrays of this machine are refused."""
    if isinstance(value, np.ndarray):
        raise TypeError("an array of NumPy where one of the GPU is needed")
    return value._host if isinstance(value, ndarray) else value


def _wrap(value):
    """A view as it is; numbers and new arrays on the GPU."""
    if isinstance(value, np.ndarray) and value.base is not None:
        return ndarray(value)
    return asarray(value)


def _lift(function):
    def lifted(*arguments, **named):
        return _wrap(function(*map(_unwrap, arguments), **{name: _unwrap(value) for name, value in named.items()}))

    return lifted


def _allocate(shape, dtype, order="C"):
    """Zeros."""
    dtype = np.dtype(dtype)
    needed = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    page = mmap.PAGESIZE
    size = -(-needed // page) * page
    access, kind = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    start = _libc.mmap(None, size + page, access, kind, -1, 0)
    if start in (None, ctypes.c_void_p(-1).value) or _libc.mprotect(start + size, page, 0):
        raise MemoryError(f"no {needed} bytes for an emulated array")
    at = start + size - -(-needed // ALIGNMENT) * ALIGNMENT
    memory = (ctypes.c_uint8 * needed).from_address(at)
    weakref.finalize(memory, _libc.munmap, start, size + page).atexit = False
    return np.frombuffer(memory, dtype).reshape(shape, order=order)


def empty(shape, dtype=np.float64):
    out = _allocate(shape, dtype)
    out.reshape(-1).view(np.uint8)[...] = GARBAGE
    return ndarray(out)


def zeros(shape, dtype=np.float64):
    return ndarray(_allocate(shape, dtype))


def full(shape, value, dtype=None):
    out = zeros(shape, np.asarray(value).dtype if dtype is None else dtype)
    out[...] = value
    return out


def ones(shape, dtype=np.float64):
    return full(shape, 1, dtype)


def empty_like(array):
    return empty(array.shape, array.dtype)


def asarray(values, dtype=None, order=None):
    if isinstance(values, ndarray) and dtype in (None, values.dtype) and order is None:
        return values
    host = np.asarray(values._host if isinstance(values, ndarray) else values, dtype=dtype)
    if order is None:
        order = "F" if host.flags.f_contiguous and not host.flags.c_contiguous else "C"
    out = _allocate(host.shape, host.dtype, order)
    out[...] = host
    return ndarray(out)


def asnumpy(array):
    return array._host.copy(order="K") if isinstance(array, ndarray) else np.asarray(array)


def argsort(array):
    """CuPy's sort is stable."""
    return _lift(np.argsort)(array, kind="stable")


globals().update({name: _lift(getattr(np, name)) for name in FUNCTIONS})


class RawModule:
    def __init__(self, code, options):
        self.library = compile_kernels(code, tuple(options))

    def get_function(self, name):
        return Kernel(self.library, name)


class CUDARuntimeError(RuntimeError):
    pass


class Device:
    """The only one there is; a lower number of free bytes can be set."""

    id = 0
    free = 2**32
    compute_capability = "990"  # for which nothing is compiled
    attributes: ClassVar = {"MaxSharedMemoryPerBlockOptin": SHARED_BYTES}

    def __init__(self, number=0):
        self.number = number

    @property
    def mem_info(self):
        return self.free, 2**32

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


def get_default_memory_pool():
    return types.SimpleNamespace(free_bytes=lambda: 0)


cuda = types.SimpleNamespace(
    Device=Device,
    Event=lambda: types.SimpleNamespace(record=lambda: None),
    Stream=lambda non_blocking: types.SimpleNamespace(wait_event=lambda event: None),
    runtime=types.SimpleNamespace(getDeviceCount=lambda: 1, CUDARuntimeError=CUDARuntimeError),
)
