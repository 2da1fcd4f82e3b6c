"""The C++ core survives arguments of all kinds: see fuzz_core.py."""

import json
import subprocess
import sys
from pathlib import Path

import fuzz_core
import pytest

from clusterforests import _core

RESULTS_AND_NAMES = {"KMeansResult", "instruction_set", "instruction_sets"}


def fuzz(tmp_path, seconds, seed):
    progress = tmp_path / "call"
    script = Path(__file__).with_name("fuzz_core.py")
    options = ["--seconds", str(seconds), "--seed", str(seed), "--progress", str(progress)]
    run = subprocess.run([sys.executable, script, *options], capture_output=True, text=True, timeout=seconds + 120)
    if run.returncode:
        number = int.from_bytes(progress.read_bytes(), "little")
        pytest.fail(f"{run.stderr}\nAgain: python tests/robustness/fuzz_core.py --seed {seed} --only {number}")
    return json.loads(run.stdout)


def test_a_few_seconds(tmp_path):
    found = fuzz(tmp_path, 5, 0)
    assert found["ran"] > 100
    assert found["refused"] > 100
    assert set(found["functions"]) == {build.__name__ for build in fuzz_core.CALLS}


def test_everything_in_the_core_is_called():
    offered = {name for name in dir(_core) if not name.startswith("__") and callable(getattr(_core, name))}
    source = Path(fuzz_core.__file__).read_text()
    assert {name for name in offered - RESULTS_AND_NAMES if f"_core.{name}" not in source} == set()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_minutes(tmp_path, seed):
    found = fuzz(tmp_path, 200, seed)
    assert min(found["functions"].values()) > 100
    assert found["slowest_seconds"] < 3  # one second, threads and what is laid out before a call
    assert found["peak_mb"] < 2048
