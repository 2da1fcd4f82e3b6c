"""Repeating the same work takes no more memory and no more open files."""

import subprocess
import sys

import pytest

# Each kind of work is repeated until nothing new is cached, then sixty times more. Memory that malloc keeps for
# later is no leak: it is given back before both measurements.
REPEAT = """
import ctypes
import gc
import os
import sys
import tempfile

import numpy as np

from clusterforests import ClusterForest, PaperForest, consensus_clustering
from clusterforests._utils.memory import SizeLimits

kind, times = sys.argv[1], 60
rng = np.random.default_rng(0)
X = rng.normal(size=(90, 4))
X[:30, :2] += 6
Y = X.copy()
Y[rng.random(X.shape) < 0.1] = np.nan
P = rng.integers(0, 5, (10, 90))
folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "m.cf")
if kind == "many rows":
    ClusterForest._limits = SizeLimits(large_rows=50)
forest = ClusterForest(3, n_estimators=8, n_jobs=2, random_state=0)
fitted = ClusterForest(3, n_estimators=8, random_state=0).fit(X)

def save_and_load():
    fitted.save(path)
    ClusterForest.load(path)

def fail():
    for wrong in ({"n_clusters": 0}, {"n_base_clusters": 100}):
        try:
            ClusterForest(**{"n_clusters": 3, **wrong}).fit(X)
        except ValueError:
            continue
        raise AssertionError

def write_report():
    from clusterforests.app.report import write_report
    write_report(fitted, X, path)

work = {
    "default": lambda: forest.fit(X),
    "many rows": lambda: forest.fit(X),
    "missing cells": lambda: forest.fit(Y),
    "number of clusters": lambda: ClusterForest(range(2, 4), n_estimators=8, random_state=0).fit(X),
    "paper": lambda: PaperForest(3, n_estimators=8, n_jobs=2, random_state=0).fit(X),
    "predict": lambda: (fitted.predict(X), fitted.predict_proba(X), fitted.memberships_),
    "save and load": save_and_load,
    "consensus": lambda: [consensus_clustering(P, 3, method=m) for m in ("ncut", "kway", "average", "medoid")],
    "errors": fail,
    "report": write_report,
}[kind]
trim = getattr(ctypes.CDLL(None), "malloc_trim", None)

def held():
    gc.collect()
    if trim is not None:
        trim(0)
    with open("/proc/self/status") as lines:
        memory = next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
    return memory, len(os.listdir("/proc/self/fd"))

for _ in range(20):
    work()
before = held()
for _ in range(times):
    work()
after = held()
print(after[0] - before[0], after[1] - before[1])
"""
SLOW = ("many rows", "missing cells", "number of clusters", "paper", "consensus", "report")
KINDS = [
    *("default", "predict", "save and load", "errors"),
    *(pytest.param(kind, marks=pytest.mark.slow) for kind in SLOW),
]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("kind", KINDS)
def test_repeating_takes_no_more_memory_and_files(kind):
    done = subprocess.run([sys.executable, "-c", REPEAT, kind], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    grown, files = map(int, done.stdout.split())
    assert grown <= 1024
    assert files == 0
