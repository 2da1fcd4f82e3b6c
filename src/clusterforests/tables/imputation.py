"""Fill missing cells with what similar rows have there, so that no row is dropped.

benchmarks/missing.py compares this with partial distances in K-means, with leaving rows out of the trees whose features
they lack, and with trees that see differently filled copies.
"""

from dataclasses import dataclass, replace

import numpy as np

from clusterforests import _core
from clusterforests._base.typing import FloatArray, IntArray
from clusterforests.tables.distinct_rows import DistinctRows, distinct_rows
from clusterforests.tables.feature_columns import EncodedTable

MAX_DONORS = 2000
KEPT_DONORS = 1000  # of a table without missing cells, for those of new rows
KEPT_CELLS = 2**20  # of these, but at least NEAREST rows
NEAREST = 64  # donors that are searched for a cell
NEIGHBOURS = 5  # the nearest of them that have a value there: the cell is filled with their mean


@dataclass(frozen=True)
class Donors:
    """Rows of a table whose values fill the missing cells of other rows.

    The distance of two rows is the mean squared difference over the features that both have; where these are few, it
    is shrunk towards the typical distance. Every feature is scaled to variance 1; constant ones do not count.
    """

    values: FloatArray  # (m, C)
    weights: FloatArray  # (m,)
    first: IntArray  # (p,)
    widths: IntArray  # (p,)
    exponents: IntArray  # (C,): columns are first divided by 2**exponent, so that no square overflows or underflows
    scales: FloatArray  # (C,): and then multiplied by this; NaN for a constant feature
    means: FloatArray  # (C,): of all rows, for cells where none of the nearest donors has a value

    def fill(self, values: FloatArray, threads: int = 1, nearest: int = NEAREST) -> FloatArray:
        """Copy the rows, each missing cell filled with the mean of the nearest donors that have a value there.

        The result depends neither on which rows are filled together nor on their order.

        Parameters
        ----------
        values : ndarray of shape (n_samples, C)
            Encoded rows, NaN where a cell is missing.
        threads : int, default=1
            Does not change the result.
        nearest : int, default=NEAREST
            Number of donors that are searched for a cell.

        Returns
        -------
        filled : ndarray of shape (n_samples, C)
        """
        return _core.fill(
            np.ascontiguousarray(values),
            self._places(values),
            self.values,
            self._places(self.values),
            self.weights,
            self.first,
            self.widths,
            self.means,
            NEIGHBOURS,
            nearest,
            threads,
        )

    def _places(self, values: FloatArray) -> FloatArray:
        places: FloatArray = np.ldexp(values, -self.exponents) * self.scales
        return np.ascontiguousarray(places)


def complete(
    encoded: EncodedTable, weights: FloatArray | None = None, threads: int = 1
) -> tuple[EncodedTable, Donors | None]:
    """Fill the missing cells of a table, and return what fills those of new rows; None if no cell is missing.

    Parameters
    ----------
    encoded : EncodedTable
        Missing cells are NaN.
    weights : ndarray of shape (n_samples,), default=None
        Weights of the rows: a row of weight 2 counts like two equal rows, one of weight 0 is filled but fills none.
    threads : int, default=1
        Does not change the result.

    Returns
    -------
    complete : EncodedTable
    donors : Donors or None
    """
    if np.isfinite(encoded.values).all():
        return encoded, None
    donors = find_donors(encoded, weights)
    return replace(encoded, values=donors.fill(encoded.values, threads)), donors


def find_donors(encoded: EncodedTable, weights: FloatArray | None = None, max_donors: int = MAX_DONORS) -> Donors:
    """Choose distinct rows as donors. The choice depends neither on the order of the rows nor on their repetition."""
    rows, mass = distinct_rows(encoded.values, weights)
    moments = [_moments(encoded.values[rows, c], mass) for c in range(encoded.values.shape[1])]
    exponents, means, variances = map(np.array, zip(*moments, strict=True))
    whole = np.repeat(np.add.reduceat(variances, encoded.first), encoded.widths)
    return Donors(
        values=encoded.values[rows[:max_donors]],
        weights=mass[:max_donors],
        first=encoded.first,
        widths=encoded.widths,
        exponents=exponents.astype(np.int32),
        scales=np.where(whole > 0, 1.0 / np.sqrt(np.where(whole > 0, whole, 1.0)), np.nan),
        means=np.ldexp(means, exponents),
    )


def keep_donors(complete: EncodedTable, distinct: DistinctRows) -> Donors:
    """Choose donors of a table without missing cells: new rows may have some."""
    count = min(KEPT_DONORS, max(NEAREST, KEPT_CELLS // complete.values.shape[1]))
    kept = replace(complete, values=complete.values[distinct.rows[:count]])
    return find_donors(kept, distinct.weights[:count])


def _moments(x: FloatArray, weights: FloatArray) -> tuple[int, float, float]:
    """Return a column's exponent, and the mean and variance of its known values divided by 2**exponent."""
    known = ~np.isnan(x)
    if not known.any():
        return 0, 0.0, 0.0
    x, weights = x[known], weights[known]
    exponent = int(np.frexp(np.abs(x).max())[1])
    unit = np.ldexp(x, -exponent)
    above = unit - unit.min()  # exactly 0 in a constant column
    total = weights.sum()
    mean = (above * weights).sum() / total
    return exponent, float(unit.min() + mean), float(((above - mean) ** 2 * weights).sum() / total)
