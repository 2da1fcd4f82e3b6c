"""Exponentials and logarithms that are the same to the last bit everywhere.

Those of NumPy and of the C library differ in the last digit between processors and versions. These use only operations
whose result IEEE 754 prescribes (sums, products, quotients, powers of two); their error is one or two units in the last
place.
"""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from clusterforests._utils.arrays import FloatArray

# Numbers at a time, so that intermediate results stay in the cache.
CHUNK_VALUES = 16384
# exp of anything less is 0.
LEAST_EXPONENT = -800.0

# log(2) in two parts: the first has few enough digits that integer multiples of it are exact.
_LOG2_HIGH, _LOG2_LOW = float.fromhex("0x1.62e42fee00000p-1"), float.fromhex("0x1.a39ef35793c76p-33")
_EXP = [1.0 / math.factorial(i) for i in range(14, 0, -1)]  # coefficients of x**13, ..., 1 in (exp(x) - 1) / x
_LOG = [2.0 / (2 * i + 1) for i in range(11, 0, -1)]  # coefficients of s**22, ..., s**2 in log((1 + s) / (1 - s)) / s


def exp(x: npt.ArrayLike) -> FloatArray:
    """Compute exp(x) of numbers up to 709."""
    return _in_chunks(lambda chunk: _scaled_exp(chunk, 0.0), x)


def expm1(x: npt.ArrayLike) -> FloatArray:
    """Compute exp(x) - 1 without losing digits where x is small."""
    return _in_chunks(lambda chunk: _scaled_exp(chunk, 1.0), x)


def log(x: npt.ArrayLike) -> FloatArray:
    """Compute the natural logarithm of positive numbers."""
    return _in_chunks(_log, x)


def power(base: npt.ArrayLike, exponent: npt.ArrayLike) -> FloatArray:
    """Raise positive numbers to any power."""
    return exp(np.asarray(exponent) * log(base))


def exponential(chance: npt.ArrayLike) -> FloatArray:
    """Turn uniform random numbers into exponentially distributed ones of mean 1.

    The uniform numbers must be such that 1 minus each is exact, as `uniform` draws them.
    """
    return -log(1.0 - np.asarray(chance))


def _in_chunks(function: Callable[[FloatArray], FloatArray], x: npt.ArrayLike) -> FloatArray:
    given = np.ascontiguousarray(x, dtype=np.float64)
    out = np.empty(given.shape)
    flat, into = given.reshape(-1), out.reshape(-1)
    for start in range(0, flat.size, CHUNK_VALUES):
        some = slice(start, start + CHUNK_VALUES)
        into[some] = function(flat[some])
    return out.reshape(np.shape(x))


def _scaled_exp(x: FloatArray, less: float) -> FloatArray:
    """Compute exp(x) - less: exp(x) is 2**k (1 + p) for a small p, and 2**k - less is exact."""
    x = x.clip(min=LEAST_EXPONENT)
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
    # log(1 + above) = above - s * (above - z * (2/3 + ...)): the rounded term is small compared with `above`.
    rest = s * (above - z * _polynomial(_LOG, z)) - exponent * _LOG2_LOW
    return exponent * _LOG2_HIGH + (above - rest)


def _polynomial(coefficients: list[float], x: FloatArray) -> FloatArray:
    """Evaluate a polynomial by Horner's rule; the coefficient of the highest power comes first."""
    total = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        total *= x
        total += coefficient
    return total
