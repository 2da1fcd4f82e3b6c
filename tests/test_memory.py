"""What a fit needs is known before it starts."""

import subprocess
import sys

import numpy as np
import pytest

from clusterforests import ClusterForest, memory, validation
from clusterforests.memory import check_fit_memory, estimate_memory

SETTINGS = {"n_estimators": 200, "max_samples": "auto", "landmarks": "auto", "consensus": "auto"}

FIT = """
import numpy as np

from clusterforests import ClusterForest

def memory(what):
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(what))

X = np.random.default_rng(0).normal(size=(120_000, 10)).astype(np.float32)
X[:60_000, :4] += 4
ClusterForest(2, n_estimators=3, random_state=0).fit(X[:300])
held = memory("VmRSS")
ClusterForest(2, n_estimators=150, random_state=0).fit(X)
print(memory("VmHWM") - held)  # not getrusage: its peak is that of the parent, if that was higher
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_estimate_is_near_the_peak():
    done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=True)
    measured = int(done.stdout)
    expected = estimate_memory(120_000, 10, n_estimators=150).total
    assert expected == pytest.approx(measured, rel=0.25)


def test_stages():
    small, large = estimate_memory(1000, 20), estimate_memory(10**6, 20)
    assert small.partitions == 4 * 200 * 1000
    assert large.partitions == 200 * 10**6
    assert small.consensus > 24 * 1000**2
    assert large.consensus == estimate_memory(10**7, 20).consensus
    assert estimate_memory(10**6, 20, copied=True).input - large.input == 2 * 8 * 20 * 10**6  # encoded, then filled
    assert estimate_memory(10**6, 20, wide_labels=True).partitions == 2 * large.partitions
    assert estimate_memory(10**6, 20, landmarks=4000).consensus > 3 * large.consensus
    assert estimate_memory(10**6, 20, max_samples=10**5).sample > 5 * large.sample
    assert estimate_memory(50_000, 20, landmarks=None, consensus="ncut", n_estimators=100).total < 2**30
    assert estimate_memory(50_000, 20, landmarks=None).total > 24 * 50_000**2
    assert large.total >= large.partitions + large.consensus


@pytest.mark.parametrize(
    ("changes", "advice"),
    [
        ({}, "n_estimators="),
        ({"landmarks": 30_000}, "landmarks=2000"),
        ({"max_samples": 900_000}, "max_samples=16384"),
        ({"max_samples": None}, "max_samples=16384"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_setting_that_does(changes, advice, monkeypatch):
    settings = SETTINGS | changes
    needed = estimate_memory(10**6, 20, **settings).total
    monkeypatch.setattr(memory, "available_memory", lambda: needed)
    check_fit_memory(10**6, 20, settings)
    monkeypatch.setattr(memory, "available_memory", lambda: needed - 2**20)
    with pytest.raises(MemoryError, match=rf"1000000 rows and 20 columns needs .* GiB.* {advice}\d* would fit") as told:
        check_fit_memory(10**6, 20, settings)
    name, value = str(told.value).split()[-3].split("=")
    check_fit_memory(10**6, 20, settings | {name: int(value)})


def test_a_fit_is_refused_before_it_starts(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2**20)
    with pytest.raises(MemoryError, match="Take fewer rows or columns"):
        ClusterForest(3).fit(np.random.default_rng(0).normal(size=(500, 30)))
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    ClusterForest(3, n_estimators=3).fit(np.random.default_rng(0).normal(size=(500, 30)))


def test_a_container_may_have_less_than_the_machine(monkeypatch, tmp_path):
    machine = validation.memory_limit()
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(validation, "CONTAINER_LIMITS", (str(limit), str(tmp_path / "absent")))
    limit.write_text("max\n")
    assert validation.memory_limit() >= machine
    limit.write_text("1000000\n")
    assert validation.memory_limit() == 1000000
    assert validation.available_memory() == 0
    with pytest.raises(MemoryError, match="fewer"):
        validation.check_memory(2_000_000, "This", "Take fewer.")
