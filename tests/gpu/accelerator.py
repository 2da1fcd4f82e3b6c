"""What tests of the GPU share."""

import sys

import emulated_cuda
import emulated_cupy
import numpy as np
import pytest

from clusterforests._utils import devices
from clusterforests._utils.memory import DEFAULT_LIMITS, DeviceLimits
from clusterforests.gpu import reader as gpu
from clusterforests.table.row_sources import ArraySource

RNG = np.random.default_rng(0)
MANY = DEFAULT_LIMITS.large_rows + 5001
BIG = RNG.normal(size=(MANY, 5)) + 3 * RNG.integers(0, 4, (MANY, 1)) * [1, 1, 1, 0, 0]


def need_gpu(monkeypatch):
    """CuPy; its emulation where there is no GPU."""
    try:
        return devices.need_cupy()
    except (ImportError, RuntimeError) as error:
        if emulated_cuda.MISSING:
            pytest.skip(f"{error} {emulated_cuda.MISSING}.")
    monkeypatch.setitem(sys.modules, "cupy", emulated_cupy)
    return emulated_cupy


def rows_on_gpu(table, weights=None, **limits):
    opened = gpu.open_source_on_gpu(ArraySource(table), 0, DeviceLimits(**limits))
    p = table.shape[1]
    places = np.arange(p, dtype=np.int32), np.ones(p, np.int32), np.zeros(p, bool)
    return gpu.DeviceReader(opened, gpu.survey_on_gpu(opened), *places, weights)
