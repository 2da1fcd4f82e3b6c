"""The C++ core under the sanitizers of the compiler."""

import subprocess
import sys
from pathlib import Path

import pytest
import sanitize

from clusterforests import _core

ROOT = Path(__file__).parents[2]
# A result, two numbers, and what the consensus methods call for each table of labels.
REACHED_OTHERWISE = {"KMeansResult", "float32_error", "float64_error", "sum_lines"}


def test_the_sanitized_tests_call_every_kernel():
    offered = {name for name in dir(_core) if not name.startswith("__") and callable(getattr(_core, name))}
    source = "".join((ROOT / path).read_text() for path in sanitize.TESTS)
    assert {name for name in offered - REACHED_OTHERWISE if f"_core.{name}" not in source} == set()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["address", "thread"])
def test_sanitizers_find_nothing(kind):
    run = subprocess.run([sys.executable, "tools/sanitize.py", kind], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert run.returncode == 0, run.stdout
