"""What stands in the way of reading a table: all problems at once, each with what can be done."""

from collections.abc import Sequence
from dataclasses import dataclass

from clusterforests.tables.column_reading import DAY_FIRST, DECIMAL_COMMA, DECIMAL_POINT, MONTH_FIRST


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
