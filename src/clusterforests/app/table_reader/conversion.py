"""Cells turned into numbers or categories as a column is read: when a table is fitted, and for new rows."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from clusterforests.app.table_reader.columns import ColumnReading, Kind, Style
from clusterforests.app.table_reader.dates import parse_date, parse_hours
from clusterforests.app.table_reader.missing_marks import is_missing_sign, is_missing_word, is_plain_mark
from clusterforests.app.table_reader.notes import EITHER_ORDER, NewCells, NoteKind, Remedy, decimal_remedies
from clusterforests.app.table_reader.numbers import ParsedNumber, decimal_evidence, parse_number, untyped
from clusterforests.app.table_reader.raw_columns import DAY, Cells, Floats, RawColumn, Texts, plain_number, shown
from clusterforests.app.table_reader.word_scales import is_yes, plain_word, ranks_of

EXPECTED = {
    Kind.NUMBER: "a number",
    Kind.DATE: "a date",
    Kind.HOURS: "a time of day",
    Kind.ORDERED: "one of the ordered levels",
}
PER = ("%", "‰")  # without them, a number may mean another
TRUE_FALSE = {"true": 1.0, "false": 0.0}
ALIKE = {"true": ("True", "1"), "false": ("False", "0"), "1": ("True",), "0": ("False",)}  # spellings of a level


class CellError(ValueError):
    """A cell that cannot be read as the column is, and what can be done besides correcting it."""

    def __init__(self, row: Any, text: str, remedies: tuple[Remedy, ...] = ()) -> None:
        self.row, self.text, self.remedies = int(row), text, remedies
        super().__init__(text)


def convert(raw: RawColumn, reading: ColumnReading, new: NewCells | None = None) -> Cells:
    """Turn the cells of a column that is used into what it was read as.

    Parameters
    ----------
    raw : RawColumn
        The column.
    reading : ColumnReading
        How it is read.
    new : NewCells or None, default=None
        For new rows: counts levels that the column had not, which are missing then, and cells that are not read as they
        stand; what may mean something else raises `CellError`. None means that the table is being fitted, so that its
        cells are known to fit.

    Returns
    -------
    cells : ndarray or Texts
        Categories as texts; ordered levels as ranks, dates as days since 1970 and everything else as numbers, NaN where
        a cell is missing.
    """
    cells = raw.cells
    if isinstance(cells, Texts):
        words = reading.read_as in (Kind.CATEGORY, Kind.YES_NO)
        return _words(cells, reading, new) if words else _numbers(cells, reading, new)
    known = np.flatnonzero(~np.isnan(cells))
    if new is not None and reading.read_as == Kind.NUMBER and len(known):
        # Dates are no numbers, and a number without a sign is no percentage.
        if raw.declared == Kind.DATE:
            raise CellError(int(known[0]), "it is a date, not a number as in the fitted table")
        if reading.unit in PER:
            raise missing_unit(known[0], plain_number(float(cells[known[0]])), reading)
        if reading.unit:
            new.add(reading.name, NoteKind.NO_UNIT, Counter({"": len(known)}), reading.unit)
    if reading.is_boolean:
        for row in np.flatnonzero(~np.isnan(cells) & (cells != 0) & (cells != 1)):
            raise CellError(row, f"'{plain_number(float(cells[row]))}' is neither true nor false")
    if reading.read_as == Kind.CATEGORY:
        return _known_levels(_named(cells, raw), reading, new)
    if reading.read_as == Kind.YES_NO:
        return _words(_named(cells, raw), reading, new)
    dates_as_numbers = raw.declared != Kind.DATE and (new is not None or reading.style == Style.COMPACT_DATES)
    if reading.read_as in (Kind.ORDERED, Kind.HOURS) or (reading.read_as == Kind.DATE and dates_as_numbers):
        return _numbers(_named(cells, raw), reading, new)  # 20210304 is a date, 44256 is none
    return cells


def _named(cells: Floats, raw: RawColumn) -> Texts:
    """Take numbers, and truth values among them, as names of groups."""
    known = ~np.isnan(cells)
    values, numbers = np.unique(cells[known], return_inverse=True)
    truths = np.full(len(cells), raw.declared == Kind.YES_NO) if raw.truths is None else raw.truths
    codes = np.full(len(cells), -1, dtype=np.int32)
    codes[known] = numbers + len(values) * truths[known]
    names = [plain_number(value) for value in values.tolist()] + [str(bool(value)) for value in values.tolist()]
    used = frozenset(codes.tolist())
    return Texts(codes, ()).renamed([name if code in used else None for code, name in enumerate(names)])


def _words(cells: Texts, reading: ColumnReading, new: NewCells | None) -> Texts:
    """Read names of groups, or yes and no as the column mostly writes them."""
    is_mark = is_missing_sign if reading.read_as == Kind.CATEGORY else is_missing_word
    marks = [is_mark(level) for level in cells.levels]
    _count_marks(new, reading, cells, marks)
    names = [None if mark else untyped(level) for mark, level in zip(marks, cells.levels, strict=True)]
    if reading.read_as == Kind.YES_NO:
        answers = [None if name is None else {"1": True, "0": False}.get(name, is_yes(name)) for name in names]
        names = [n if a is None else reading.levels[int(a)] for n, a in zip(names, answers, strict=True)]
    return _known_levels(cells.renamed(names), reading, new)


def _known_levels(cells: Texts, reading: ColumnReading, new: NewCells | None) -> Texts:
    """Find the levels of new rows among those of the fitted column; others are missing."""
    if new is None:
        return cells
    known = frozenset(reading.levels)
    found = [next((text for text in _spellings(level) if text in known), None) for level in cells.levels]
    _count(new, reading, NoteKind.NEW_LEVEL, cells, [name is None for name in found])
    return cells.renamed(found)


def _spellings(level: str) -> tuple[str, ...]:
    """List what may stand for a level: "2" for "2.0", "True" for "TRUE" or "1"."""
    try:
        plain = plain_number(float(level))
    except (ValueError, OverflowError):
        plain = level
    return (level, plain, *ALIKE.get(plain.casefold(), ()))


def _numbers(cells: Texts, reading: ColumnReading, new: NewCells | None) -> Floats:
    """Read each different text as a number, a date or a rank."""
    read = _reader(reading)
    found = [read(text) for text in cells.levels]
    marks = [value is None and is_missing_word(text) for value, text in zip(found, cells.levels, strict=True)]
    _count_marks(new, reading, cells, marks)
    strange = np.array([value is None for value in found], dtype=bool) & ~np.array(marks, dtype=bool)
    if new is not None and reading.read_as == Kind.ORDERED:
        _count(new, reading, NoteKind.NEW_LEVEL, cells, strange)
        strange[:] = False
    for row in cells.rows_of(strange):
        raise _unreadable(row, cells.levels[cells.codes[row]], reading)
    if new is not None and reading.read_as == Kind.NUMBER:
        _check_numbers(cells, reading, new)
    values = np.array([*(np.nan if value is None else value for value in found), np.nan])
    return values[cells.codes]


def _check_numbers(cells: Texts, reading: ColumnReading, new: NewCells) -> None:
    """Refuse numbers of new rows that lack a percent sign, and count limits and numbers without a unit."""
    parsed = [parse_number(text, padded=reading.padded) for text in cells.levels]
    bare = np.array([bool(reading.unit) and number is not None and not number.unit for number in parsed], dtype=bool)
    if reading.unit in PER:
        for row in cells.rows_of(bare):
            raise missing_unit(row, cells.levels[cells.codes[row]], reading)
    _count(new, reading, NoteKind.NO_UNIT, cells, bare)
    _count(new, reading, NoteKind.PADDED, cells, [number is not None and number.padded for number in parsed])
    _count(new, reading, NoteKind.LIMIT, cells, [number is not None and number.limit != "" for number in parsed])


def missing_unit(row: Any, cell: str, reading: ColumnReading) -> CellError:
    """Say that a cell has no percent sign, so that nobody knows whether 0.05 is 5 %."""
    sign = "percent sign" if reading.unit == "%" else reading.unit
    return CellError(row, f"{shown(cell)!r} has no {sign}, unlike the fitted table's cells")


def _count(new: NewCells | None, reading: ColumnReading, kind: str, cells: Texts, chosen: Any) -> None:
    """Count the cells of new rows that have a chosen text."""
    if new is not None and np.any(chosen):
        counts = cells.counts()[np.asarray(chosen, dtype=bool)]
        told = Counter({untyped(text): int(n) for text, n in counts.items() if n})
        new.add(reading.name, kind, told, reading.unit if kind == NoteKind.NO_UNIT else "")


def _count_marks(new: NewCells | None, reading: ColumnReading, cells: Texts, marks: Sequence[bool]) -> None:
    """Count the cells of new rows that say that they are missing, without those that need no mention."""
    told = [mark and not is_plain_mark(text) for mark, text in zip(marks, cells.levels, strict=True)]
    _count(new, reading, NoteKind.MARK, cells, told)


def _unreadable(row: Any, text: str, reading: ColumnReading) -> CellError:
    """Say why a cell cannot be read: its style is not known, or it is something else."""
    cell, fitted = repr(shown(text)), "which the fitted table does not show"
    number, date = parse_number(text), parse_date(text)
    if reading.read_as == Kind.NUMBER and not reading.style and number is not None and _shows_no_point(number):
        return CellError(row, f"{cell} may be thousands or decimals, {fitted}", decimal_remedies(number.body))
    if reading.read_as == Kind.DATE and reading.style not in (Style.DAY_FIRST, Style.MONTH_FIRST) and date is not None:
        return CellError(row, f"{cell} may begin with the day or the month, {fitted}", EITHER_ORDER)
    details = [reading.style, f"in {reading.unit}" if reading.unit and reading.unit != "h" else ""]
    if reading.read_as == Kind.ORDERED:
        details = list(reading.levels)
    known = ", ".join(filter(None, details))
    remedies = (Remedy("", "if that stands for a missing value", (untyped(text),)),) if number is None else ()
    expected = EXPECTED[reading.read_as] + (f" ({known})" if known else "")
    return CellError(row, f"{cell} is not {expected}, as in the fitted table", remedies)


def _shows_no_point(number: ParsedNumber) -> bool:
    return decimal_evidence(number) in ("unclear", Style.DECIMAL_COMMA)


def _reader(reading: ColumnReading) -> Callable[[str], float | None]:
    """Return the function that reads one text; None is what it does not understand."""
    if reading.read_as == Kind.HOURS:
        return parse_hours
    if reading.read_as == Kind.DATE:
        return lambda text: None if (date := parse_date(text)) is None else date.days(reading.style)
    if reading.read_as == Kind.ORDERED:
        exact = {level: float(rank) for rank, level in enumerate(reading.levels)}
        ranks = ranks_of(reading.levels, reading.name)
        return lambda text: exact.get(untyped(text), exact.get(text, ranks.get(plain_word(text))))
    unit = reading.unit.casefold().rstrip(".")
    truths = TRUE_FALSE if reading.kind in (Kind.YES_NO, Kind.NEAR_DUPLICATE) else {}

    def number(text: str) -> float | None:
        parsed = parse_number(text, padded=reading.padded)
        if parsed is None or parsed.plain_unit not in ("", unit):
            return truths.get(text.casefold())
        return None if not reading.style and _shows_no_point(parsed) else parsed.value(reading.style)

    return number


def typed_series(cells: Cells, reading: ColumnReading) -> "pd.Series":
    """Return converted cells with the type that shows what they are: a number, a truth value, a date or a category.

    Parameters
    ----------
    cells : ndarray or Texts
        What `convert` returned.
    reading : ColumnReading
        How the column is read.

    Returns
    -------
    column : Series
        Of float64, boolean, datetime64[us] or a categorical type.
    """
    if isinstance(cells, Texts):
        place = {level: code for code, level in enumerate(reading.levels)}
        codes = np.array([*map(place.__getitem__, cells.levels), -1], dtype=np.int32)[cells.codes]
        return pd.Series(pd.Categorical.from_codes(codes, list(reading.levels)))
    if reading.read_as == Kind.ORDERED:
        codes = np.where(np.isnan(cells), -1, cells).astype(np.int32)
        return pd.Series(pd.Categorical.from_codes(codes, list(reading.levels), ordered=True))
    if reading.read_as == Kind.DATE:
        moments = np.full(len(cells), np.datetime64("NaT"), dtype="datetime64[us]")
        known = ~np.isnan(cells)
        moments[known] = np.round(cells[known] * DAY).astype(np.int64).astype("datetime64[us]")
        return pd.Series(moments)
    if reading.is_boolean:
        return pd.Series(pd.array(cells, dtype="Float64")).astype("boolean")
    return pd.Series(cells)
