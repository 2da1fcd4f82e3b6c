"""Arrays in this machine's memory, on a GPU and in Dask: which is which, and copies between them."""

import sys
from typing import Any

import numpy as np

CUDA = (2, 13)  # kinds of device in DLPack: memory of a GPU, and managed memory
INSTALL_CUPY = 'Install the CuPy that fits your CUDA, such as pip install "clusterforests[gpu]" for CUDA 12'


def on_gpu(X: Any) -> bool:
    """Return whether X is an array on an NVIDIA GPU: CuPy's, torch's, or any that says so."""
    device = getattr(X, "__dlpack_device__", None)
    if device is not None and not isinstance(X, np.ndarray):
        return device()[0] in CUDA
    return hasattr(X, "__cuda_array_interface__")


def need_cupy() -> Any:
    """Import CuPy, or raise an error that says what is missing."""
    try:
        import cupy
    except ImportError as error:
        raise ImportError(f"The GPU back end needs CuPy, which is not installed. {INSTALL_CUPY}.") from error
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(
            f"The GPU back end needs an NVIDIA GPU and its driver; CuPy finds none: {error}. Use device='cpu'."
        ) from error
    if count < 1:
        raise RuntimeError("The GPU back end needs an NVIDIA GPU; this machine has none. Use device='cpu'.")
    return cupy


def as_cupy(X: Any) -> Any:
    """View an array on the GPU as CuPy's, without a copy."""
    cupy = need_cupy()
    if isinstance(X, cupy.ndarray):
        return X
    if hasattr(X, "detach"):
        X = X.detach()
    return cupy.from_dlpack(X) if hasattr(X, "__dlpack__") else cupy.asarray(X)


def to_host(X: Any) -> Any:
    """Copy what is on a GPU into a NumPy array; return anything else as it is."""
    return need_cupy().asnumpy(as_cupy(X)) if on_gpu(X) else X


def send_to(X: Any, values: Any) -> Any:
    """Bring NumPy's or CuPy's values to where X is: an array of torch, of CuPy or of NumPy."""
    if not on_gpu(X):
        return to_host(values)
    array = need_cupy().asarray(values)
    torch = sys.modules.get("torch")
    return torch.from_dlpack(array) if torch is not None and isinstance(X, torch.Tensor) else array


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection, without importing Dask to find out."""
    dask: Any = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(X))


def in_memory(values: Any) -> Any:
    """Bring an array of Dask or of a GPU into this process's memory."""
    return values.compute() if is_dask(values) else to_host(values)
