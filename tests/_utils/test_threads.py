"""How many threads n_jobs means: alone, inside joblib and Dask, and under limits."""

import os
import subprocess
import sys

import joblib
import numpy as np
import pytest
from distributed import Client, LocalCluster
from threadpoolctl import threadpool_limits

from clusterforests import ClusterForest
from clusterforests._utils.threads import count_threads


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_no_more_threads_inside_of_joblib(backend):
    work = joblib.delayed(count_threads)
    assert joblib.Parallel(n_jobs=2, backend=backend)(work(n) for n in (None, -1, 1)) == [1, 1, 1]


@pytest.mark.parametrize("processes", [False, True])
def test_no_more_threads_inside_of_dask(processes):
    """These are a user's own tasks, in threads of this process and in other processes."""
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=processes, dashboard_address=None) as started,
        Client(started) as client,
    ):
        assert client.gather(client.map(count_threads, (None, -1, 1))) == [1, 1, 1]
    assert count_threads(-1) == joblib.cpu_count()


def test_all_cores_are_no_more_than_openmp_may_have():
    with threadpool_limits(1):
        assert count_threads(-1) == 1
        assert count_threads(2) == 2
    assert count_threads(-1) == joblib.cpu_count()
    code = "from clusterforests._utils.threads import count_threads; print(count_threads(-1))"
    limited = {**os.environ, "OMP_NUM_THREADS": "1"}
    assert subprocess.run([sys.executable, "-c", code], env=limited, capture_output=True, check=True).stdout == b"1\n"


def test_zero_threads_are_refused():
    with pytest.raises(ValueError, match="n_jobs"):
        ClusterForest(2, n_jobs=0).fit(np.eye(9))


def test_all_cores_are_those_that_the_process_may_use(monkeypatch):
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert count_threads(-1) == 1
    finally:
        os.sched_setaffinity(0, allowed)
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert count_threads(-1) == 1
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT")
    assert count_threads(-1) == joblib.cpu_count() <= len(allowed)
