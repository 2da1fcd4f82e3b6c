"""Columns with several modes, by Hartigan's dip: how far a distribution is from having a single mode."""

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from clusterforests._utils.arrays import BoolArray, FloatArray, IntArray
from clusterforests.feature_screening.screened_rows import ScreenedRows

# Heights closer than this are equal up to rounding.
SAME_HEIGHT = 1e-12
# The probability that a table of columns with one mode shows one with several.
FALSE_MODES = 1e-4
# Values that a column must have: steps of a scale are neither modes nor rare groups.
MANY_VALUES = 20
# Of the variance of a normal column, so much lies between its halves.
OF_NORMAL = 2 / np.pi
# Quantiles that stand for a column in its dip.
DIP_ROWS = 400


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
    >>> from clusterforests.feature_screening.modes import dip
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
        widest = int(np.argmax(gap >= gap.max() - SAME_HEIGHT))  # the first of equals is a corner of one of the two
        if gap[widest] <= distance + SAME_HEIGHT:
            break
        # The modal interval lies between the nearest points where both curves touch the distribution function.
        on_minorant = np.flatnonzero(minorant >= below[inside] - SAME_HEIGHT)
        on_majorant = np.flatnonzero(majorant <= above[inside] + SAME_HEIGHT)
        left = on_minorant[on_minorant <= widest][-1]
        right = on_majorant[on_majorant >= widest][0]
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


def several_modes(rows: ScreenedRows, columns: IntArray) -> BoolArray:
    """Find columns whose dip is larger than any of so many flat columns would show by chance."""
    # In the tail the root of n times the dip of flat rows grows by 0.085 for a factor of ten in probability.
    limit = 0.61 + 0.085 * (np.log10(max(1, len(columns)) / FALSE_MODES) - 2)
    found = []
    for some in rows.blocks(columns):
        ordered = np.sort(rows.take(some), axis=0)
        n = len(ordered)
        quantiles = ordered[np.linspace(0, n - 1, min(n, DIP_ROWS)).astype(np.intp)]
        values = 1 + (ordered[1:] != ordered[:-1]).sum(axis=0)
        # No dip exceeds the distance from a normal distribution, which costs less.
        several = (np.sqrt(n) * _from_normal(quantiles) > limit) & (values >= MANY_VALUES)
        for j in np.flatnonzero(several):
            several[j] = np.sqrt(n) * dip(quantiles[:, j]) > limit
        found.append(several)
    return np.concatenate(found)


def split_shares(X: FloatArray) -> FloatArray:
    """Compute the share of each column's variance between two groups, above that of a normal column, from 0 to 1."""
    n = len(X)
    ordered = np.sort(X, axis=0)
    centred = ordered - ordered.mean(axis=0)
    low = np.cumsum(centred, axis=0)[:-1]
    sizes = np.arange(1, n)[:, None]
    between = (low**2 * n / (sizes * (n - sizes))).max(axis=0, initial=0.0)
    share = between / np.maximum((centred**2).sum(axis=0), np.finfo(float).tiny)
    above: FloatArray = ((share - OF_NORMAL) / (1 - OF_NORMAL)).clip(0, 1)
    return above


def _from_normal(X: FloatArray) -> FloatArray:
    """Measure how far the distribution function of each column, its rows ascending, is from a fitted normal one."""
    spread = np.maximum(X.std(axis=0), np.finfo(float).tiny)
    fitted = ndtr((X - X.mean(axis=0)) / spread)
    steps = np.arange(len(X) + 1)[:, None] / len(X)
    distance: FloatArray = np.maximum(np.abs(fitted - steps[:-1]), np.abs(fitted - steps[1:])).max(axis=0)
    return distance
