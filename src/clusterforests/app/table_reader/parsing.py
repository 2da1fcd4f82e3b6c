"""Texts that are numbers or dates: their unit, their style, and the cells that are neither."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests.app.table_reader.columns import Kind, Style
from clusterforests.app.table_reader.dates import parse_date, parse_hours
from clusterforests.app.table_reader.missing_marks import is_missing_word, is_plain_mark
from clusterforests.app.table_reader.notes import (
    AS_CATEGORY,
    EITHER_ORDER,
    IGNORING,
    ColumnProblem,
    NoteKind,
    Remedy,
    decimal_remedies,
    note,
)
from clusterforests.app.table_reader.numbers import ParsedNumber, StyleEvidence, parse_number, style_evidence, untyped
from clusterforests.app.table_reader.raw_columns import Mask, quoted

LETTERS = frozenset("ABCFJKLMNVWcdghklmstx")  # that are units; others follow numbers as in 7a
MOST_UNITS = 5  # more, and what follows the numbers are no units
ENOUGH = 0.5  # share of the rows that must be numbers, or dates, for the column to be one

Counts = Any  # a pandas Series: how many rows have each text


@dataclass(frozen=True)
class ParsedColumn:
    """A column whose texts are numbers, dates or times of day, as far as it is known before its style is."""

    read_as: str  # "number", "date" or "hours"
    unit: str = ""
    settled: str | None = ""  # its style; None if its cells do not show it
    unclear: str = ""  # a cell that does not show it
    notes: tuple[str, ...] = ()
    problems: tuple[ColumnProblem, ...] = ()
    padded: bool = False  # some numbers have leading zeros

    def unclear_problem(self, name: str) -> ColumnProblem:
        """Ask for the style of a column whose cells do not show it."""
        if self.read_as == Kind.DATE:
            text = f"every date is like {self.unclear!r}: day or month may come first."
            return ColumnProblem(name, text, EITHER_ORDER)
        text = f"its numbers are like {self.unclear!r}, which may be thousands or decimals."
        return ColumnProblem(name, text, decimal_remedies(self.unclear))

    def describe(self, style: str | None) -> str:
        """Say what the column holds, once its style is known."""
        if self.read_as == Kind.HOURS:
            return "times of day, read as hours"
        if self.read_as == Kind.DATE:
            return "dates" + (f"; {style}" if style else "")
        details = [f"in {self.unit}" if self.unit else "", style if style and self.settled != "" else ""]
        return ", ".join(filter(None, ["numbers", *details]))


def share(counts: Counts, chosen: Mask) -> float:
    """Return the share of rows that have one of the chosen texts."""
    return float(counts[chosen].sum()) / max(1, int(counts.sum()))


def mask(counts: Counts, fits: Callable[[str], bool]) -> Mask:
    """Tell of each text whether it fits."""
    return np.array([fits(text) for text in counts.index], dtype=bool)


def noted(kind: str, counts: Counts, told: Mask) -> tuple[str, ...]:
    """Say how the cells with some of the texts were read, if there are any."""
    some = list(counts.index[told])
    return (note(kind, some, int(counts[told].sum())),) if some else ()


def missing_notes(counts: Counts, missing: Mask) -> tuple[str, ...]:
    """Say which texts count as missing, without those that need no mention."""
    return noted(NoteKind.MARK, counts, missing & ~mask(counts, is_plain_mark))


def parse_numbers(name: str, every: Counts, *, wanted: bool = False) -> ParsedColumn | None:
    """Read texts as numbers; None if too few are, or if what follows them are no units.

    Parameters
    ----------
    name : str
        Name of the column.
    every : Series of int
        How many rows have each text.
    wanted : bool, default=False
        Whether the user says that they are numbers.

    Returns
    -------
    parsed : ParsedColumn or None
    """
    missing = mask(every, is_missing_word)
    counts = every[~missing]
    parsed = _without_rare_units(counts, [parse_number(text, padded=wanted) for text in counts.index])
    fits = np.array([number is not None for number in parsed], dtype=bool)
    if not fits.any() or (share(counts, fits) < ENOUGH and not wanted):
        return None

    # What follows the numbers must be a few units; spellings that differ in case are one.
    numbers = [number for number in parsed if number is not None]
    texts = counts.index[fits]
    units: dict[str, tuple[str, str, int]] = {}  # of each unit: its spelling, a text that has it, its number of rows
    for number, text, count in zip(numbers, texts, counts[fits], strict=True):
        spelling, first, rows = units.get(number.plain_unit, (number.unit, text, 0))
        units[number.plain_unit] = spelling, first, rows + int(count)
    named = [spelling for spelling, _, _ in units.values() if spelling]
    letters = any(len(unit) == 1 and unit.isalpha() and unit not in LETTERS for unit in named)
    if (len(named) > MOST_UNITS or letters) and not wanted:
        return None

    problems: tuple[ColumnProblem, ...] = ()
    notes = missing_notes(every, missing)
    limits, padded = ([bool(getattr(number, of)) for number in numbers] for of in ("limit", "padded"))
    notes += noted(NoteKind.LIMIT, counts[fits], np.array(limits)) + noted(
        NoteKind.PADDED, counts[fits], np.array(padded)
    )
    without = "" in units
    if len(named) > 1 or (named == ["%"] and without):
        what = "some of its numbers have a percent sign and others have none"
        what = what if without and "%" in named else "it has several units"
        text = f"{what}, such as {quoted([first for _, first, _ in units.values()])}. Write all of them alike."
        problems += (ColumnProblem(name, text, (IGNORING, AS_CATEGORY)),)
    elif named and without:
        notes += (note(NoteKind.NO_UNIT, (), units[""][2], named[0]),)

    evidence = style_evidence(numbers)
    problems += _strangers(name, counts, fits, "number") + _mixed_styles(name, texts, numbers, evidence)
    unit = named[0] if len(named) == 1 else ""
    return ParsedColumn(Kind.NUMBER, unit, evidence.settled(), evidence.unclear, notes, problems, any(padded))


def parse_dates(name: str, every: Counts, *, wanted: bool = False) -> ParsedColumn | None:
    """Read texts as dates or times of day; None if too few are. Parameters as those of `parse_numbers`."""
    missing = mask(every, is_missing_word)
    counts, notes = every[~missing], missing_notes(every, missing)
    dates = {text: date for text in counts.index if (date := parse_date(text)) is not None}
    fits = mask(counts, dates.__contains__)
    if fits.any() and (share(counts, fits) >= ENOUGH or wanted):
        shown = {date.order: text for text, date in dates.items()}  # a text for each order that some cell shows
        clear = [order for order in (Style.DAY_FIRST, Style.MONTH_FIRST) if order in shown]
        problems = _strangers(name, counts, fits, "date")
        if len(clear) == 2:
            both = quoted([shown[Style.DAY_FIRST], shown[Style.MONTH_FIRST]])
            text = f"some dates have the day first and others the month: {both}. Write all of them alike."
            problems += (ColumnProblem(name, text, (IGNORING,)),)
        settled = clear[0] if len(clear) == 1 else (None if clear or "unclear" in shown else "")
        unclear = next((text for text, date in dates.items() if date.order == "unclear"), "")
        return ParsedColumn(Kind.DATE, "", settled, unclear, notes, problems)
    times = mask(counts, lambda text: parse_hours(text) is not None)
    if times.any() and share(counts, times) >= ENOUGH:
        return ParsedColumn(Kind.HOURS, "h", notes=notes, problems=_strangers(name, counts, times, "time"))
    return None


def _without_rare_units(counts: Counts, numbers: list[ParsedNumber | None]) -> list[ParsedNumber | None]:
    """Where most numbers have no unit, letters after a few are none either: 12a is no 12."""
    lettered = np.array([number is not None and number.unit[:1].isalpha() for number in numbers], dtype=bool)
    plain = np.array([number is not None and not number.unit for number in numbers], dtype=bool)
    if share(counts, lettered) >= share(counts, plain):
        return numbers
    return [None if letters else number for number, letters in zip(numbers, lettered, strict=True)]


def _mixed_styles(
    name: str, texts: Sequence[str], numbers: list[ParsedNumber], evidence: StyleEvidence
) -> tuple[ColumnProblem, ...]:
    if len(evidence.styles) < 2:
        return ()
    first = {number.body: text for text, number in reversed(list(zip(texts, numbers, strict=True)))}
    cells = [first[body] for body in evidence.styles.values()]
    text = f"some numbers have a decimal point and others a decimal comma: {quoted(cells)}. Write all of them alike."
    return (ColumnProblem(name, text, (IGNORING,), cells[-1]),)


def _strangers(name: str, counts: Counts, fits: Mask, what: str) -> tuple[ColumnProblem, ...]:
    """Name the cells that are not what the others are."""
    strange, rows = list(counts.index[~fits]), int(counts[~fits].sum())
    if not strange:
        return ()
    cells = f"{rows} cells are not {what}s, such as {quoted(strange)}"
    remedies: tuple[Remedy, ...] = (IGNORING, AS_CATEGORY)
    if len(strange) <= 3:
        marks = tuple(map(untyped, strange))
        remedies = (Remedy("", "if that stands for a missing value", marks), *remedies)
    text = f"{f'{quoted(strange)} is not a {what}' if rows == 1 else cells}, unlike the other cells of the column."
    return (ColumnProblem(name, f"{text} Correct the table, or say what is meant.", remedies, strange[0]),)
