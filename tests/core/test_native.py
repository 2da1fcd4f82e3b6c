"""The core's self-tests in C++: built with every instruction set of this machine, and equal to the recorded digests."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "tests/core/native"


def test_every_case_has_a_recorded_digest():
    recorded = [line.split() for line in (NATIVE / "digests.txt").read_text().splitlines()]
    sources = (NATIVE / f"{part}_cases.cpp" for part in ("row", "kmeans", "consensus"))
    cases = [name for source in sources for name in re.findall(r'\{"(\w+)", \w+_case\}', source.read_text())]
    assert [name for name, _ in recorded] == cases
    assert all(re.fullmatch("[0-9a-f]{1,16}", digest) for _, digest in recorded)


@pytest.mark.slow
def test_self_tests_pass_here(tmp_path):
    command = [sys.executable, ROOT / "tools/self_tests.py", "--work", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "here: 13 of 13 digests are the recorded ones\n"
