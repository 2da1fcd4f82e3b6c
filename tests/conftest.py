import os
import signal
from dataclasses import replace

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # before scipy is imported: scikit-learn's checks use it

import numpy as np
import pytest
from browser import start_browser

from clusterforests import ClusterForest, _core
from clusterforests.datasets import load_uci

# A shell lets jobs in the background ignore Ctrl-C, and so would all that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def instruction_set(request):
    """Force an instruction set for one test."""
    _core.use_instruction_set(request.param)
    yield request.param
    _core.use_instruction_set("auto")


@pytest.fixture(scope="module")
def browser():
    with start_browser() as started:
        yield started


@pytest.fixture(scope="session")
def uci():
    """load_uci, skipping where a file is not on this machine."""

    def load(name):
        try:
            return load_uci(name, download=False)
        except FileNotFoundError as error:
            pytest.skip(str(error))

    return load


@pytest.fixture
def lower_limits(monkeypatch):
    """Lower the sizes at which forests change how they work, such as `lower_limits(large_rows=1000)`."""

    def lower(**changes):
        monkeypatch.setattr(ClusterForest, "_limits", replace(ClusterForest._limits, **changes))

    return lower


@pytest.fixture
def blobs():
    """Three groups in two of six columns; the others are noise."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [30, 25, 20])
    X = rng.normal(size=(75, 6))
    X[:, :2] += np.array([[0, 8], [8, 16], [16, 0]])[truth]
    return X, truth
