"""Cells turned into numbers or categories as a reading says: when a table is fitted, and for new rows."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from clusterforests._utils.arrays import BoolArray, FloatArray
from clusterforests.table.reader.column_kinds import COMPACT_DATES
from clusterforests.table.reader.column_problems import Remedy, decimal_remedies, order_remedies
from clusterforests.table.reader.column_reading import (
    CATEGORY,
    DATE,
    DAY_FIRST,
    DECIMAL_COMMA,
    HOURS,
    MONTH_FIRST,
    NEAR_DUPLICATE,
    NUMBER,
    ORDERED,
    YES_NO,
    ColumnReading,
)
from clusterforests.table.reader.dates import hours, split_date
from clusterforests.table.reader.missing_marks import is_missing_sign, is_missing_word, is_plain_mark
from clusterforests.table.reader.numbers import WrittenNumber, decimal_evidence, split_number, untyped
from clusterforests.table.reader.raw_columns import CategoryColumn, RawColumn, first_rows, plain_number, shown
from clusterforests.table.reader.remarks import LIMIT, MARK, NO_UNIT, PADDED, NewCells
from clusterforests.table.reader.word_scales import is_yes, plain_word, ranks_of

Cells = FloatArray | CategoryColumn

EXPECTED = {NUMBER: "a number", DATE: "a date", HOURS: "a time of day", ORDERED: "one of the ordered levels"}
PER = ("%", "‰")  # without them, a number may mean another


class CellError(ValueError):
    """A cell that cannot be read as the column is, and what can be done besides correcting it."""

    def __init__(self, row: int, text: str, remedies: tuple[Remedy, ...] = ()) -> None:
        self.row = row
        self.text = text
        self.remedies = remedies
        super().__init__(text)


def convert_column(raw: RawColumn, reading: ColumnReading, new: NewCells | None = None) -> Cells:
    """Do what `convert` does; where the column holds words, cells that are true and false are these, not 1 and 0."""
    cells = raw.cells
    if reading.read_as in (CATEGORY, ORDERED) and isinstance(cells, np.ndarray):
        if raw.declared == YES_NO:
            cells = as_levels(cells, bool)
        elif raw.truths is not None:
            cells = _numbers_and_truths(cells, raw.truths)
    return convert(cells, reading, new)


def _numbers_and_truths(cells: FloatArray, truths: BoolArray) -> CategoryColumn:
    """Take numbers, and truth values among them, as names of groups."""
    numbers = as_levels(np.where(truths, np.nan, cells), plain_number)
    answers = as_levels(np.where(truths, cells, np.nan), lambda value: str(bool(value)))
    codes = np.where(truths, answers.codes + np.int32(len(numbers.levels)), numbers.codes)
    return CategoryColumn(codes, numbers.levels + answers.levels)


def convert(cells: Cells, reading: ColumnReading, new: NewCells | None = None) -> Cells:
    """Turn the cells of a column that is used into what it was read as.

    Parameters
    ----------
    cells : ndarray or CategoryColumn
        Numbers, or texts.
    reading : ColumnReading
        How the column is read.
    new : NewCells or None, default=None
        For new rows: counts words that are none of the ordered levels, which are missing then, and cells that are not
        read as they stand. None means that the table is being fitted: it was inspected, and such words are an error.

    Returns
    -------
    converted : ndarray or CategoryColumn
        A category keeps its texts; everything else becomes float64, NaN where a cell is missing.
    """
    if isinstance(cells, CategoryColumn):
        return _convert_texts(cells, reading, new)
    if reading.read_as == CATEGORY:
        return as_levels(cells, plain_number)
    if reading.read_as == YES_NO:
        return as_levels(cells, lambda value: reading.order[int(value)] if value in (0, 1) else plain_number(value))
    if reading.read_as in (ORDERED, HOURS) or (reading.read_as == DATE and reading.style == COMPACT_DATES):
        return _convert_texts(as_levels(cells, plain_number), reading, new)
    return cells


def as_levels(cells: FloatArray, name: Callable[[float], Any]) -> CategoryColumn:
    """Take numbers as names of groups."""
    known = ~np.isnan(cells)
    distinct, inverse = np.unique(cells[known], return_inverse=True)
    codes = np.full(len(cells), -1, dtype=np.int32)
    codes[known] = inverse
    return CategoryColumn(codes, tuple(name(value) for value in distinct.tolist()))


def _convert_texts(cells: CategoryColumn, reading: ColumnReading, new: NewCells | None) -> Cells:
    if reading.read_as not in (CATEGORY, YES_NO):
        return _numbers(cells, reading, new)
    is_mark = is_missing_sign if reading.read_as == CATEGORY else is_missing_word
    marks = [isinstance(level, str) and is_mark(level) for level in cells.levels]
    told = [mark and not is_plain_mark(level) for mark, level in zip(marks, cells.levels, strict=True)]
    _remark(new, reading, MARK, cells, told)
    levels = [None if mark else _word(level) for mark, level in zip(marks, cells.levels, strict=True)]
    return _renamed(cells, levels if reading.read_as == CATEGORY else [_answer(level, reading) for level in levels])


def _word(level: Any) -> Any:
    return untyped(level) if isinstance(level, str) else level


def _answer(level: Any, reading: ColumnReading) -> Any:
    """Write yes and no as the column mostly does; anything else stays as it is."""
    answer = None if level is None else is_yes(str(level))
    return level if answer is None else reading.order[int(answer)]


def _renamed(cells: CategoryColumn, names: Sequence[Any]) -> CategoryColumn:
    levels: dict[Any, int] = {}
    codes = np.full(len(cells.levels) + 1, -1, dtype=np.int32)
    for code, name in enumerate(names):
        if name is not None:
            codes[code] = levels.setdefault(name, len(levels))
    return CategoryColumn(codes[cells.codes], tuple(levels))


def _numbers(cells: CategoryColumn, reading: ColumnReading, new: NewCells | None) -> FloatArray:
    texts = [str(level) for level in cells.levels]
    read = _reader(reading)
    found = [read(text) for text in texts]
    marks = [value is None and is_missing_word(text) for value, text in zip(found, texts, strict=True)]
    strange = np.array([value is None and not mark for value, mark in zip(found, marks, strict=True)], dtype=bool)
    _remark(
        new, reading, MARK, cells, [mark and not is_plain_mark(text) for mark, text in zip(marks, texts, strict=True)]
    )
    if new is not None and reading.read_as == ORDERED:
        codes = cells.codes[cells.codes >= 0]
        words = (_word(cells.levels[code]) for code in codes[strange[codes]])
        new.add(f"column {reading.name!r}", words, ordered=True)
        strange[:] = False
    for row in first_rows(cells, strange):
        raise _unreadable(row, texts[cells.codes[row]], reading)
    if new is not None and reading.read_as == NUMBER:
        _check_numbers(cells, texts, reading, new)
    values = np.array([*(np.nan if value is None else value for value in found), np.nan])
    numbers: FloatArray = values[cells.codes]
    return numbers


def _check_numbers(cells: CategoryColumn, texts: Sequence[str], reading: ColumnReading, new: NewCells) -> None:
    """Refuse numbers of new rows that lack a percent sign, and count limits and numbers without a unit."""
    written = [split_number(text, padded=reading.padded) for text in texts]
    bare = np.array([bool(reading.unit) and number is not None and not number.unit for number in written], dtype=bool)
    if reading.unit in PER:
        for row in first_rows(cells, bare):
            raise missing_unit(row, texts[cells.codes[row]], reading)
    _remark(new, reading, NO_UNIT, cells, bare.tolist())
    _remark(new, reading, PADDED, cells, [number is not None and number.padded for number in written])
    _remark(new, reading, LIMIT, cells, [number is not None and number.limit != "" for number in written])


def missing_unit(row: int, cell: str, reading: ColumnReading) -> CellError:
    """Say that a cell has no percent sign, so that nobody knows whether 0.05 is 5 %."""
    sign = "percent sign" if reading.unit == "%" else reading.unit
    return CellError(row, f"{shown(cell)!r} has no {sign}, unlike the fitted table's cells")


def _remark(
    new: NewCells | None, reading: ColumnReading, kind: str, cells: CategoryColumn, chosen: Sequence[bool]
) -> None:
    """Count the cells of new rows that have a chosen text."""
    if new is not None and any(chosen):
        counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.levels)).tolist()
        told = {str(level): n for level, n, c in zip(cells.levels, counts, chosen, strict=True) if c and n}
        new.remark(reading.name, kind, Counter(told), reading.unit)


def _unreadable(row: int, text: str, reading: ColumnReading) -> CellError:
    """Say why a cell cannot be read: its style is not known, or it is something else."""
    cell = repr(shown(text))
    number, date = split_number(text), split_date(text)
    if reading.read_as == NUMBER and not reading.style and number is not None and _shows_no_point(number):
        what = f"{cell} may be thousands or decimals, which the fitted table does not show"
        return CellError(row, what, decimal_remedies(number.body))
    if reading.read_as == DATE and reading.style not in (DAY_FIRST, MONTH_FIRST) and date is not None:
        what = f"{cell} may begin with the day or the month, which the fitted table does not show"
        return CellError(row, what, order_remedies())
    return CellError(row, f"{cell} is not {EXPECTED[reading.read_as]}{_as_in_fit(reading)}, as in the fitted table")


def _shows_no_point(number: WrittenNumber) -> bool:
    return decimal_evidence(number) in ("unclear", DECIMAL_COMMA)


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
        return lambda text: exact.get(untyped(text), exact.get(text, ranks.get(plain_word(text))))
    unit = reading.unit.casefold().rstrip(".")
    if reading.kind in (YES_NO, NEAR_DUPLICATE):
        return lambda text: _truth(text, reading, unit)
    return lambda text: _number(text, reading, unit)


def _days(text: str, style: str) -> float | None:
    date = split_date(text)
    return None if date is None else date.days(style)


def _truth(text: str, reading: ColumnReading, unit: str) -> float | None:
    """Read a number, or true and false where these were numbers in a frame."""
    answer = is_yes(text) if text.casefold() in ("true", "false") else None
    return _number(text, reading, unit) if answer is None else float(answer)


def _number(text: str, reading: ColumnReading, unit: str) -> float | None:
    number = split_number(text, padded=reading.padded)
    if number is None or number.unit.casefold().rstrip(".") not in ("", unit):
        return None
    if not reading.style and _shows_no_point(number):
        return None
    return number.value(reading.style)
