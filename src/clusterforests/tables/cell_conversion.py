"""Cells turned into numbers or categories as a reading says: when a table is fitted, and for new rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from clusterforests._base.typing import FloatArray
from clusterforests.tables.column_reading import CATEGORY, DATE, HOURS, NUMBER, ORDERED, YES_NO, ColumnReading
from clusterforests.tables.column_table import CategoryColumn
from clusterforests.tables.missing_marks import is_missing_sign, is_missing_text, is_missing_word
from clusterforests.tables.number_columns import COMPACT_DATES
from clusterforests.tables.raw_columns import first_rows, plain_number, shorten
from clusterforests.tables.unseen_levels import UnseenLevels
from clusterforests.tables.word_scales import is_yes, plain_word, ranks_of
from clusterforests.tables.written_dates import hours, split_date
from clusterforests.tables.written_numbers import split_number

Cells = FloatArray | CategoryColumn

EXPECTED = {NUMBER: "a number", DATE: "a date", HOURS: "a time of day", ORDERED: "one of the ordered levels"}


class CellError(ValueError):
    """A cell that cannot be read as the column is."""

    def __init__(self, row: int, text: str) -> None:
        self.row = row
        self.text = text
        super().__init__(text)


def convert(cells: Cells, reading: ColumnReading, unseen: UnseenLevels | None = None) -> Cells:
    """Turn the cells of a column that is used into what it was read as.

    Parameters
    ----------
    cells : ndarray or CategoryColumn
        Numbers, or texts.
    reading : ColumnReading
        How the column is read.
    unseen : UnseenLevels or None, default=None
        Counts words that are none of the ordered levels, which are missing then; None means that they are an error.

    Returns
    -------
    converted : ndarray or CategoryColumn
        A category keeps its texts; everything else becomes float64, NaN where a cell is missing.
    """
    if isinstance(cells, CategoryColumn):
        return _convert_texts(cells, reading, unseen)
    if reading.read_as == CATEGORY:
        return as_levels(cells, plain_number)
    if reading.read_as == YES_NO:
        return as_levels(cells, lambda value: reading.order[int(value != 0)])
    if reading.read_as == DATE and reading.style == COMPACT_DATES:
        distinct, codes = np.unique(cells, return_inverse=True)
        days = np.array([np.nan if np.isnan(value) else _compact_days(value) for value in distinct.tolist()])
        dates: FloatArray = days[codes]
        return dates
    return cells


def _compact_days(value: float) -> float:
    date = split_date(plain_number(value))
    days = None if date is None else date.days("")
    return np.nan if days is None else days


def as_levels(cells: FloatArray, name: Callable[[float], Any]) -> CategoryColumn:
    """Take numbers as names of groups."""
    known = ~np.isnan(cells)
    distinct, inverse = np.unique(cells[known], return_inverse=True)
    codes = np.full(len(cells), -1, dtype=np.int32)
    codes[known] = inverse
    return CategoryColumn(codes, tuple(name(value) for value in distinct.tolist()))


def _convert_texts(cells: CategoryColumn, reading: ColumnReading, unseen: UnseenLevels | None) -> Cells:
    if reading.read_as == CATEGORY:
        return _renamed(cells, lambda level: None if isinstance(level, str) and is_missing_sign(level) else level)
    if reading.read_as == YES_NO:
        return _renamed(cells, lambda level: _answer(level, reading))
    return _numbers(cells, reading, unseen)


def _answer(level: Any, reading: ColumnReading) -> Any:
    """Write yes and no as the column mostly does; anything else stays as it is."""
    if is_missing_sign(str(level)):
        return None
    answer = is_yes(str(level))
    return level if answer is None else reading.order[int(answer)]


def _renamed(cells: CategoryColumn, rename: Callable[[Any], Any]) -> CategoryColumn:
    levels: dict[Any, int] = {}
    codes = np.full(len(cells.levels) + 1, -1, dtype=np.int32)
    for code, level in enumerate(cells.levels):
        name = rename(level)
        if name is not None:
            codes[code] = levels.setdefault(name, len(levels))
    return CategoryColumn(codes[cells.codes], tuple(levels))


def _numbers(cells: CategoryColumn, reading: ColumnReading, unseen: UnseenLevels | None) -> FloatArray:
    read = _reader(reading)
    values = np.full(len(cells.levels) + 1, np.nan)
    strange = np.zeros(len(cells.levels), dtype=bool)
    for code, level in enumerate(cells.levels):
        text = str(level)
        value = read(text)
        if value is not None:
            values[code] = value
        elif reading.read_as == ORDERED:
            strange[code] = not is_missing_sign(text)
        else:
            strange[code] = not is_missing_word(text)
    if unseen is not None and reading.read_as == ORDERED:
        codes = cells.codes[cells.codes >= 0]
        words = (cells.levels[code] for code in codes[strange[codes]])
        unseen.add(f"column {reading.name!r}", words, ordered=True)
        strange[:] = False
    for row in first_rows(cells, strange):
        text = shorten(str(cells.levels[cells.codes[row]]))
        raise CellError(row, f"{text!r} is not {EXPECTED[reading.read_as]}{_as_in_fit(reading)}")
    numbers: FloatArray = values[cells.codes]
    return numbers


def _as_in_fit(reading: ColumnReading) -> str:
    if reading.read_as == ORDERED:
        return f" ({', '.join(reading.order)})"
    details = ", ".join(
        filter(None, [reading.style, f"in {reading.unit}" if reading.unit and reading.unit != "h" else ""])
    )
    return f" ({details})" if details else ""


def _reader(reading: ColumnReading) -> Callable[[str], float | None]:
    """Return the function that reads one text; None is what it does not understand."""
    if reading.read_as == HOURS:
        return hours
    if reading.read_as == DATE:
        return lambda text: _days(text, reading.style)
    if reading.read_as == ORDERED:
        exact = {level: rank for rank, level in enumerate(reading.order)}
        ranks = ranks_of(reading.order, reading.name)
        return lambda text: exact.get(text, ranks.get(plain_word(text)))
    unit = reading.unit.casefold().rstrip(".")
    return lambda text: _number(text, reading.style, unit)


def _days(text: str, style: str) -> float | None:
    date = split_date(text)
    return None if date is None else date.days(style)


def _number(text: str, style: str, unit: str) -> float | None:
    number = split_number(text)
    if number is None or number.unit.casefold().rstrip(".") not in ("", unit):
        return np.nan if is_missing_text(text) else None
    return number.value(style)
