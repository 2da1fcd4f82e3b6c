"""Exponentials and logarithms that are the same to the last bit everywhere.

Those of NumPy and of the C library differ in the last digit between processors and versions. These are made of what
IEEE 754 leaves no choice about (sums, products, quotients, powers of two), and are off by one or two units of the last
place.
"""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from clusterforests._base.typing import FloatArray

BLOCK = 16384  # numbers at a time, so that the steps of one block stay in the cache
LEAST = -800.0  # exp of less is 0

# log(2) in two parts: the first has so few digits that whole multiples of it are exact.
_LOG2_HIGH, _LOG2_LOW = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")
_EXP = [1.0 / math.factorial(i) for i in range(14, 0, -1)]  # of x**13, ..., 1 in (exp(x) - 1) / x
_LOG = [2.0 / (2 * i + 1) for i in range(11, 0, -1)]  # of s**22, ..., s**2 in log((1 + s) / (1 - s)) / s


def exp(x: npt.ArrayLike) -> FloatArray:
    """Of numbers up to 709."""
    return _in_blocks(lambda block: _scaled_exp(block, 0.0), x)


def expm1(x: npt.ArrayLike) -> FloatArray:
    """exp(x) - 1, without loss of digits where x is small."""
    return _in_blocks(lambda block: _scaled_exp(block, 1.0), x)


def log(x: npt.ArrayLike) -> FloatArray:
    """Of positive numbers."""
    return _in_blocks(_log, x)


def power(base: npt.ArrayLike, exponent: npt.ArrayLike) -> FloatArray:
    """Of positive bases."""
    return exp(np.asarray(exponent) * log(base))


def exponential(chance: npt.ArrayLike) -> FloatArray:
    """Exponentially distributed, of mean 1, from uniform numbers whose difference to 1 is exact (see `uniform`)."""
    return -log(1.0 - np.asarray(chance))


def _in_blocks(function: Callable[[FloatArray], FloatArray], x: npt.ArrayLike) -> FloatArray:
    given = np.ascontiguousarray(x, dtype=np.float64)
    out = np.empty(given.shape)
    flat, into = given.reshape(-1), out.reshape(-1)
    for start in range(0, flat.size, BLOCK):
        some = slice(start, start + BLOCK)
        into[some] = function(flat[some])
    return out.reshape(np.shape(x))


def _scaled_exp(x: FloatArray, less: float) -> FloatArray:
    """exp(x) - less. It is 2**k (1 + p) for a small p, and 2**k - less is exact."""
    x = x.clip(min=LEAST)
    k = np.rint(x / _LOG2_HIGH)
    rest = (x - k * _LOG2_HIGH) - k * _LOG2_LOW
    power = k.astype(np.int32)
    return (np.ldexp(1.0, power) - less) + np.ldexp(rest * _polynomial(_EXP, rest), power)


def _log(x: FloatArray) -> FloatArray:
    mantissa, exponent = np.frexp(x)
    low = mantissa < math.sqrt(0.5)
    exponent = exponent - low
    above = np.where(low, 2.0 * mantissa, mantissa) - 1.0
    s = above / (2.0 + above)
    z = s * s
    # log(1 + above) = above - s * (above - z * (2/3 + ...)): what is rounded is small beside `above`.
    rest = s * (above - z * _polynomial(_LOG, z)) - exponent * _LOG2_LOW
    return exponent * _LOG2_HIGH + (above - rest)


def _polynomial(coefficients: list[float], x: FloatArray) -> FloatArray:
    """Highest power first."""
    total = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        total *= x
        total += coefficient
    return total
