"""Fill missing cells with what similar rows have there, so that no row is dropped."""

from dataclasses import dataclass, replace

import numpy as np

from clusterforests import _core
from clusterforests._utils.arrays import FloatArray, IntArray, as_floats, column_blocks
from clusterforests.table.feature_columns import DistinctRows, EncodedTable, distinct_rows

# Donors of a table with missing cells, at most; and of one without, for those of new rows: rows, and cells of these.
MAX_DONORS = 2000
KEPT_DONORS, KEPT_CELLS = 1000, 2**20
# Donors that are searched for a cell; the nearest of them that have a value there, whose mean fills it.
NEAREST, NEIGHBOURS = 64, 5


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
            self._comparable(values),
            self.values,
            self._comparable(self.values),
            self.weights,
            self.first,
            self.widths,
            self.means,
            NEIGHBOURS,
            nearest,
            threads,
        )

    def _comparable(self, values: FloatArray) -> FloatArray:
        comparable: FloatArray = np.ldexp(values, -self.exponents) * self.scales
        return np.ascontiguousarray(comparable)


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
    rows, weights = distinct_rows(encoded.values, weights)
    blocks = column_blocks(len(rows), encoded.values.shape[1])
    moments = [_moments(as_floats(encoded.values, block, rows).T, weights) for block in blocks]
    exponents, means, variances = (np.concatenate(parts) for parts in zip(*moments, strict=True))
    whole = np.repeat(np.add.reduceat(variances, encoded.first), encoded.widths)
    return Donors(
        values=as_floats(encoded.values, rows=rows[:max_donors]),
        weights=weights[:max_donors],
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


def _moments(columns: FloatArray, weights: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Compute the exponent of each column, and the mean and variance of its known values divided by 2**exponent.

    Columns are rows here. Those with missing cells have rows of their own.
    """
    count = len(columns)
    exponents, means, variances = np.zeros(count, np.int32), np.zeros(count), np.zeros(count)
    known = ~np.isnan(columns)
    whole = known.all(axis=1)
    parts = [(np.flatnonzero(whole), np.ascontiguousarray(columns[whole]), weights)]
    for c in np.flatnonzero(~whole & known.any(axis=1)):
        parts.append((np.array([c]), columns[c, known[c]][None, :], weights[known[c]]))
    for which, values, weights in parts:
        exponents[which] = np.frexp(np.abs(values).max(axis=1, initial=0.0))[1]
        unit = np.ldexp(values, -exponents[which][:, None])
        # Measured from the least value, a constant column is exactly 0.
        least = unit.min(axis=1, initial=np.inf)
        above = unit - least[:, None]
        mean = (above * weights).sum(axis=1) / weights.sum()
        means[which] = least + mean
        variances[which] = ((above - mean[:, None]) ** 2 * weights).sum(axis=1) / weights.sum()
    return exponents, means, variances
