"""Encode any table as numbers: categories become columns of zeros and ones, missing cells become NaN."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._base.memory_limits import check_memory
from clusterforests._base.size_limits import DEFAULT_LIMITS, SizeLimits
from clusterforests._base.typing import AnyArray, FloatArray, IntArray
from clusterforests.tables.checks import accept_plain, is_plain
from clusterforests.tables.feature_columns import EncodedTable, NumberColumn, numeric_table
from clusterforests.tables.frames import (
    Column,
    check_names,
    column_names,
    is_missing,
    known_frame,
    read_columns,
    to_numbers,
)
from clusterforests.tables.row_blocks import LargeTable, large_numeric_table, read_blocks, scan_table
from clusterforests.tables.row_sources import RowSource, open_source
from clusterforests.tables.unseen_levels import UnseenLevels

Levels = tuple[Any, ...]

FEW_LEVELS = 20  # up to this many levels may nearly all be different
MAX_LEVELS = 1000
MISSING, UNSEEN = -1, -2  # cells that have no known level


@dataclass(frozen=True)
class Encoding:
    """How a table was encoded, to encode new rows in the same way.

    Parameters
    ----------
    names : tuple of str or None
        Names of the features; None if the table had none.
    n_features : int
        Number of features.
    levels : mapping
        The sorted levels of each categorical feature. Features that are not in it are numeric.
    """

    names: tuple[str, ...] | None
    n_features: int
    levels: Mapping[int, Levels]

    def apply(self, estimator: Any, X: Any, first_row: int = 0, unseen: UnseenLevels | None = None) -> EncodedTable:
        """Encode new rows with the same features.

        A level that was not seen in `fit` is none of those that were: zero in all columns of its feature. A category of
        two levels has one column, which is 0 for the first and 1 for the second: it is 1/2 then, as far from one as
        from the other.

        Parameters
        ----------
        estimator : object
            The fitted estimator, whose features the rows must have.
        X : array-like of shape (n_samples, n_features)
        first_row : int, default=0
            Number of the first row, for messages.
        unseen : UnseenLevels or None, default=None
            Counts the cells of such levels; None means that this call warns of them itself.

        Returns
        -------
        encoded : EncodedTable
        """
        counted = UnseenLevels() if unseen is None else unseen
        table = read_columns(estimator, X, reset=False)
        if isinstance(table, np.ndarray) and not self.levels:
            values = table
        else:
            columns = table if isinstance(table, list) else [Column(x, category=False) for x in table.T]
            values = self._values(columns, counted)
        self._check(values, fitting=False, first_row=first_row)
        if unseen is None:
            counted.warn()
        return self._encoded(values)

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
        first, widths = self._places()
        categorical = np.zeros(self.n_features, bool)
        categorical[list(self.levels)] = True
        return EncodedTable(values, first, widths, categorical)

    def _places(self) -> tuple[IntArray, IntArray]:
        widths = np.ones(self.n_features, np.int32)
        for j, levels in self.levels.items():
            widths[j] = 1 if len(levels) <= 2 else len(levels)
        return (np.cumsum(widths) - widths).astype(np.int32), widths

    def _values(self, columns: list[Column], unseen: UnseenLevels) -> FloatArray:
        first, widths = self._places()
        n, total = len(columns[0].cells), int(widths.sum())
        check_memory(
            8 * n * total,
            f"A table of {total} columns, one for each level of a category,",
            "Drop the categories with the most levels, or join rare levels.",
        )
        values = np.empty((n, total))
        for j, column in enumerate(columns):
            place = values[:, first[j] : first[j] + widths[j]]
            if j not in self.levels:
                place[:, 0] = to_numbers(column, _title(self.describe(j)))
                continue
            codes = self._codes(j, column.cells, unseen)
            place[:] = codes[:, None] == (np.arange(widths[j]) if widths[j] > 1 else 1)
            place[codes == MISSING] = np.nan
            if len(self.levels[j]) == 2:
                place[codes == UNSEEN] = 0.5
        return values

    def _codes(self, j: int, cells: AnyArray, unseen: UnseenLevels) -> IntArray:
        """Return the number of each cell's level, or MISSING or UNSEEN."""
        place = {level: code for code, level in enumerate(self.levels[j])}
        listed = cells.tolist()
        codes = np.array([MISSING if is_missing(c) else place.get(c, UNSEEN) for c in listed], dtype=np.int32)
        unseen.add(self.describe(j), (listed[row] for row in np.flatnonzero(codes == UNSEEN)))
        return codes

    def _check(self, values: FloatArray, *, fitting: bool, first_row: int = 0) -> None:
        """Refuse infinite cells, rows without any value and, in `fit`, columns without any value."""
        if np.isfinite(values).all():
            return
        first, _ = self._places()
        shown = values[:, first]
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


def encode(estimator: Any, X: Any) -> tuple[EncodedTable, Encoding]:
    """Encode a table for `fit`, and set `n_features_in_` and `feature_names_in_` as scikit-learn does.

    Numbers and booleans stay one column each. A category (text, or a frame's categorical column) of two levels becomes
    a column of zeros and ones; one of more levels becomes such a column for each level. Missing cells (NaN, None, NA,
    null) become NaN.

    Parameters
    ----------
    estimator : object
        Receives the attributes.
    X : array-like of shape (n_samples, n_features)
        An array, a list of rows, a pandas or polars frame, an Arrow table, or a scipy sparse table (made dense here).

    Returns
    -------
    encoded : EncodedTable
    encoding : Encoding
        Encodes new rows.
    """
    if is_plain(X):
        accept_plain(estimator, X)
        return numeric_table(np.asarray(X)), Encoding(None, X.shape[1], {})
    table = read_columns(estimator, X, reset=True)
    if isinstance(table, np.ndarray):
        encoding = Encoding(None, table.shape[1], {})
        encoding._check(table, fitting=True)
        return numeric_table(table), encoding
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names = column_names(X)
    named = Encoding(None if names is None else tuple(map(str, names)), len(table), {})
    levels = {j: _levels(column, named.describe(j)) for j, column in enumerate(table) if column.category}
    encoding = Encoding(named.names, len(table), levels)
    values = encoding._values(table, UnseenLevels())
    encoding._check(values, fitting=True)
    return encoding._encoded(values), encoding


def open_large(
    estimator: Any, X: Any, threads: int = 1, limits: SizeLimits = DEFAULT_LIMITS
) -> tuple[LargeTable, Encoding] | None:
    """Do what `encode` does without copying X, if X has many rows and only numbers.

    Return None if X has few rows, categories or missing cells: such tables are encoded as an array of float64.

    Parameters
    ----------
    estimator : object
        Receives the attributes.
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
    check_names(estimator, X, reset=True)
    names = column_names(X)
    encoding = Encoding(None if names is None else tuple(map(str, names)), source.shape[1], {})
    if not (np.isfinite(scan.low).all() and np.isfinite(scan.high).all()):
        _refuse_infinity(source, encoding, limits)
    return large_numeric_table(source, scan), encoding


def _refuse_infinity(source: RowSource, encoding: Encoding, limits: SizeLimits) -> None:
    """Read the table again to name the first infinite cell."""
    for start, values in read_blocks(source, limits):
        found = np.argwhere(np.isinf(values))
        if len(found):
            raise ValueError(infinity_message(start + int(found[0][0]), encoding.describe(found[0][1])))


def infinity_message(row: int, where: str) -> str:
    """Say where a table has an infinite cell."""
    return f"X contains infinity in row {row}, {where}. Replace it with a number, or with NaN if it is missing."


def _levels(column: Column, where: str) -> Levels:
    """Collect the levels of a category; refuse one that looks like an identifier or has too many."""
    seen = [cell for cell in column.cells.tolist() if not is_missing(cell)]
    levels = _sorted(set(seen))
    if len(levels) > max(FEW_LEVELS, len(seen) // 2):
        raise ValueError(
            f"{_title(where)} has {len(levels)} different values in {len(seen)} rows, such as {_some(levels)}: it is "
            "probably an identifier. Drop it; if it holds numbers as text, convert it to numbers; if it holds "
            "categories, join rare ones."
        )
    if len(levels) > MAX_LEVELS:
        raise ValueError(
            f"{_title(where)} has {len(levels)} levels, such as {_some(levels)}; at most {MAX_LEVELS} are allowed. "
            "Join rare levels, or drop it."
        )
    return levels


def _sorted(levels: Iterable[Any]) -> Levels:
    """Sort by the levels' own order if they have one, otherwise by type and text, never by the order of the rows."""
    try:
        return tuple(sorted(levels))
    except TypeError:
        return tuple(sorted(levels, key=lambda level: (type(level).__name__, str(level))))


def _some(levels: Levels) -> str:
    return ", ".join(repr(level) for level in levels[:5]) + (", ..." if len(levels) > 5 else "")


def _title(where: str) -> str:
    return where[0].upper() + where[1:]
