"""The R package: its own tests, which compare its results with Python's, in Debian's or any other R."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_installs_and_passes_its_tests(rscript, tmp_path):
    library = tmp_path / "library"
    library.mkdir()
    env = os.environ | {"RETICULATE_PYTHON": sys.executable, "R_LIBS": str(library)}
    command = [rscript.replace("Rscript", "R"), "CMD", "INSTALL", "-l", str(library), str(ROOT / "r")]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    run = "library(testthat); library(clusterforests); test_dir('.', stop_on_failure = TRUE, reporter = 'summary')"
    run = f"{run}; cat('all passed')"
    command = [rscript, "-e", run]
    folder = ROOT / "r" / "tests" / "testthat"
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("all passed")
    assert "Skipped" not in done.stdout
