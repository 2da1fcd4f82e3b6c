"""How many threads a computation has."""

import sys
from functools import cache

import joblib
from threadpoolctl import ThreadpoolController


def count_threads(n_jobs: int | None) -> int:
    """As joblib says. All cores are no more than OpenMP may have, and one where others share them."""
    if n_jobs is None or n_jobs >= 0:
        return int(joblib.effective_n_jobs(n_jobs))
    if _is_shared():
        return 1
    cores = int(joblib.effective_n_jobs(n_jobs))
    return min(cores, max((pool["num_threads"] for pool in _openmp().info()), default=cores))


def _is_shared() -> bool:
    """Whether this is a worker of joblib or a task of Dask."""
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
    """What OMP_NUM_THREADS and threadpoolctl limit; scikit-learn has loaded it."""
    return ThreadpoolController().select(user_api="openmp")
