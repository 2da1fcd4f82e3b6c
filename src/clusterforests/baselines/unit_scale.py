"""Tables brought to the size of 1, so that no distance or sum of squares over- or underflows."""

import math

import numpy as np

from clusterforests._base.typing import FloatArray


def to_unit(X: FloatArray) -> tuple[FloatArray, int]:
    """X / 2**exponent, with its largest magnitude between 1/2 and 1, and the exponent. No digit changes."""
    exponent = math.frexp(float(np.abs(X).max()))[1]
    return np.ldexp(X, -exponent), exponent
