"""Columns of new rows, read as those of the fitted table were; what does not fit is refused, or counted."""

from collections import Counter

import numpy as np

from clusterforests._utils.arrays import FloatArray
from clusterforests.table.reader.cells import PER, CellError, Cells, as_levels, convert, convert_column, missing_unit
from clusterforests.table.reader.column_reading import DATE, NUMBER, ColumnReading
from clusterforests.table.reader.raw_columns import CategoryColumn, RawColumn, plain_number
from clusterforests.table.reader.remarks import NO_UNIT, NewCells


def read_like(raw: RawColumn, reading: ColumnReading, new: NewCells) -> Cells:
    """Read a column that is used as the fitted one was read.

    Parameters
    ----------
    raw : RawColumn
        The column.
    reading : ColumnReading
        How the fitted one was read.
    new : NewCells
        Counts what is not read as it stands, and levels that are new.

    Returns
    -------
    cells : ndarray or CategoryColumn
    """
    if isinstance(raw.cells, CategoryColumn):
        return convert(raw.cells, reading, new)
    known = np.flatnonzero(~np.isnan(raw.cells))
    if reading.read_as == NUMBER and len(known):
        _check_quantities(raw, raw.cells, int(known[0]), reading)
        new.remark(reading.name, NO_UNIT, Counter({"": len(known)} if reading.unit else ()), reading.unit)
    if reading.read_as == DATE and raw.declared == DATE:
        return raw.cells
    if reading.read_as == DATE:  # numbers: 20210304 is a date, 44256 is none
        return convert(as_levels(raw.cells, plain_number), reading, new)
    return convert_column(raw, reading, new)


def _check_quantities(raw: RawColumn, cells: FloatArray, row: int, reading: ColumnReading) -> None:
    """Refuse dates for numbers, and numbers without a sign for percent."""
    if raw.declared == DATE:
        raise CellError(row, "it is a date, not a number as in the fitted table")
    if reading.unit in PER:
        raise missing_unit(row, plain_number(float(cells[row])), reading)
