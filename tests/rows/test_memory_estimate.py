"""What a fit needs is known before it starts."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from clusterforests import ClusterForest
from clusterforests._utils import memory as limits
from clusterforests.rows.memory_estimate import check_fit_memory
from clusterforests.rows.memory_estimate import estimate_memory as estimate_for
from clusterforests.rows.protocol import ReadingSettings


def estimate_memory(n_samples, n_features, *, copied=False, **settings):
    return estimate_for(ReadingSettings(**settings), n_samples, n_features, copied=copied)


FIT = """
import numpy as np

from clusterforests import ClusterForest

def memory(what):
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(what))

X = np.random.default_rng(0).normal(size={shape}).astype({kind!r})
X[: len(X) // 2, :4] += 4
ClusterForest(2, n_estimators=3, random_state=0).fit(X[:300])
held = memory("VmRSS")
ClusterForest(2, n_estimators={trees}, random_state=0).fit(X)
print(memory("VmHWM") - held)  # not getrusage: its peak is that of the parent, if that was higher
"""


def measure(shape, kind, trees):
    code = FIT.format(shape=shape, kind=kind, trees=trees)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_estimate_is_near_the_peak():
    measured = measure((120_000, 10), "float32", 150)
    expected = estimate_memory(120_000, 10, n_estimators=150).total
    assert expected == pytest.approx(measured, rel=0.25)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("shape", "most"), [((20_000, 50), 5), ((100_000, 100), 1.5)])
def test_a_fit_needs_no_more_than_the_estimate(shape, most):
    """It may be 5 % low. Of 20,000 rows it allows for a graph of 5,000, which they have if their labels all differ."""
    measured, expected = measure(shape, "float64", 200), estimate_memory(*shape).total
    assert measured / 1.05 < expected < most * measured


def test_stages():
    small, large = estimate_memory(1000, 20), estimate_memory(10**6, 20)
    assert small.partitions == 4 * 200 * 1000
    assert large.partitions == 200 * 10**6
    assert small.consensus > 24 * 1000**2
    assert large.consensus == estimate_memory(10**7, 20).consensus
    assert estimate_memory(10**6, 20, copied=True).input - large.input == 2 * 8 * 20 * 10**6  # encoded, then filled
    assert estimate_memory(10**6, 20, n_landmarks=4000).consensus > 3 * large.consensus
    assert estimate_memory(10**6, 20, max_samples=10**5).sample > 5 * large.sample
    assert estimate_memory(50_000, 20, n_landmarks=None, consensus="ncut", n_estimators=100).total < 2**30
    assert estimate_memory(50_000, 20, n_landmarks=None).total > 24 * 50_000**2
    assert large.total >= large.partitions + large.consensus


@pytest.mark.parametrize(
    ("changes", "advice"),
    [
        ({}, "n_estimators="),
        ({"n_landmarks": 30_000}, "n_landmarks=2000"),
        ({"max_samples": 900_000}, "max_samples=16384"),
        ({"max_samples": None}, "max_samples=16384"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_setting_that_does(changes, advice, monkeypatch):
    settings = ReadingSettings(**changes)
    needed = estimate_for(settings, 10**6, 20).total
    monkeypatch.setattr(limits, "available_memory", lambda: needed)
    check_fit_memory(settings, (10**6, 20))
    monkeypatch.setattr(limits, "available_memory", lambda: needed - 2**20)
    with pytest.raises(
        MemoryError, match=rf"1000000 rows and 20 columns needs .* [GM]iB.* {advice}\d* would fit"
    ) as told:
        check_fit_memory(settings, (10**6, 20))
    name, value = str(told.value).split()[-3].split("=")
    check_fit_memory(replace(settings, **{name: int(value)}), (10**6, 20))


def test_a_fit_is_refused_before_it_starts(monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 2**20)
    with pytest.raises(MemoryError, match="Take fewer rows or columns"):
        ClusterForest(3).fit(np.random.default_rng(0).normal(size=(500, 30)))
    monkeypatch.setattr(limits, "available_memory", lambda: None)
    ClusterForest(3, n_estimators=3).fit(np.random.default_rng(0).normal(size=(500, 30)))


# A fit with so many MiB of address space beyond what the imports took: done, or a MemoryError.
CAPPED = """
import resource
import sys

import numpy as np

from clusterforests import ClusterForest, consensus_clustering

kind, rooms = sys.argv[1], [int(room) for room in sys.argv[2:]]
rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 8))
X[:1500, :4] += 5
settings = {}
if kind == "many rows":
    X = np.tile(X, (27, 1)) + rng.normal(size=(81_000, 8))
elif kind == "missing cells":
    X[rng.random(X.shape) < 0.1] = np.nan
elif kind == "operator":
    settings = {"consensus": "ncut", "n_landmarks": None}
elif kind == "wide":
    X = rng.normal(size=(200, 5000))

def held(name):
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(name))

def work():
    if kind == "partitions":
        consensus_clustering(rng.integers(0, 9, (60, 2000)), 3, method="average")
    else:
        ClusterForest(3, n_estimators=40, n_jobs=2, random_state=0, **settings).fit(X).predict(X[:100])

for room in rooms:
    resource.setrlimit(resource.RLIMIT_AS, (held("VmSize:") + room * 2**20, resource.RLIM_INFINITY))
    try:
        work()
    except MemoryError as error:
        print("refused", error, flush=True)
    else:
        print("done", flush=True)
"""
LONG = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("many rows", "wide")]
KINDS = ["dense", "operator", "missing cells", "partitions", *LONG]
ROOMS = [1, 8, 40, 100, 150, 200, 300, 1000]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("kind", KINDS)
def test_with_little_memory_a_fit_is_refused_and_never_ends_the_process(kind):
    """All in one process, so that what an error leaves behind would show."""
    rooms = list(map(str, ROOMS))
    done = subprocess.run([sys.executable, "-c", CAPPED, kind, *rooms], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    told = done.stdout.splitlines()
    assert len(told) == len(ROOMS)
    assert told[0].startswith("refused")
    assert told[-1] == "done"
