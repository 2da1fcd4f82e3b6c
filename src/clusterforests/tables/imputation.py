"""Missing cells filled with what similar rows have there, so that no row is dropped.

Measured against partial distances in K-means, against leaving rows out of the trees whose features they lack, and
against trees that see differently filled copies: benchmarks/missing.py.
"""

from dataclasses import dataclass, replace

import numpy as np

from clusterforests import _core
from clusterforests._base.typing import FloatArray, IntArray
from clusterforests.tables.distinct_rows import distinct_rows
from clusterforests.tables.feature_columns import EncodedTable

MAX_DONORS = 2000
NEAREST = 64  # of the donors, from which a cell takes
NEIGHBOURS = 5  # the first so many that have a value there


@dataclass(frozen=True)
class Donors:
    """Rows of a table whose values fill the missing cells of other rows.

    The distance of two rows is the mean over the features that both have of the squared difference, drawn towards the
    usual distance where these are few. Every feature is scaled to variance 1; constant ones do not count.
    """

    values: FloatArray  # (m, C)
    weights: FloatArray  # (m,)
    first: IntArray  # (p,)
    widths: IntArray  # (p,)
    exponents: IntArray  # (C,): columns are divided by 2**exponent first, so that no square is lost
    scales: FloatArray  # (C,): and then multiplied by this; NaN for a constant feature
    means: FloatArray  # (C,): of all rows, for a cell where none of the nearest donors has a value

    def fill(self, values: FloatArray, threads: int = 1) -> FloatArray:
        """A copy of the rows, each missing cell being the mean of the nearest donors that have a value there.

        Does not depend on which rows are filled together, nor on their order.

        Parameters
        ----------
        values : ndarray of shape (n_samples, C)
            Encoded rows, NaN where a cell is missing.
        threads : int, default=1
            Does not change the result.

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
            NEAREST,
            threads,
        )

    def _places(self, values: FloatArray) -> FloatArray:
        places: FloatArray = np.ldexp(values, -self.exponents) * self.scales
        return np.ascontiguousarray(places)


def complete(
    encoded: EncodedTable, weights: FloatArray | None = None, threads: int = 1
) -> tuple[EncodedTable, Donors | None]:
    """The table without missing cells, and what fills those of new rows; the table itself and None if it has none.

    Parameters
    ----------
    encoded : EncodedTable
        Missing cells are NaN.
    weights : ndarray of shape (n_samples,), default=None
        Of the rows: one of weight 2 is like two equal rows, one of weight 0 is filled but fills none.
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


def find_donors(encoded: EncodedTable, weights: FloatArray | None = None) -> Donors:
    """At most MAX_DONORS different rows. Neither the order of the rows nor their repetition shows."""
    rows, mass = distinct_rows(encoded.values, weights)
    laws = [_law(encoded.values[rows, c], mass) for c in range(encoded.values.shape[1])]
    exponents, means, variances = map(np.array, zip(*laws, strict=True))
    whole = np.repeat(np.add.reduceat(variances, encoded.first), encoded.widths)
    return Donors(
        values=encoded.values[rows[:MAX_DONORS]],
        weights=mass[:MAX_DONORS],
        first=encoded.first,
        widths=encoded.widths,
        exponents=exponents.astype(np.int32),
        scales=np.where(whole > 0, 1.0 / np.sqrt(np.where(whole > 0, whole, 1.0)), np.nan),
        means=np.ldexp(means, exponents),
    )


def _law(x: FloatArray, weights: FloatArray) -> tuple[int, float, float]:
    """A column's exponent, and its mean and variance divided by 2**exponent: of what is known, 0 where nothing is."""
    known = ~np.isnan(x)
    if not known.any():
        return 0, 0.0, 0.0
    x, weights = x[known], weights[known]
    exponent = int(np.frexp(np.abs(x).max())[1])
    unit = np.ldexp(x, -exponent)
    above = unit - unit.min()  # exactly 0 in a constant column
    mean = np.average(above, weights=weights)
    return exponent, float(unit.min() + mean), float(np.average((above - mean) ** 2, weights=weights))
