"""Scale a table to magnitude 1, so that no distance or sum of squares overflows or underflows."""

import math

import numpy as np

from clusterforests._base.typing import FloatArray


def scale_to_unit(X: FloatArray) -> tuple[FloatArray, int]:
    """Return X / 2**exponent, whose largest magnitude is between 1/2 and 1, and the exponent. No digit changes."""
    exponent = math.frexp(float(np.abs(X).max()))[1]
    return np.ldexp(X, -exponent), exponent
