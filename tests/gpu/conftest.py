"""CuPy, or its emulation, and a table that counts as large."""

import emulated_cupy
import pytest
from accelerator import BIG, need_gpu


@pytest.fixture
def cupy(monkeypatch):
    return need_gpu(monkeypatch)


@pytest.fixture
def big(cupy, lower_limits):
    """A table that counts as large."""
    if cupy is not emulated_cupy:
        return BIG
    lower_limits(large_rows=2000)
    return BIG[:4001]
