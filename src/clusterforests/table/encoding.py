"""Encode any table as numbers: categories become columns of zeros and ones, missing cells become NaN."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clusterforests._utils.arrays import AnyArray, FloatArray, IntArray, as_floats
from clusterforests._utils.memory import DEFAULT_LIMITS, SizeLimits, check_memory
from clusterforests._utils.validation import warn_caller
from clusterforests.table.checks import FittedTable, accept_plain, is_plain
from clusterforests.table.feature_columns import EncodedTable, NumberColumn, numeric_table
from clusterforests.table.frames import (
    CategoryColumn,
    TypedColumn,
    check_feature_names,
    column_names,
    known_frame,
    read_features,
)
from clusterforests.table.row_sources import LargeTable, large_numeric_table, open_source, read_blocks, scan_table

Levels = tuple[Any, ...]

MAX_LEVELS = 1000  # of a category: each is a column
MAX_NAMED = 3  # columns, and levels of each, in a warning


@dataclass(frozen=True)
class Encoding:
    """How a table was encoded, to encode new rows in the same way.

    Parameters
    ----------
    names : tuple of str or None
        Names of the features; None if the table had none.
    n_features : int
        Number of features.
    levels : mapping of int to tuple
        The sorted levels of each category without an order.
    orders : mapping of int to tuple
        The levels of each ordered category, from low to high. Their ranks are numbers.
    dates : tuple of int
        The features that are dates, in days since 1970. All other features are numbers.
    """

    names: tuple[str, ...] | None
    n_features: int
    levels: Mapping[int, Levels]
    orders: Mapping[int, Levels] = field(default_factory=dict)
    dates: tuple[int, ...] = ()

    def apply(self, fitted: FittedTable, X: Any, first_row: int = 0, new: "UnseenLevels | None" = None) -> EncodedTable:
        """Encode new rows with the same features. A level that was not seen in `fit` is a missing cell.

        Parameters
        ----------
        fitted : FittedTable
            The columns that the rows must have.
        X : array-like of shape (n_samples, n_features)
        first_row : int, default=0
            Number of the first row, for messages.
        new : UnseenLevels or None, default=None
            Counts such cells; None means that this call warns of them.

        Returns
        -------
        encoded : EncodedTable
        """
        counted = UnseenLevels() if new is None else new
        table = read_features(fitted, X, reset=False)
        if isinstance(table, list):
            table = self._values(table, counted)
        elif self.levels or self.orders or self.dates:
            table = self._values(list(map(TypedColumn, table.T)), counted)
        self._check(table, fitting=False, first_row=first_row)
        if new is None:
            counted.warn()
        return self._encoded(table)

    def describe(self, j: int) -> str:
        """Name a feature for a message."""
        return f"column {j}" if self.names is None else f"column {self.names[j]!r}"

    def columns(self) -> list[NumberColumn]:
        """Return what each column of an encoded table stands for."""
        columns = []
        for feature in range(self.n_features):
            levels = self.levels.get(feature, ())
            if len(levels) <= 2:  # a number, or a single column of zeros and ones, which marks the second level
                levels = levels[1:] or (None,)
            columns += [NumberColumn(feature, level) for level in levels]
        return columns

    def _encoded(self, values: FloatArray) -> EncodedTable:
        if not self.levels:
            return numeric_table(values)
        first, widths = self._column_ranges()
        return EncodedTable(values, first, widths, np.isin(np.arange(self.n_features), list(self.levels)))

    def _column_ranges(self) -> tuple[IntArray, IntArray]:
        """Return the first column of each feature, and its number of columns."""
        widths = np.ones(self.n_features, dtype=np.int32)
        for j, levels in self.levels.items():
            widths[j] = len(levels) if len(levels) > 2 else 1
        return (np.cumsum(widths) - widths).astype(np.int32), widths

    def _values(self, columns: Sequence[TypedColumn], new: "UnseenLevels") -> FloatArray:
        first, widths = self._column_ranges()
        n, total = len(columns[0].cells), int(widths.sum())
        check_memory(
            8 * n * total,
            f"A table of {total} columns, one for each level of a category,",
            "Drop the categories with the most levels, or join rare levels.",
        )
        values = np.empty((n, total))
        for j, (column, start, width) in enumerate(zip(columns, first, widths, strict=True)):
            block = values[:, start : start + width]
            known = self.levels.get(j, self.orders.get(j))
            self._check_kind(j, column, is_category=known is not None)
            if known is None or not isinstance(column.cells, CategoryColumn):
                block[:] = np.nan if isinstance(column.cells, CategoryColumn) else column.cells[:, None]
                continue
            codes = self._codes(j, column.cells, known, new)
            numbers = codes[:, None] == (np.arange(width) if width > 1 else 1) if j in self.levels else codes[:, None]
            block[:] = np.where(codes[:, None] < 0, np.nan, numbers)
        return values

    def _check_kind(self, j: int, column: TypedColumn, *, is_category: bool) -> None:
        """Refuse a column of another kind than in `fit`, unless all its cells are missing."""
        found = "categories" if isinstance(column.cells, CategoryColumn) else "dates" if column.is_date else "numbers"
        expected = "categories" if is_category else "dates" if j in self.dates else "numbers"
        if found != expected and not column.is_missing:
            where = self.describe(j)
            raise ValueError(f"{where[0].upper()}{where[1:]} must hold {expected}, as in fit, not {found}.")

    def _codes(self, j: int, column: CategoryColumn, known: Levels, new: "UnseenLevels") -> IntArray:
        """Return the number of each cell's level among the known ones, -1 where it is missing or none of them."""
        code_of = {level: code for code, level in enumerate(known)}
        codes = np.array([*(code_of.get(level, -1) for level in column.levels), -1], dtype=np.int32)[column.codes]
        new.add(self.describe(j), (column.levels[code] for code in column.codes[(codes < 0) & (column.codes >= 0)]))
        return codes

    def _check(self, values: AnyArray, *, fitting: bool, first_row: int = 0) -> bool:
        """Refuse infinite cells, rows without any value and, in `fit`, columns without any value.

        Returns whether no cell is missing.
        """
        if np.isfinite(values).all():  # the usual case
            return True
        shown = values[:, self._column_ranges()[0]]
        if np.isinf(shown).any():
            row, j = np.argwhere(np.isinf(shown))[0]
            raise ValueError(infinity_message(first_row + int(row), self.describe(j)))
        missing = np.isnan(shown)
        empty = np.flatnonzero(missing.all(axis=0))
        if fitting and len(empty):
            raise ValueError(
                f"{len(empty)} column(s) of X have no value at all, the first is {self.describe(empty[0])}. Drop them."
            )
        empty = np.flatnonzero(missing.all(axis=1))
        if len(empty):
            raise ValueError(
                f"{len(empty)} row(s) of X have no value at all, the first is row {first_row + empty[0]}: nothing is "
                "known about them. Leave them out."
            )
        return False


def encode(fitted: FittedTable, X: Any) -> tuple[EncodedTable, Encoding]:
    """Encode a table for `fit`, and set `n_features_in_` and `feature_names_in_` as scikit-learn does.

    Numbers, booleans and dates stay one column each, and so do ordered categories, as ranks. Another category of two
    levels becomes a column of zeros and ones; one of more levels becomes such a column for each level. Missing cells
    (NaN, None, NA, null) become NaN.

    Parameters
    ----------
    fitted : FittedTable
        Receives the number and the names of the columns.
    X : array-like of shape (n_samples, n_features)
        An array, a list of rows, a pandas or polars frame, an Arrow table, or a scipy sparse table (made dense here).

    Returns
    -------
    encoded : EncodedTable
    encoding : Encoding
        Encodes new rows.
    """
    if is_plain(X):
        accept_plain(fitted, X)
        return numeric_table(np.asarray(X)), Encoding(None, X.shape[1], {})
    table = read_features(fitted, X, reset=True, as_it_is=True)
    if isinstance(table, np.ndarray):
        encoding = Encoding(None, table.shape[1], {})
        complete = encoding._check(table, fitting=True)
        return numeric_table(table if complete else as_floats(table)), encoding
    names = tuple(map(str, column_names(known_frame(X)) or ()))
    categories = {j: column.cells for j, column in enumerate(table) if isinstance(column.cells, CategoryColumn)}
    encoding = Encoding(
        names,
        len(table),
        levels={j: _levels(cells, names[j]) for j, cells in categories.items() if not cells.ordered},
        orders={j: cells.levels for j, cells in categories.items() if cells.ordered},
        dates=tuple(j for j, column in enumerate(table) if column.is_date),
    )
    values = encoding._values(table, UnseenLevels())
    encoding._check(values, fitting=True)
    return encoding._encoded(values), encoding


def open_large(
    fitted: FittedTable, X: Any, threads: int = 1, limits: SizeLimits = DEFAULT_LIMITS
) -> tuple[LargeTable, Encoding] | None:
    """Do what `encode` does without copying X, if X has many rows and only numbers.

    Return None if X has few rows, other columns or missing cells: such tables are encoded as an array of float64.

    Parameters
    ----------
    fitted : FittedTable
        Receives the number and the names of the columns.
    X : array-like of shape (n_samples, n_features)
        See `open_source`.
    threads : int, default=1
        Does not change the result.
    limits : SizeLimits
        Says how many rows are many.

    Returns
    -------
    opened : tuple of LargeTable and Encoding, or None
    """
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) != 2 or shape[1] == 0 or not limits.is_large(shape[0]):
        return None
    source = open_source(X)
    if source is None:
        return None
    scan = scan_table(source, threads, limits)
    if np.isnan(scan.low).any():
        return None
    X = known_frame(X)
    check_feature_names(fitted, X, reset=True)
    names = column_names(X)
    encoding = Encoding(None if names is None else tuple(map(str, names)), source.shape[1], {})
    if not (np.isfinite(scan.low).all() and np.isfinite(scan.high).all()):
        # The table is read again, to name the first infinite cell.
        for start, values in read_blocks(source, limits):
            found = np.argwhere(np.isinf(values))
            if len(found):
                raise ValueError(infinity_message(start + int(found[0][0]), encoding.describe(int(found[0][1]))))
    return large_numeric_table(source, scan), encoding


def infinity_message(row: int, where: str) -> str:
    """Describe where a table has an infinite cell."""
    return f"X contains infinity in row {row}, {where}. Replace it with a number, or with NaN if it is missing."


def _levels(column: CategoryColumn, name: str) -> Levels:
    """Collect the levels of a category that occur; refuse one that has too many.

    They are sorted by their own order if they have one, otherwise by type and text, never by the order of the rows.
    """
    levels = {column.levels[code] for code in np.unique(column.codes).tolist() if code >= 0}
    if len(levels) > MAX_LEVELS:
        raise ValueError(
            f"Column {name!r} has {len(levels)} levels, such as {sorted(map(str, levels))[0]!r}; at most {MAX_LEVELS} "
            "are allowed. Join rare levels, or drop it."
        )
    try:
        return tuple(sorted(levels))
    except TypeError:
        return tuple(sorted(levels, key=lambda level: (type(level).__name__, str(level))))


class UnseenLevels:
    """Counts the cells of new rows whose level `fit` did not see, over all blocks, to warn of them once."""

    def __init__(self) -> None:
        self.columns: dict[str, Counter[Any]] = {}

    def add(self, column: str, cells: Iterable[Any]) -> None:
        """Count cells of a column, which is named as in a message."""
        found = Counter(cells)
        if found:
            self.columns.setdefault(column, Counter()).update(found)

    def warn(self) -> None:
        """Warn of all of them at once, if there are any."""
        if not self.columns:
            return
        total = sum(counts.total() for counts in self.columns.values())
        listed = [f"{column} ({_most_frequent(counts)})" for column, counts in list(self.columns.items())[:MAX_NAMED]]
        if len(self.columns) > MAX_NAMED:
            listed.append(f"and {len(self.columns) - MAX_NAMED} more columns")
        cells = "1 cell has a level that was" if total == 1 else f"{total} cells have levels that were"
        warn_caller(f"{cells} not seen in fit: {', '.join(listed)}. They count as missing.")


def _most_frequent(counts: Counter[Any]) -> str:
    """List the most frequent levels; equally frequent ones by their text, so that the order of rows is not seen."""
    ordered = sorted(counts, key=lambda level: (-counts[level], str(level)))
    shown = [f"{level!r} {counts[level]} times" if counts[level] > 1 else repr(level) for level in ordered]
    return ", ".join(shown[:MAX_NAMED]) + (", ..." if len(shown) > MAX_NAMED else "")
