"""The core in forks, in threads, in interpreters that are shutting down, and beside other parallel work."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from clusterforests import ClusterForest

BEGIN = """
import multiprocessing, os, sys, threading, time
import numpy as np
from clusterforests import ClusterForest
X = np.random.default_rng(0).normal(size=(600, 6))
def labels(n_jobs=3):
    return ClusterForest(3, n_estimators=30, random_state=0, n_jobs=n_jobs).fit(X).labels_
"""


def run(text):
    """Run a program and return its output."""
    done = subprocess.run([sys.executable, "-c", BEGIN + text], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Fatal" not in done.stderr
    assert "terminate" not in done.stderr
    return done.stdout


def test_fork_after_a_fit_with_threads():
    run("""
here = labels()
child = os.fork()
if child == 0:
    os._exit(0 if (labels() == here).all() else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")


@pytest.mark.slow
def test_a_pool_of_forks():
    run("""
here = labels()
with multiprocessing.get_context("fork").Pool(2) as pool:
    for there in pool.map(labels, [1, 2, 3, 4]):
        assert (there == here).all()
""")


@pytest.mark.slow
def test_fork_while_another_thread_fits():
    run("""
here = labels()
fitting = threading.Thread(target=lambda: [labels() for _ in range(5)])
fitting.start()
for _ in range(5):
    child = os.fork()
    if child == 0:
        os._exit(0 if (labels() == here).all() else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
fitting.join()
""")


@pytest.mark.parametrize("ends", [2, pytest.param(30, marks=pytest.mark.slow)])
def test_python_ends_while_daemon_threads_fit(ends):
    """Such a thread may be in the core, or waiting for the GIL, when the interpreter is gone."""
    for i in range(ends):
        text = """
many = np.random.default_rng(0).normal(size=(100_000, 10))
def fit():
    while True:
        ClusterForest(5, n_estimators=20, random_state=0, n_jobs=2).fit(many)
for _ in range(2):
    threading.Thread(target=fit, daemon=True).start()
time.sleep(DELAY)
print("done")
"""
        assert run(text.replace("DELAY", str(0.2 + 0.17 * (i % 7)))) == "done\n"


def test_another_interpreter_refuses_or_works():
    found = run("""
try:
    import _xxsubinterpreters as interpreters
except ImportError:  # since Python 3.13
    import _interpreters as interpreters
other = interpreters.create()
try:
    error = interpreters.run_string(other, "from clusterforests import _core; _core.instruction_set()")
except Exception as raised:
    error = raised
print("works" if error is None else f"refused {error}")
assert len(labels()) == 600
""")
    assert found.startswith(("works", "refused"))


def fit_labels(X, n_jobs):
    return ClusterForest(3, n_estimators=30, random_state=0, n_jobs=n_jobs).fit(X).labels_


def test_threads_that_fit_at_once_agree(blobs):
    X = np.vstack([blobs[0]] * 4) + np.random.default_rng(0).normal(size=(300, 6))
    expected = fit_labels(X, 1)
    found = {}

    def work(i):
        found[i] = fit_labels(X, 1 + i % 3)

    threads = [threading.Thread(target=work, args=(i,), daemon=bool(i % 2)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert all(np.array_equal(labels, expected) for labels in found.values())


def most_threads(work):
    """Count the most threads the process had beyond those before, without the one that counts."""

    def count():
        while not done.is_set():
            counts.append(len(os.listdir("/proc/self/task")))
            time.sleep(0.001)

    work()  # by now all thread pools exist
    counts, done = [], threading.Event()
    before = len(os.listdir("/proc/self/task")) + 1
    counter = threading.Thread(target=count)
    counter.start()
    try:
        work()
    finally:
        done.set()
        counter.join()
    return max(counts) - before


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_a_fit_has_n_jobs_threads(n_jobs):
    X = np.random.default_rng(0).normal(size=(2500, 10))
    more = most_threads(lambda: ClusterForest(4, n_estimators=60, random_state=0, n_jobs=n_jobs).fit(X))
    assert more == n_jobs - 1
