"""Tables prepared for the search, and random tables without clusters to compare them with."""

from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv, ndtri

from clusterforests._base.random import Purpose, integers, stream, uniform
from clusterforests._base.typing import FloatArray, IndexArray, KeyArray

MAX_AXES = 300  # principal axes that stand for the columns if these are more
RANK = 1e-7  # of the largest singular value: smaller ones are rounding


class Prepared(NamedTuple):
    """A table without constant columns, and which columns are left."""

    table: FloatArray
    columns: IndexArray


def prepare(X: FloatArray, seed: int) -> Prepared:
    """Make columns without missing values, ties and extremes, of mean 0 and variance 1.

    A missing value is replaced by that of a random row, which adds no structure. Values of a column with ties are
    spread over the usual step between them: the steps of a scale and the two values of a yes or no are not valleys.
    """
    if np.isinf(X).any():
        raise ValueError("X holds infinite values. Replace them with NaN, or drop their rows.")
    tidy = [_tidy(column, stream(seed, Purpose.K_TIES, j, np.arange(len(X)))) for j, column in enumerate(X.T)]
    varying = [j for j, column in enumerate(tidy) if len(column)]
    table = np.array([tidy[j] for j in varying]).reshape(len(varying), len(X)).T
    return Prepared(_standardise(table), np.array(varying, dtype=np.intp))


def _tidy(column: FloatArray, keys: KeyArray) -> FloatArray:
    """Prepare one column; it comes back empty if it is constant."""
    known = column[~np.isnan(column)] / 2  # halves: the range of a column may be too large for a float
    values = np.unique(known)
    if len(values) < 2:
        return np.empty(0)
    full = np.where(np.isnan(column), known[integers(stream(keys, 0), len(known))], column / 2)
    if len(values) < len(column):
        full += np.median(np.diff(values)) * (uniform(keys) - 0.5)
    low, high = np.quantile(full, [0.01, 0.99])
    if low == high:
        return np.empty(0)
    tidy: FloatArray = np.clip((full - low) / (high - low), -0.5, 1.5)
    return tidy


def _standardise(table: FloatArray) -> FloatArray:
    """Give columns mean 0 and variance 1."""
    centered = table - table.mean(axis=0)
    standard: FloatArray = centered / centered.std(axis=0)
    return standard


def without_clusters(table: FloatArray, seed: int, number: int) -> FloatArray:
    """Draw a table of one elliptical cluster with the covariance and the tails of another table.

    It is multivariate t, with the degrees of freedom that give the fourth moment of the distances from the centre, or
    Gaussian if that moment is no larger than a Gaussian's. Columns have mean 0 and variance 1.
    """
    left, spread, right = principal_axes(table)
    rows, axes = np.arange(len(table)), np.arange(len(spread))
    squares = (left**2).sum(axis=1)
    tails = (squares**2).mean() / squares.mean() ** 2 * len(axes) / (len(axes) + 2)
    drawn: FloatArray = ndtri(
        np.maximum(uniform(stream(seed, Purpose.K_NULL_TABLE, number, rows[:, None], axes)), 2.0**-54)
    )
    if tails > 1:
        half = 2 + 1 / (tails - 1)  # of the degrees of freedom
        drawn /= np.sqrt(gammaincinv(half, uniform(stream(seed, Purpose.K_NULL_TAILS, number, rows))) / half)[:, None]
    return _standardise((drawn * spread) @ right)


def principal_axes(table: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute the leading part of the singular value decomposition, through the smaller matrix of products."""
    n, p = table.shape
    squares, vectors = np.linalg.eigh(table.T @ table if p <= n else table @ table.T)
    spread = np.sqrt(np.maximum(squares[::-1][:MAX_AXES], 0.0))
    spread = spread[spread > RANK * spread[0]]
    leading = vectors[:, ::-1][:, : len(spread)]
    if p <= n:
        return table @ leading / spread, spread, leading.T
    return leading, spread, leading.T @ table / spread[:, None]
