"""What stands in the way of reading a table: all problems at once, each with what can be done."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clusterforests._utils.arrays import FloatArray
from clusterforests._utils.validation import warn_caller
from clusterforests.table.reader.column_reading import (
    DAY_FIRST,
    DECIMAL_COMMA,
    DECIMAL_POINT,
    IGNORED,
    MONTH_FIRST,
    NEAR_DUPLICATE,
    ColumnReading,
)
from clusterforests.table.reader.raw_columns import CategoryColumn, RawColumn


@dataclass(frozen=True)
class Remedy:
    """What the user can do: an option of the command line, an entry of `columns` in Python, and what it means."""

    option: str  # such as "--decimal"; "" where only the table can be corrected
    values: tuple[str, ...]  # what follows the option
    wish: str  # such as "number, decimal comma"
    meaning: str


@dataclass(frozen=True)
class ColumnProblem:
    """A column that cannot be read without the user, the most likely remedy first."""

    column: str
    text: str
    remedies: tuple[Remedy, ...]
    cell: str = ""  # one that shows the problem
    row: int | None = None  # the first that has it

    def for_python(self) -> str:
        """Write the problem and its remedies as entries of `columns`."""
        ways = [f"{self.column!r}: {remedy.wish!r} {remedy.meaning}" for remedy in self.remedies if remedy.wish]
        advice = f" Pass columns={{...}} with {', or '.join(ways)}." if ways else ""
        return f"Column {self.column!r}: {self.text}{advice}"


class TableProblems(ValueError):
    """All problems of a table. Its text is the list for Python; the command line writes its own from `problems`."""

    def __init__(self, problems: Sequence[ColumnProblem]) -> None:
        self.problems = tuple(problems)
        listed = [problem.for_python() for problem in problems]
        super().__init__(
            listed[0] if len(listed) == 1 else "\n".join(f"{i}. {line}" for i, line in enumerate(listed, 1))
        )


def ignoring(column: str, meaning: str = "to leave it out") -> Remedy:
    """Leave a column out."""
    return Remedy("--ignore", (column,), "ignore", meaning)


def as_category(column: str, meaning: str = "if these are groups") -> Remedy:
    """Take the cells as names of groups."""
    return Remedy("--category", (column,), "category", meaning)


def decimal_remedies(shown: str) -> tuple[Remedy, ...]:
    """Offer both styles of a number like 1,234."""
    plain = shown.replace(" ", "").replace("'", "")
    point, comma = plain.replace(",", ""), plain.replace(".", "").replace(",", ".")
    return tuple(
        Remedy("--decimal", (sign,), f"number, {style}", f"if {shown} is {value}")
        for style, sign, value in ((DECIMAL_POINT, ".", point), (DECIMAL_COMMA, ",", comma))
    )


def order_remedies() -> tuple[Remedy, ...]:
    """Offer both orders of dates like 03/04/2021."""
    return (
        Remedy("--day-first", (), f"date, {DAY_FIRST}", "if the day comes first"),
        Remedy("--month-first", (), f"date, {MONTH_FIRST}", "if the month does"),
    )


# Columns that were left out: what users are told about them, and what stands for them.

LISTED = 10


def column_notes(readings: Sequence[ColumnReading], most: int = LISTED) -> list[str]:
    """Return a sentence for each column that was left out without the user's word, and the notes of the others.

    Of more than `most` columns that were left out, the others are counted.
    """
    left_out = [r for r in readings if not r.used and r.kind != IGNORED and r.reason != "as you say"]
    notes = [f"Column {r.name!r} is left out: {r.kind} ({r.reason})." for r in left_out[:most]]
    if len(left_out) > most:
        kinds = Counter(reading.kind for reading in left_out[most:])
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        notes.append(f"{len(left_out) - most} more columns are left out ({counts}).")
    notes += [f"Column {reading.name!r}: {note}" for reading in readings for note in reading.notes][:most]
    return notes


def describe_left_out(readings: Sequence[ColumnReading]) -> str:
    """List the columns that were left out, in one sentence."""
    listed = [f"{reading.name!r} is {reading.kind} ({reading.reason})" for reading in readings if not reading.used]
    more = f", and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
    return "; ".join(listed[:LISTED]) + more + "."


def warn_of_columns(readings: Sequence[ColumnReading]) -> None:
    """Say once which columns are left out, and what else there is to know; columns that repeat others do no harm."""
    notes = column_notes([reading for reading in readings if reading.kind != NEAR_DUPLICATE])
    if notes:
        warn_caller(f"{' '.join(notes)} `columns_` has all; to decide otherwise, pass columns={{name: kind}}.")


def stand_in(column: RawColumn) -> FloatArray:
    """Return what stands for a constant column where there are no others."""
    cells = column.cells
    return np.where(cells.codes < 0, np.nan, 0.0) if isinstance(cells, CategoryColumn) else cells
