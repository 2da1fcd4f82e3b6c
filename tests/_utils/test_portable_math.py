"""Exponentials and logarithms against wider arithmetic."""

import numpy as np
import pytest

from clusterforests._utils import portable_math
from clusterforests._utils.random import stream, uniform

WIDE = np.longdouble  # 64 bits of mantissa on x86
COMMON = uniform(stream(1, np.arange(20000)))


def units_off(found, wanted):
    """Largest error in units in the last place."""
    return float(np.abs((found.astype(WIDE) - wanted) / np.spacing(np.abs(wanted).astype(float))).max())


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="no wider arithmetic on this machine")
@pytest.mark.parametrize(("low", "high"), [(-700, 700), (-2, 12), (-0.4, 0.4), (0, 1e-12)])
def test_accuracy(low, high):
    x = low + (high - low) * COMMON[1:]
    assert units_off(portable_math.exp(x), np.exp(WIDE(x))) < 1.5
    assert units_off(portable_math.expm1(x), np.expm1(WIDE(x))) < 3
    positive = np.exp(x)
    assert units_off(portable_math.log(positive), np.log(WIDE(positive))) < 1.5
    waits = portable_math.exponential(COMMON)
    assert units_off(waits[1:], -np.log1p(-WIDE(COMMON[1:]))) < 1.5


def test_ends_and_shapes():
    assert portable_math.exp([0.0, -1e300, -np.inf]).tolist() == [1.0, 0.0, 0.0]
    assert portable_math.expm1([0.0, -np.inf]).tolist() == [0.0, -1.0]
    assert portable_math.log(1.0) == 0.0
    assert portable_math.exponential(0.0) == 0.0
    assert portable_math.exp(np.zeros((2, 3))).shape == (2, 3)
    assert portable_math.log(2.0).shape == ()
    chunks = np.full(3 * portable_math.CHUNK_VALUES + 1, 0.7)
    assert np.unique(portable_math.exp(chunks)).tolist() == [float(portable_math.exp(0.7))]


def test_powers():
    np.testing.assert_allclose(portable_math.power([2.0, 9.0], [10.0, 0.5]), [1024.0, 3.0], rtol=1e-15)
