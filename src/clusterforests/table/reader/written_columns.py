"""Texts that are numbers or dates: their unit, their style, and the cells that are neither."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from clusterforests._utils.arrays import BoolArray
from clusterforests.table.reader.column_problems import (
    ColumnProblem,
    Remedy,
    as_category,
    decimal_remedies,
    ignoring,
    order_remedies,
)
from clusterforests.table.reader.column_reading import DAY_FIRST, MONTH_FIRST
from clusterforests.table.reader.dates import WrittenDate, hours, split_date
from clusterforests.table.reader.missing_marks import is_missing_word, is_plain_mark
from clusterforests.table.reader.numbers import StyleEvidence, WrittenNumber, split_number, style_evidence, untyped
from clusterforests.table.reader.raw_columns import DistinctTexts, quoted
from clusterforests.table.reader.remarks import LIMIT, MARK, NO_UNIT, PADDED, remark

LETTERS = frozenset("ABCFJKLMNVWcdghklmstx")  # that are units; others follow numbers as in 7a
MOST_UNITS = 5  # more, and what follows the numbers are no units
ENOUGH = 0.5  # share of the rows that must be numbers, or dates, for the column to be one


@dataclass(frozen=True)
class WrittenColumn:
    """A column whose texts are numbers, dates or times of day, as far as it is known before its style is."""

    read_as: str  # "number", "date" or "hours"
    unit: str = ""
    settled: str | None = ""  # its style; None if its cells do not show it
    shown: str = ""  # a cell that does not show it
    notes: tuple[str, ...] = ()
    problems: tuple[ColumnProblem, ...] = field(default=())
    padded: bool = False  # some numbers have leading zeros


def find_numbers(name: str, texts: DistinctTexts, *, wished: bool = False) -> WrittenColumn | None:
    """Read texts as numbers; None if too few are, or if what follows them are no units."""
    missing = _marked_missing(texts)
    rest = texts.without(missing)
    numbers = _without_rare_units(rest, [split_number(text, padded=wished) for text in rest.texts])
    fits = np.array([number is not None for number in numbers], dtype=bool)
    if not fits.any() or (rest.share(fits) < ENOUGH and not wished):
        return None
    known = [number for number in numbers if number is not None]
    units = _units(known, rest.counts[fits])
    named = [unit for unit in units if unit]
    letters = any(len(unit) == 1 and unit.isalpha() and unit not in LETTERS for unit in named)
    if (len(named) > MOST_UNITS or letters) and not wished:
        return None
    problems = _unit_problems(name, rest, numbers, units)
    notes = missing_notes(texts, missing) + _limit_notes(rest, numbers) + _padded_notes(rest, numbers)
    if len(named) == 1 and "" in units and not problems:
        notes += (remark(NO_UNIT, (), units[""], named[0]),)
    evidence = style_evidence(known)
    problems += _strangers(name, rest, fits, "number") + _mixed_styles(name, rest, numbers, evidence)
    unit = named[0] if len(named) == 1 else ""
    padded = any(number.padded for number in known)
    return WrittenColumn("number", unit, evidence.settled(), evidence.unclear, notes, problems, padded)


def find_dates(name: str, texts: DistinctTexts, *, wished: bool = False) -> WrittenColumn | None:
    """Read texts as dates or times of day; None if too few are."""
    missing = _marked_missing(texts)
    rest = texts.without(missing)
    dates = [split_date(text) for text in rest.texts]
    fits = np.array([date is not None for date in dates], dtype=bool)
    notes = missing_notes(texts, missing)
    if fits.any() and (rest.share(fits) >= ENOUGH or wished):
        known = [date for date in dates if date is not None]
        orders = {date.order for date in known} - {""}
        clear = orders - {"unclear"}
        problems = _strangers(name, rest, fits, "date")
        if len(clear) == 2:
            problems += (_mixed_orders(name, rest, dates),)
        settled = next(iter(clear)) if len(clear) == 1 else (None if orders else "")
        shown = next((t for t, date in zip(rest.texts, dates, strict=True) if date and date.order == "unclear"), "")
        return WrittenColumn("date", "", settled, shown, notes, problems)
    times = np.array([hours(text) is not None for text in rest.texts], dtype=bool)
    if times.any() and rest.share(times) >= ENOUGH:
        return WrittenColumn("hours", "h", "", "", notes, _strangers(name, rest, times, "time"))
    return None


def unclear_problem(name: str, column: WrittenColumn) -> ColumnProblem:
    """Ask for the style of a column whose cells do not show it."""
    shown = column.shown
    if column.read_as == "date":
        text = f"every date is like {shown!r}: day or month may come first."
        return ColumnProblem(name, text, order_remedies())
    text = f"its numbers are like {shown!r}, which may be thousands or decimals."
    return ColumnProblem(name, text, decimal_remedies(shown))


def _marked_missing(texts: DistinctTexts) -> BoolArray:
    return np.array([is_missing_word(text) for text in texts.texts], dtype=bool)


def missing_notes(texts: DistinctTexts, missing: BoolArray) -> tuple[str, ...]:
    """Say which texts count as missing, without those that need no mention."""
    told = [bool(mark) and not is_plain_mark(text) for text, mark in zip(texts.texts, missing, strict=True)]
    return _notes_of(MARK, texts, told)


def _limit_notes(texts: DistinctTexts, numbers: list[WrittenNumber | None]) -> tuple[str, ...]:
    return _notes_of(LIMIT, texts, [number is not None and number.limit != "" for number in numbers])


def _padded_notes(texts: DistinctTexts, numbers: list[WrittenNumber | None]) -> tuple[str, ...]:
    return _notes_of(PADDED, texts, [number is not None and number.padded for number in numbers])


def _notes_of(kind: str, texts: DistinctTexts, told: list[bool]) -> tuple[str, ...]:
    some = [text for text, tell in zip(texts.texts, told, strict=True) if tell]
    return (remark(kind, some, int(texts.counts[np.array(told, dtype=bool)].sum())),) if some else ()


def _without_rare_units(texts: DistinctTexts, numbers: list[WrittenNumber | None]) -> list[WrittenNumber | None]:
    """Where most numbers have no unit, letters after a few are none either: 12a is no 12."""
    lettered = [number is not None and number.unit[:1].isalpha() for number in numbers]
    plain = np.array([number is not None and not number.unit for number in numbers], dtype=bool)
    if texts.share(np.array(lettered, dtype=bool)) >= texts.share(plain):
        return numbers
    return [None if letters else number for number, letters in zip(numbers, lettered, strict=True)]


def _units(numbers: list[WrittenNumber], counts: np.ndarray) -> Counter[str]:
    """Count the rows of each unit; spellings that differ in case are one."""
    spelled: dict[str, str] = {}
    units: Counter[str] = Counter()
    for number, count in zip(numbers, counts.tolist(), strict=True):
        units[spelled.setdefault(number.unit.casefold().rstrip("."), number.unit)] += count
    return units


def _unit_problems(
    name: str, texts: DistinctTexts, numbers: list[WrittenNumber | None], units: Counter[str]
) -> tuple[ColumnProblem, ...]:
    percent = "%" in units
    if len([unit for unit in units if unit]) < 2 and not (percent and "" in units):
        return ()
    some: dict[str, str] = {}
    for text, number in zip(texts.texts, numbers, strict=True):
        if number is not None:
            some.setdefault(number.unit.casefold().rstrip("."), text)
    what = (
        "some of its numbers have a percent sign and others have none"
        if "" in units and percent
        else "it has several units"
    )
    text = f"{what}, such as {quoted(list(some.values()))}. Write all of them alike."
    return (ColumnProblem(name, text, (ignoring(name), as_category(name))),)


def _mixed_styles(
    name: str, texts: DistinctTexts, numbers: list[WrittenNumber | None], evidence: StyleEvidence
) -> tuple[ColumnProblem, ...]:
    if len(evidence.styles) < 2:
        return ()
    cells = [
        next(
            text
            for text, number in zip(texts.texts, numbers, strict=True)
            if number is not None and number.body == body
        )
        for body in evidence.styles.values()
    ]
    text = f"some numbers have a decimal point and others a decimal comma: {quoted(cells)}. Write all of them alike."
    return (ColumnProblem(name, text, (ignoring(name),), cells[-1]),)


def _mixed_orders(name: str, texts: DistinctTexts, dates: list[WrittenDate | None]) -> ColumnProblem:
    some = {date.order: text for text, date in zip(texts.texts, dates, strict=True) if date is not None}
    shown = quoted([some[DAY_FIRST], some[MONTH_FIRST]])
    text = f"some dates have the day first and others the month: {shown}. Write all of them alike."
    return ColumnProblem(name, text, (ignoring(name),))


def _strangers(name: str, texts: DistinctTexts, fits: BoolArray, what: str) -> tuple[ColumnProblem, ...]:
    """Name the cells that are not what the others are."""
    strange = [text for text, fit in zip(texts.texts, fits, strict=True) if not fit]
    if not strange:
        return ()
    count = int(texts.counts[~fits].sum())
    what = (
        f"{quoted(strange)} is not a {what}"
        if count == 1
        else f"{count} cells are not {what}s, such as {quoted(strange)}"
    )
    remedies: tuple[Remedy, ...] = (ignoring(name), as_category(name))
    if len(strange) <= 3:
        remedies = (
            Remedy("--missing", tuple(map(untyped, strange)), "", "if that stands for a missing value"),
            *remedies,
        )
    text = f"{what}, unlike the other cells of the column. Correct the table, or say what is meant."
    return (ColumnProblem(name, text, remedies, strange[0]),)
