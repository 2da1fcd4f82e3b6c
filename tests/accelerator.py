"""What tests of the GPU share."""

import numpy as np
import pytest

from clusterforests import devices
from clusterforests.backends import gpu
from clusterforests.source import ArraySource


def need_gpu():
    """CuPy, skipping where there is no GPU."""
    try:
        return devices.need_cupy()
    except (ImportError, RuntimeError) as error:
        pytest.skip(str(error))


def rows_on_gpu(table, weights=None):
    opened = gpu.open_source_on_gpu(ArraySource(table), 0)
    p = table.shape[1]
    places = np.arange(p, dtype=np.int32), np.ones(p, np.int32), np.zeros(p, bool)
    return gpu.DeviceRows(opened, gpu.survey_on_gpu(opened), *places, weights)
