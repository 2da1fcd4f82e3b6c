"""Columns with several modes, which no single cluster has: Hartigan's dip."""

import numpy as np
from scipy.special import ndtr

from clusterforests._base.typing import BoolArray, FloatArray, IntArray
from clusterforests.signal.dip import dip
from clusterforests.signal.searched_rows import SearchedRows

FALSE_MODES = 1e-4  # probability that a table of columns with one mode shows one with several
MANY_VALUES = 20  # that a column must have: steps of a scale are no modes
OF_NORMAL = 2 / np.pi  # of the variance of a normal column lies between its halves
DIP_ROWS = 400  # quantiles that stand for a column in its dip


def several_modes(rows: SearchedRows, columns: IntArray) -> BoolArray:
    """Find columns whose dip is larger than any of so many flat columns would show by chance."""
    # In the tail the root of n times the dip of flat rows grows by 0.085 for a factor of ten in probability.
    limit = 0.61 + 0.085 * (np.log10(max(1, len(columns)) / FALSE_MODES) - 2)
    found = [_several(rows.take(some), limit) for some in rows.blocks(columns)]
    several: BoolArray = np.concatenate(found)
    return several


def _several(X: FloatArray, limit: float) -> BoolArray:
    n = len(X)
    ordered = np.sort(X, axis=0)
    quantiles = ordered[np.linspace(0, n - 1, min(n, DIP_ROWS)).astype(np.intp)]
    values = 1 + (ordered[1:] != ordered[:-1]).sum(axis=0)
    # No dip exceeds the distance from a normal distribution, which costs less.
    several: BoolArray = (np.sqrt(n) * _from_normal(quantiles) > limit) & (values >= MANY_VALUES)
    for j in np.flatnonzero(several):
        several[j] = np.sqrt(n) * dip(quantiles[:, j]) > limit
    return several


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
