"""Principal axes of a table, the same on every processor up to digits that do not matter."""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from clusterforests._utils.arrays import FloatArray, column_blocks

# Axes are found from at most, and at least, so many rows, and from so few that the Gram matrix takes so many products.
MOST_AXIS_ROWS, LEAST_AXIS_ROWS = 512, 128
GRAM_WORK = 2**30
# LAPACK's last digits depend on the processor: what is kept of a coefficient does not.
KEPT_BITS = 24
# Of the largest coefficient of an axis: the first beyond it is positive.
LEADING_SHARE = 0.5
# Powers of two up to which no product is a number of few digits.
ORDINARY = 900
# Of the largest variance: axes with less are rounding.
NO_VARIANCE = 1e-12


class Axes(NamedTuple):
    """Leading principal axes, the longest first."""

    coefficients: FloatArray  # (columns, axes)
    variances: FloatArray


def axis_rows(n_columns: int) -> int:
    """Choose how many rows the axes of so many columns are found from, at most."""
    return int(np.clip(np.sqrt(GRAM_WORK / n_columns), LEAST_AXIS_ROWS, MOST_AXIS_ROWS))


def principal_axes(V: FloatArray, weights: FloatArray | None, most: int) -> Axes:
    """Find at most so many axes of a table, whose rows may have weights, from some of its rows where it is large."""
    # Centre some of the rows, by weight.
    q = V.shape[1]
    some = V[: axis_rows(q)]
    w = np.ones(len(some)) if weights is None else weights[: len(some)]
    share = w / w.sum()
    blocks = column_blocks(*some.shape)
    centred = some - np.concatenate([(share[:, None] * some[:, block]).sum(axis=0) for block in blocks])
    centred *= np.sqrt(share)[:, None]
    # Solve the smaller of the two eigenvalue problems that have the same axes.
    dual = q > len(some)
    gram = centred @ centred.T if dual else centred.T @ centred
    size = len(gram)
    values, vectors = scipy.linalg.eigh(gram, subset_by_index=[max(0, size - most), size - 1])
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = values > NO_VARIANCE * max(float(values[0]), 0.0)
    if not kept.any():
        return Axes(np.eye(q, 1), np.ones(1))
    values, vectors = values[kept], vectors[:, kept]
    if dual:
        vectors = centred.T @ (vectors / np.sqrt(values))
    # Fix the signs: an axis points to its first large coefficient.
    size = np.abs(vectors)
    leading = (size > LEADING_SHARE * size.max(axis=0)).argmax(axis=0)  # the first that no rounding makes small
    return Axes(reproducible(vectors * np.sign(vectors[leading, np.arange(vectors.shape[1])])), values)


def whitened(axes: Axes) -> FloatArray:
    """Divide the coefficients of the axes by the standard deviations along them."""
    return reproducible(axes.coefficients / np.sqrt(axes.variances))


def reproducible(X: FloatArray) -> FloatArray:
    """Round to so many bits of the largest entry that other roundings before hardly ever show."""
    exponent = KEPT_BITS - int(np.frexp(np.abs(X).max(initial=0.0))[1])
    if abs(exponent) > ORDINARY:
        return np.ldexp(np.rint(np.ldexp(X, exponent)), -exponent)
    whole: FloatArray = X * 2.0**exponent  # the same, but faster
    np.rint(whole, out=whole)
    whole *= 2.0**-exponent
    return whole
