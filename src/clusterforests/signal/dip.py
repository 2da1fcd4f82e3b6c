"""Hartigan's dip: how far a distribution is from having a single mode."""

import numpy as np
import numpy.typing as npt

from clusterforests._base.typing import FloatArray

SAME = 1e-12  # heights closer than this are equal up to rounding


def dip(values: npt.ArrayLike) -> float:
    """Compute Hartigan's dip: the distance of the distribution of the values from the nearest one with a single mode.

    The dip is half the largest distance of the distribution function from its convex minorant before the modal
    interval and from its concave majorant after it. The interval shrinks until nothing inside is further apart.

    Parameters
    ----------
    values : array-like of shape (n,)
        At least one number.

    Returns
    -------
    dip : float
        From 1 / (2n) to 1 / 4, or 0 if all values are equal.

    References
    ----------
    J. A. Hartigan, P. M. Hartigan. The dip test of unimodality. Annals of Statistics 13 (1985), 70-84.

    Examples
    --------
    >>> from clusterforests.signal.dip import dip
    >>> dip([0.0, 1.0]), round(dip([0.0, 0.1, 0.2, 9.0, 9.1, 9.2]), 3)
    (0.25, 0.244)
    """
    x, counts = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    if len(x) == 1:
        return 0.0
    above = np.cumsum(counts) / counts.sum()  # the distribution function at x, and just before x
    below = above - counts / counts.sum()
    distance = 1.0 / counts.sum()
    first, last = 0, len(x) - 1
    while first < last:
        inside = slice(first, last + 1)
        minorant = _minorant(x[inside], below[inside])
        majorant = -_minorant(x[inside], -above[inside])
        gap = majorant - minorant
        widest = int(np.argmax(gap >= gap.max() - SAME))  # the first of equals is a corner of one of the two
        if gap[widest] <= distance + SAME:
            break
        touching = np.flatnonzero(minorant >= below[inside] - SAME), np.flatnonzero(majorant <= above[inside] + SAME)
        left = touching[0][touching[0] <= widest][-1]
        right = touching[1][touching[1] >= widest][0]
        before, after = (above[inside] - minorant)[:left], (majorant - below[inside])[right + 1 :]
        distance = max(distance, before.max(initial=0.0), after.max(initial=0.0))
        if (left, right) == (0, last - first):
            break
        first, last = first + left, first + right
    return float(distance / 2)


def _minorant(x: FloatArray, y: FloatArray) -> FloatArray:
    """Find the greatest convex function below the points."""
    knots = np.arange(len(x))
    while True:
        slopes = np.diff(y[knots]) / np.diff(x[knots])
        # A point on or above the line between its neighbours is no corner, whatever else is taken out.
        corner = np.concatenate([[True], slopes[:-1] < slopes[1:], [True]])
        if corner.all():
            return np.interp(x, x[knots], y[knots])
        knots = knots[corner]
