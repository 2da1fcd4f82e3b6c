import os
import shutil
import signal
import subprocess
from dataclasses import replace

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before scipy is imported: scikit-learn's checks use it

import numpy as np
import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

from clusterforests import _core
from clusterforests.fitted_forest import FittedForest
from paper.datasets import UCI_NAMES, load_uci
from paper.experiments.runner import _load

# A shell lets jobs in the background ignore Ctrl-C, and so would all that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Workers of pytest-xdist share the cores: the threads of several BLAS would spend their time waiting for each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    threadpool_limits(1, "blas")

settings.register_profile("untimed", deadline=None)  # how long an example takes is not what is tested
settings.load_profile("untimed")

# What a fixture needs that a machine may lack; `pytest -m "r or scanpy"` picks tests that use it.
NEEDS = {"uci": "data", "browser": "browser", "rscript": "r", "scanpy": "scanpy"}


def pytest_itemcollected(item):
    for fixture, marker in NEEDS.items():
        if fixture in item.fixturenames:
            item.add_marker(marker)


@pytest.fixture
def instruction_set(request):
    """Force an instruction set for one test."""
    _core.use_instruction_set(request.param)
    yield request.param
    _core.use_instruction_set("auto")


@pytest.fixture(scope="module")
def browser():
    """Start a browser for the tests of one file."""
    from browser import start_browser  # needs a package that machines without browser tests lack

    with start_browser() as started:
        yield started


@pytest.fixture(scope="session")
def rscript():
    """Find R with the packages that the R package needs for its tests, or skip the test."""
    found = shutil.which("Rscript")
    asked = "quit(status = !all(sapply(c('reticulate', 'testthat', 'Matrix'), requireNamespace, quietly = TRUE)))"
    if found is None or subprocess.run([found, "-e", asked], capture_output=True, check=False).returncode:
        pytest.skip("needs R with reticulate, testthat and Matrix")
    return found


@pytest.fixture(scope="session")
def uci():
    """Load one of the paper's data sets, or skip the test where it is not on this machine."""

    def load(name):
        try:
            return load_uci(name, download=False)
        except FileNotFoundError as error:
            pytest.skip(str(error))

    return load


@pytest.fixture(scope="session")
def stand_in_folder(tmp_path_factory):
    """Write small tables under the names of the paper's data sets, for tests of what is done with any data."""
    folder = tmp_path_factory.mktemp("uci")
    rng = np.random.default_rng(0)
    for name in UCI_NAMES:
        labels = np.arange(60) % 4
        X = np.round(3 * rng.normal(size=(4, 15))[labels] + rng.normal(size=(60, 15)), 2)
        lines = [",".join([*(f"f{i}" for i in range(15)), "label"])]
        lines += [",".join([*map(str, row), f"class{label}"]) for row, label in zip(X.tolist(), labels, strict=True)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def stand_ins(stand_in_folder, monkeypatch):
    """Let `load_uci` read the stand-ins; wine and wdbc, which scikit-learn has, stay themselves."""
    monkeypatch.setenv("CLUSTERFORESTS_DATA", str(stand_in_folder))
    _load.cache_clear()
    yield
    _load.cache_clear()


@pytest.fixture
def lower_limits(monkeypatch):
    """Lower the sizes at which forests change how they work, such as `lower_limits(large_rows=1000)`."""

    def lower(**changes):
        monkeypatch.setattr(FittedForest, "_limits", replace(FittedForest._limits, **changes))

    return lower


@pytest.fixture
def blobs():
    """Draw three groups in two of six columns; the others are noise."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [30, 25, 20])
    X = rng.normal(size=(75, 6))
    X[:, :2] += np.array([[0, 8], [8, 16], [16, 0]])[truth]
    return X, truth
