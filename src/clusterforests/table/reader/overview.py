"""How the columns of a table are read, to look at before anything is fitted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

from clusterforests.table.frames import column_names, read_columns
from clusterforests.table.reader.column_problems import ColumnProblem
from clusterforests.table.reader.column_reading import CATEGORY, DATE, HOURS, ORDERED, YES_NO, ColumnReading
from clusterforests.table.reader.inspection import inspect_columns
from clusterforests.table.reader.overrides import COLUMNS_RULE, parse_wishes

TITLES = ("column", "kind", "read as", "example", "reason")
WIDEST = (30, 14, 26, 24)  # characters of all columns but the last


@dataclass(frozen=True)
class TableOverview:
    """How the columns of a table are read; as text, a line for each.

    Attributes
    ----------
    columns : tuple of ColumnReading
        One for each column.
    problems : tuple of ColumnProblem
        What keeps `fit` from reading the table; it raises them all as one error.
    """

    columns: tuple[ColumnReading, ...]
    problems: tuple[ColumnProblem, ...] = ()

    def __repr__(self) -> str:
        lines = overview_lines(self.columns, self.problems)
        return "\n".join([*lines, *(f"problem: {problem.for_python()}" for problem in self.problems)])


def inspect_table(X: Any, columns: Mapping[Any, Any] | None = None) -> TableOverview:
    """Say how `ClusterForest.fit` would read each column of a frame, and why.

    Parameters
    ----------
    X : pandas or polars frame, Arrow table, or array-like
        The table. Of an array, whose columns have no names, only columns of text are looked at.
    columns : dict or None, default=None
        What columns hold, by their names, as in `ClusterForest`.

    Returns
    -------
    overview : TableOverview
        Print it, or look at its `columns` and `problems`.

    Examples
    --------
    >>> import pandas as pd
    >>> from clusterforests.table.reader.overview import inspect_table
    >>> inspect_table(pd.DataFrame({"weight": ["12 kg", "7.5 kg"], "answer": ["ja", "nein"]}))
    column  kind    read as  example        reason
    weight  number  number   12 kg, 7.5 kg  numbers, in kg, decimal point
    answer  yes/no  0 and 1  ja, nein       'ja' and 'nein'
    """
    if not COLUMNS_RULE.test(columns):
        raise ValueError(f"columns={columns!r} is not allowed: it must be {COLUMNS_RULE.text}.")
    table = read_columns(BaseEstimator(), X, reset=True)
    if not isinstance(table, list):
        return TableOverview(())
    names = column_names(X)
    wishes = parse_wishes(columns, [column.name for column in table])
    found = inspect_columns(table, wishes, inspect_numbers=names is not None)
    return TableOverview(found.readings, found.problems)


def overview_lines(
    readings: Sequence[ColumnReading], problems: Sequence[ColumnProblem] = (), width: int | None = None
) -> list[str]:
    """Write a table with a line for each column, at most `width` characters wide if it is given."""
    unread = {problem.column for problem in problems}
    rows = [TITLES, *(_row(reading, reading.name in unread) for reading in readings)]
    widths = [min(widest, max(len(row[i]) for row in rows)) for i, widest in enumerate(WIDEST)]
    lines = []
    for row in rows:
        cells = [_fit(text, space).ljust(space) for text, space in zip(row, widths, strict=False)]
        line = "  ".join([*cells, row[-1]]).rstrip()
        lines.append(line if width is None else _fit(line, width))
    return lines


def _row(reading: ColumnReading, unread: bool) -> tuple[str, ...]:
    read_as, reason = ("?", "see below") if unread else (describe_reading(reading), reading.reason)
    cells = (reading.name, reading.kind, read_as, ", ".join(reading.examples[:2]), reason)
    return tuple("".join(c if c.isprintable() else " " for c in cell) for cell in cells)


def describe_reading(reading: ColumnReading) -> str:
    """Say in a few words what the cells of a column become."""
    if not reading.used:
        return "left out"
    words = {DATE: "days since 1970", HOURS: "hours", CATEGORY: "groups", YES_NO: "0 and 1"}
    if reading.read_as == ORDERED:
        return f"ranks 0 to {len(reading.order) - 1}"
    return words.get(reading.read_as, reading.read_as)


def _fit(text: str, space: int) -> str:
    return text if len(text) <= space else text[: space - 1] + "…"
