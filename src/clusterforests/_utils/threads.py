"""The number of threads of a computation."""

import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

import joblib
import scipy.linalg  # noqa: F401 - loads its BLAS
import sklearn.cluster  # noqa: F401 - loads its OpenMP
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


def count_threads(n_jobs: int | None) -> int:
    """Translate `n_jobs` into a number of threads, by joblib's rules.

    A negative `n_jobs` means no more threads than OpenMP may use, and one thread inside a worker of joblib or a task of
    Dask, which share the cores with others.
    """
    if n_jobs is None or n_jobs >= 0:
        return int(joblib.effective_n_jobs(n_jobs))
    if _shares_cores():
        return 1
    cores = int(joblib.effective_n_jobs(n_jobs))
    return min(cores, max((pool["num_threads"] for pool in _openmp().info()), default=cores))


def map_in_threads(function: Callable[[Item], Result], items: Iterable[Item], threads: int) -> list[Result]:
    """Apply a function to items, several at a time. It must release the GIL for most of its time to be faster so."""
    if threads <= 1:
        return [function(item) for item in items]
    pool = ThreadPoolExecutor(threads)
    try:
        return list(pool.map(function, items))
    finally:
        pool.shutdown(cancel_futures=True)  # where one of them failed, or Ctrl-C came, the others are not begun


def blas_threads(count: int) -> AbstractContextManager[Any]:
    """Limit the threads of BLAS while a block runs, without looking for its libraries each time."""
    limited: AbstractContextManager[Any] = _blas().limit(limits=count)
    return limited


def openmp_threads(count: int) -> AbstractContextManager[Any]:
    """Limit the threads of OpenMP, as scikit-learn uses it, while a block runs."""
    limited: AbstractContextManager[Any] = _openmp().limit(limits=count)
    return limited


def _shares_cores() -> bool:
    """Return whether this runs in a worker of joblib or a task of Dask."""
    if joblib.parallel.get_active_backend()[0].nesting_level:
        return True
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        distributed.get_worker()
    except ValueError:
        return False
    return True


@cache
def _openmp() -> ThreadpoolController:
    """Find the OpenMP libraries, which OMP_NUM_THREADS and threadpoolctl limit."""
    return ThreadpoolController().select(user_api="openmp")


@cache
def _blas() -> ThreadpoolController:
    """Find the BLAS libraries of NumPy and SciPy."""
    return ThreadpoolController().select(user_api="blas")
