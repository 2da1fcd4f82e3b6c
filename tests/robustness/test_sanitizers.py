"""The C++ core under the sanitizers of the compiler."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["address", "thread"])
def test_sanitizers_find_nothing(kind, record_property):
    run = subprocess.run([sys.executable, "tools/sanitize.py", kind], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    found = json.loads(run.stdout.splitlines()[-1])
    record_property(f"tests under the {kind} sanitizer", found["tests"])
    record_property(f"hostile calls under the {kind} sanitizer", found["calls"])
    record_property(f"faults found by the {kind} sanitizer", found["faults"])
    assert run.returncode == 0, run.stdout
