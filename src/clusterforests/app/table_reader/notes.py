"""What users are told: problems that keep a table from being read, and notes on cells not read as they stand."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from clusterforests.app.table_reader.columns import ColumnReading, Kind, Style
from clusterforests.app.table_reader.raw_columns import quoted

# Problems: all of a table at once, each with what can be done.


class Remedy(NamedTuple):
    """What the user can do about a problem: override the column, or name texts that are missing values."""

    override: str | tuple[str, ...]  # such as "number, decimal comma", or levels in order; "" if it is no override
    meaning: str
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class ColumnProblem:
    """A column that cannot be read without the user, the most likely remedy first."""

    column: str
    text: str
    remedies: tuple[Remedy, ...] = ()
    cell: str = ""  # one that shows the problem
    row: int | None = None  # the first that has it

    def __str__(self) -> str:
        row = "" if self.row is None else f", row {self.row}"
        ways = [
            f"missing={list(remedy.missing)!r} {remedy.meaning}"
            if remedy.missing
            else f"overrides={{{self.column!r}: {remedy.override!r}}} {remedy.meaning}"
            for remedy in self.remedies
        ]
        advice = f" Pass {', or '.join(ways)}." if ways else ""
        return f"Column {self.column!r}{row}: {self.text}{advice}"


class TableProblems(ValueError):
    """All problems of a table; `problems` has them one by one."""

    def __init__(self, problems: Sequence[ColumnProblem]) -> None:
        self.problems = tuple(problems)
        listed = list(map(str, problems))
        super().__init__(
            listed[0] if len(listed) == 1 else "\n".join(f"{i}. {line}" for i, line in enumerate(listed, 1))
        )


IGNORING = Remedy("ignore", "to drop it")
AS_CATEGORY = Remedy("category", "if these are groups")
EITHER_ORDER = (
    Remedy(f"date, {Style.DAY_FIRST}", "if the day comes first"),
    Remedy(f"date, {Style.MONTH_FIRST}", "if the month does"),
)


def decimal_remedies(shown: str) -> tuple[Remedy, ...]:
    """Offer both styles of a number like 1,234."""
    plain = shown.replace(" ", "").replace("'", "")
    values = {
        Style.DECIMAL_POINT: plain.replace(",", ""),
        Style.DECIMAL_COMMA: plain.replace(".", "").replace(",", "."),
    }
    return tuple(Remedy(f"number, {style}", f"if {shown} is {value}") for style, value in values.items())


# Notes: the same sentences for a table that is fitted and for new rows.

LISTED = 10


class NoteKind:
    """Why cells are not read as they stand."""

    MARK = "mark"  # it says that there is no value
    LIMIT = "limit"
    NO_UNIT = "no unit"
    PADDED = "padded"
    NEW_LEVEL = "new level"


def note(kind: str, cells: Sequence[str], count: int, unit: str = "") -> str:
    """Say how `count` cells of a kind were read; `cells` are some of them."""
    one, cell = count == 1, quoted(cells, 1)
    some = f"{count} cell{'' if one else 's'}"
    if kind in (NoteKind.MARK, NoteKind.NEW_LEVEL):
        several = len(cells) > 1
        none = f"{'are' if several else 'is'} none of its levels and " if kind == NoteKind.NEW_LEVEL else ""
        return f"{quoted(cells)} {none}count{'' if several else 's'} as missing ({some})."
    if kind == NoteKind.LIMIT:
        read = "is read as the limit that it names" if one else "are read as the limit that they name"
        return f"{some} such as {cell} {read}."
    if kind == NoteKind.PADDED:
        return f"{some} such as {cell} {'is a number' if one else 'are numbers'}, as you say."
    return f"{count} of its numbers {'has no unit; it is' if one else 'have no unit; they are'} taken as {unit}."


class NewCells:
    """Counts the cells of new rows that are not read as they stand, to tell of them once for each column."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str, str], Counter[str]] = {}

    def add(self, column: str, kind: str, cells: Counter[str], unit: str = "") -> None:
        """Count cells of a kind of `note`."""
        if cells:
            self._counts.setdefault((column, kind, unit), Counter()).update(cells)

    def notes(self) -> list[str]:
        """Return a sentence for each column and kind, with the most frequent cells first, then by the alphabet."""
        told = []
        for (column, kind, unit), cells in self._counts.items():
            some = sorted(cells, key=lambda cell: (-cells[cell], cell))
            told.append(f"Column {column!r}: {note(kind, some, cells.total(), unit)}")
        return told


def column_notes(readings: Sequence[ColumnReading], most: int = LISTED) -> list[str]:
    """Return a sentence for each column that was dropped without the user's word, and the notes of the others.

    Of more than `most` dropped columns, the others are counted.
    """
    dropped = [r for r in readings if not r.used and r.kind != Kind.IGNORED and r.reason != "as you say"]
    notes = [f"Column {r.name!r} is dropped: {r.kind} ({r.reason})." for r in dropped[:most]]
    if len(dropped) > most:
        kinds = Counter(reading.kind for reading in dropped[most:])
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        notes.append(f"{len(dropped) - most} more columns are dropped ({counts}).")
    notes += [f"Column {reading.name!r}: {text}" for reading in readings for text in reading.notes][:most]
    return notes


def describe_dropped(readings: Sequence[ColumnReading]) -> str:
    """List the dropped columns in one sentence."""
    listed = [f"{reading.name!r} is {reading.kind} ({reading.reason})" for reading in readings if not reading.used]
    more = f", and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
    return "; ".join(listed[:LISTED]) + more + "."
