"""How each column of a table was read: its kind, why, and what is needed to read new cells in the same way."""

from collections.abc import Iterable
from dataclasses import dataclass


class Kind:
    """What a column holds; and, as the first five and `HOURS`, what its cells become."""

    NUMBER = "number"
    ORDERED = "ordered"
    CATEGORY = "category"
    YES_NO = "yes/no"
    DATE = "date"
    HOURS = "hours"  # times of day, which are read as numbers
    IDENTIFIER = "identifier"
    FREE_TEXT = "free text"
    CONSTANT = "constant"
    NEAR_DUPLICATE = "near-duplicate"
    RUNNING_NUMBER = "running number"
    EMPTY = "empty"
    IGNORED = "ignored"


class Style:
    """How numbers and dates are written."""

    DECIMAL_POINT = "decimal point"
    DECIMAL_COMMA = "decimal comma"
    DAY_FIRST = "day first"
    MONTH_FIRST = "month first"
    COMPACT_DATES = "yyyymmdd"


READ_AS = frozenset((Kind.NUMBER, Kind.ORDERED, Kind.CATEGORY, Kind.YES_NO, Kind.DATE, Kind.HOURS, ""))
DROPPED = frozenset((Kind.IDENTIFIER, Kind.FREE_TEXT, Kind.CONSTANT, Kind.RUNNING_NUMBER, Kind.EMPTY, Kind.IGNORED))

TITLES = ("column", "kind", "read as", "example", "reason")
WIDEST = (30, 14, 26, 24)  # characters of all columns of the report but the last


@dataclass(frozen=True)
class ColumnReading:
    """How a column was read.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : str
        "number", "ordered", "category", "yes/no", "date", "identifier", "free text", "constant", "near-duplicate",
        "running number", "empty", or "ignored" if the user dropped it.
    reason : str
        Why, in words.
    used : bool
        Whether the column is kept.
    read_as : str
        What its cells became: "number", "date", "hours" (times of day, as numbers), "ordered" (a category with an
        order), "yes/no" or "category"; "" if it is dropped.
    feature : int
        Number of the column that it became, -1 if none.
    unit : str
        Unit of its numbers, such as "kg", "€" or "%".
    style : str
        "decimal point", "decimal comma", "day first", "month first" or "yyyymmdd"; "" where there is nothing to tell.
    levels : tuple of str
        The levels of a category; of an ordered column from low to high; of a yes/no column, "no" and "yes" as they are
        written.
    notes : tuple of str
        What the user should know: each is a sentence.
    examples : tuple of str
        Some cells as they are written. Models that are saved do not keep them: they may be names of people.
    padded : bool
        Whether digits with leading zeros, such as 007, are numbers, because the user says so.
    """

    name: str
    kind: str
    reason: str
    used: bool
    read_as: str = ""
    feature: int = -1
    unit: str = ""
    style: str = ""
    levels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    padded: bool = False

    @property
    def is_boolean(self) -> bool:
        """Whether the column holds true and false, as its type in a frame says."""
        return self.kind == Kind.YES_NO and self.read_as == Kind.NUMBER and bool(self.levels)

    def describe(self) -> str:
        """Say in a few words what the cells became."""
        if not self.used:
            return "dropped"
        if self.is_boolean:
            return "true and false"
        words = {Kind.CATEGORY: "groups", Kind.YES_NO: "no and yes", Kind.ORDERED: f"{len(self.levels)} ordered levels"}
        return words.get(self.read_as, self.read_as)


class TableColumns(tuple[ColumnReading, ...]):
    """How all columns of a table were read: a tuple that prints as a table with a line for each column."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, width: int | None = None, unread: Iterable[str] = ()) -> list[str]:
        """Write the table, at most `width` characters wide if it is given.

        Parameters
        ----------
        width : int or None, default=None
            Longer lines are cut.
        unread : iterable of str, default=()
            Names of columns that cannot be read without the user.

        Returns
        -------
        lines : list of str
        """
        open_questions = frozenset(unread)
        rows = [TITLES]
        for reading in self:
            answers = ("?", "see below") if reading.name in open_questions else (reading.describe(), reading.reason)
            cells = (reading.name, reading.kind, answers[0], ", ".join(reading.examples[:2]), answers[1])
            rows.append(tuple("".join(c if c.isprintable() else " " for c in cell) for cell in cells))  # type: ignore[arg-type]
        widths = [min(widest, max(len(row[i]) for row in rows)) for i, widest in enumerate(WIDEST)]
        lines = []
        for row in rows:
            cells = [_fit(text, space).ljust(space) for text, space in zip(row, widths, strict=False)]  # type: ignore[assignment]
            line = "  ".join([*cells, row[-1]]).rstrip()
            lines.append(line if width is None else _fit(line, width))
        return lines


def _fit(text: str, space: int) -> str:
    return text if len(text) <= space else text[: space - 1] + "…"
