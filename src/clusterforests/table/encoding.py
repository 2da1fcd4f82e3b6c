"""Encode any table as numbers: categories become columns of zeros and ones, missing cells become NaN."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clusterforests._utils.arrays import AnyArray, FloatArray, IntArray, as_floats
from clusterforests._utils.memory import DEFAULT_LIMITS, SizeLimits, check_memory
from clusterforests.table.checks import accept_plain, is_plain
from clusterforests.table.feature_columns import EncodedTable, NumberColumn, numeric_table
from clusterforests.table.frames import check_names, column_names, known_frame, read_columns
from clusterforests.table.reader import name_hints
from clusterforests.table.reader.cells import CellError, Cells, as_levels
from clusterforests.table.reader.column_kinds import MAX_LEVELS, Verdict, judge_numbers
from clusterforests.table.reader.column_problems import TableProblems, describe_left_out, stand_in, warn_of_columns
from clusterforests.table.reader.column_reading import (
    CATEGORY,
    CONSTANT,
    IDENTIFIER,
    IGNORED,
    LEFT_OUT,
    NUMBER,
    ColumnReading,
)
from clusterforests.table.reader.inspection import inspect_columns
from clusterforests.table.reader.new_columns import read_like
from clusterforests.table.reader.overrides import parse_wishes
from clusterforests.table.reader.raw_columns import CategoryColumn, ColumnTable, RawColumn, plain_number
from clusterforests.table.reader.remarks import NewCells
from clusterforests.table.row_sources import (
    ColumnSource,
    LargeTable,
    RowSource,
    TableScan,
    large_numeric_table,
    open_source,
    read_blocks,
    scan_table,
)

Levels = tuple[Any, ...]

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
    readings : tuple of ColumnReading
        How each column of a table with named columns was read; empty for other tables.
    used : tuple of int
        The features that are encoded, ascending, where columns of a frame are left out; empty if all are.
    """

    names: tuple[str, ...] | None
    n_features: int
    levels: Mapping[int, Levels]
    readings: tuple[ColumnReading, ...] = ()
    used: tuple[int, ...] = ()

    @property
    def features(self) -> Sequence[int]:
        """The features that are encoded: the columns that are left out are not."""
        return self.used or range(self.n_features)

    def numbered(self, places: AnyArray) -> AnyArray:
        """Number features as in the table, given their places among those that are encoded."""
        return np.array(self.used, dtype=places.dtype)[places] if self.used else places

    def spread(self, values: FloatArray, nothing: float) -> FloatArray:
        """Give every feature of the table its value: `nothing` where it is left out."""
        if not self.used:
            return values
        every = np.full(self.n_features, nothing)
        every[list(self.used)] = values
        return every

    def apply(self, estimator: Any, X: Any, first_row: int = 0, new: NewCells | None = None) -> EncodedTable:
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
        new : NewCells or None, default=None
            Counts such cells, and those that are not read as they stand; None means that this call warns of them.

        Returns
        -------
        encoded : EncodedTable
        """
        counted = NewCells() if new is None else new
        table = read_columns(estimator, X, reset=False)
        if isinstance(table, np.ndarray) and not self.levels and not self.readings:
            values = table
        else:
            columns = table if isinstance(table, list) else [RawColumn("", x, NUMBER) for x in table.T]
            cells = self._cells(columns, first_row, counted, read=isinstance(X, ColumnTable))
            values = self._values(cells, counted)
        self._check(values, fitting=False, first_row=first_row)
        if new is None:
            counted.warn()
        return self._encoded(values)

    def _cells(self, columns: Sequence[RawColumn], first_row: int, new: NewCells, *, read: bool) -> list[Cells]:
        """Read the columns of new rows as those of the fitted table were read, unless they are read already."""
        readings = {} if read else {reading.feature: reading for reading in self.readings}
        cells: list[Cells] = []
        for j in self.features:
            reading = readings.get(j)
            try:
                cells.append(columns[j].cells if reading is None else _read_again(columns[j], reading, new))
            except CellError as error:
                where = _title(self.describe(j))
                raise ValueError(f"{where}, row {first_row + error.row}: {error.text}. Correct it.") from error
        return cells

    def describe(self, j: int) -> str:
        """Name a feature for a message."""
        return f"column {j}" if self.names is None else f"column {self.names[j]!r}"

    def columns(self) -> list[NumberColumn]:
        """Return what each column of an encoded table stands for."""
        columns = []
        for feature in self.features:
            levels = self.levels.get(feature, ())
            if len(levels) <= 2:  # a number, or a single column of zeros and ones, which marks the second level
                levels = levels[1:] or (None,)
            columns += [NumberColumn(feature, level) for level in levels]
        return columns

    def _encoded(self, values: FloatArray) -> EncodedTable:
        if not self.levels:
            return numeric_table(values)
        first, widths = self._places()
        return EncodedTable(values, first, widths, np.array([j in self.levels for j in self.features], dtype=bool))

    def _places(self) -> tuple[IntArray, IntArray]:
        if not self.levels:
            return np.arange(len(self.features), dtype=np.int32), np.ones(len(self.features), np.int32)
        counts = np.array([len(self.levels.get(j, ())) for j in self.features], dtype=np.int32)
        widths = np.where(counts <= 2, 1, counts).astype(np.int32)
        return (np.cumsum(widths) - widths).astype(np.int32), widths

    def _values(self, columns: Sequence[Cells], new: NewCells) -> FloatArray:
        first, widths = self._places()
        n, total = len(columns[0]), int(widths.sum())
        check_memory(
            8 * n * total,
            f"A table of {total} columns, one for each level of a category,",
            "Drop the categories with the most levels, or join rare levels.",
        )
        values = np.empty((n, total))
        for j, cells, start, width in zip(self.features, columns, first, widths, strict=True):
            place = values[:, start : start + width]
            if j in self.levels:
                codes = self._codes(j, cells, new)
                place[:] = codes[:, None] == (np.arange(width) if width > 1 else 1)
                place[codes == MISSING] = np.nan
                if len(self.levels[j]) == 2:
                    place[codes == UNSEEN] = 0.5
            elif isinstance(cells, CategoryColumn):
                texts = [str(level) for level in cells.levels[:1]]
                raise ValueError(f"{_title(self.describe(j))} must hold numbers, as in fit, not {', '.join(texts)!r}.")
            else:
                place[:, 0] = cells
        return values

    def _codes(self, j: int, cells: Cells, new: NewCells) -> IntArray:
        """Return the number of each cell's level, or MISSING or UNSEEN."""
        column = cells if isinstance(cells, CategoryColumn) else as_levels(cells, plain_number)
        place = {level: code for code, level in enumerate(self.levels[j])}
        place = {word: code for level, code in place.items() for word in _spellings(level)} | place
        found = (next((place[word] for word in _spellings(level) if word in place), UNSEEN) for level in column.levels)
        known = np.array([*found, MISSING], dtype=np.int32)
        codes: IntArray = known[column.codes]
        new.add(self.describe(j), (column.levels[column.codes[row]] for row in np.flatnonzero(codes == UNSEEN)))
        return codes

    def _check(self, values: AnyArray, *, fitting: bool, first_row: int = 0) -> bool:
        """Refuse infinite cells, rows without any value and, in `fit`, columns without any value.

        Returns whether no cell is missing.
        """
        if np.isfinite(values).all():  # the usual case
            return True
        shown = values[:, self._places()[0]]
        if np.isinf(shown).any():
            row, j = np.argwhere(np.isinf(shown))[0]
            raise ValueError(infinity_message(first_row + int(row), self.describe(self.features[j])))
        missing = np.isnan(shown)
        empty = np.flatnonzero(missing.all(axis=0))
        if fitting and len(empty):
            raise ValueError(
                f"{len(empty)} column(s) of X have no value at all, the first is "
                f"{self.describe(self.features[empty[0]])}. Drop them."
            )
        empty = np.flatnonzero(missing.all(axis=1))
        if len(empty):
            raise ValueError(
                f"{len(empty)} row(s) of X have no value at all, the first is row {first_row + empty[0]}: nothing is "
                "known about them. Leave them out."
            )
        return False


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
    table = read_columns(estimator, X, reset=True, as_it_is=True)
    if isinstance(table, np.ndarray):
        encoding = Encoding(None, table.shape[1], {})
        complete = encoding._check(table, fitting=True)
        return numeric_table(table if complete else as_floats(table)), encoding
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names = column_names(X)
    titles = None if names is None else tuple(map(str, names))
    if isinstance(X, ColumnTable):
        readings, cells = X.readings, dict(enumerate(column.cells for column in table))
    else:
        readings, cells = _inspect(estimator, table, titles)
    levels = {j: _levels(column, j, titles) for j, column in cells.items() if isinstance(column, CategoryColumn)}
    encoding = Encoding(titles, len(table), levels, readings, some_of(cells, len(table)))
    values = encoding._values(list(cells.values()), NewCells())
    encoding._check(values, fitting=True)
    return encoding._encoded(values), encoding


def _inspect(
    estimator: Any, table: list[RawColumn], names: tuple[str, ...] | None
) -> tuple[tuple[ColumnReading, ...], dict[int, Cells]]:
    """Find out what the columns are, read those that are used, and say which are left out."""
    wishes = parse_wishes(getattr(estimator, "columns", None), names or [column.name for column in table])
    found = inspect_columns(table, wishes, inspect_numbers=names is not None)
    if found.problems:
        raise TableProblems(found.problems)
    readings = tuple(replace(reading, feature=j) for j, reading in enumerate(found.readings))
    constant: dict[int, Cells] = {
        j: stand_in(table[j]) for j, reading in enumerate(readings) if reading.kind == CONSTANT
    }
    if not found.used and not constant:
        raise ValueError(f"X has no column to cluster by: {describe_left_out(readings)}")
    warn_of_columns(readings)
    return readings, {j: found.cells[j] for j in found.used} or constant


def some_of(used: Iterable[int], n_features: int) -> tuple[int, ...]:
    """Return the features that are used; nothing if all are."""
    listed = tuple(used)
    return () if len(listed) == n_features else listed


def _read_again(column: RawColumn, reading: ColumnReading, new: NewCells) -> Cells:
    return read_like(column, reading, new) if reading.used else stand_in(column)


def infinity_message(row: int, where: str) -> str:
    """Say where a table has an infinite cell."""
    return f"X contains infinity in row {row}, {where}. Replace it with a number, or with NaN if it is missing."


def _levels(column: CategoryColumn, j: int, names: tuple[str, ...] | None) -> Levels:
    """Collect the levels of a category; refuse one that has too many."""
    levels = _sorted({column.levels[code] for code in np.unique(column.codes).tolist() if code >= 0})
    if len(levels) > MAX_LEVELS:
        raise ValueError(
            f"Column {j if names is None else repr(names[j])} has {len(levels)} levels, such as {_some(levels)}; at "
            f"most {MAX_LEVELS} are allowed. Join rare levels, or drop it."
        )
    return levels


def _sorted(levels: Iterable[Any]) -> Levels:
    """Sort by the levels' own order if they have one, otherwise by type and text, never by the order of the rows."""
    try:
        return tuple(sorted(levels))
    except TypeError:
        return tuple(sorted(levels, key=lambda level: (type(level).__name__, str(level))))


def _spellings(level: Any) -> list[Any]:
    """List what may stand for a level: "2" for 2, "True" and then "1" for true."""
    if isinstance(level, bool):
        return [level, str(level), plain_number(float(level))]
    return [level, plain_number(float(level)) if isinstance(level, (int, float)) else str(level)]


def _some(levels: Levels) -> str:
    return ", ".join(repr(level) for level in levels[:5]) + (", ..." if len(levels) > 5 else "")


def _title(where: str) -> str:
    return where[0].upper() + where[1:]


# Tables of many rows of numbers, described as `encode` describes smaller ones, without a copy.

AS_NUMBERS = "Its numbers look like names of groups; in a table of so many rows they are taken as numbers."


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
    titles = None if names is None else tuple(map(str, names))
    readings = _inspect_large(estimator, X, source, scan, titles)
    if readings is None:
        return None
    used = some_of(_used_columns(readings) or range(source.shape[1]), source.shape[1])
    encoding = Encoding(titles, source.shape[1], {}, readings, used)
    if used and isinstance(source, ColumnSource):
        source = ColumnSource([source.columns[j] for j in used])
        scan = scan_table(source, threads, limits)
    if not (np.isfinite(scan.low).all() and np.isfinite(scan.high).all()):
        _refuse_infinity(source, encoding, limits)
    return large_numeric_table(source, scan), encoding


def _used_columns(readings: Sequence[ColumnReading]) -> list[int]:
    """List the features that are used, or those that are constant if there are no others."""
    mine = [reading for reading in readings if reading.feature >= 0]
    return [r.feature for r in mine if r.used] or [r.feature for r in mine if r.kind == CONSTANT]


def _inspect_large(
    estimator: Any, X: Any, source: RowSource, scan: TableScan, names: tuple[str, ...] | None
) -> tuple[ColumnReading, ...] | None:
    """Look for columns to leave out without a copy of the table; None if some are to be read as other than numbers.

    Numbers that look like codes stay numbers here, with a note.
    """
    wishes = parse_wishes(getattr(estimator, "columns", None), names or ())
    if isinstance(X, ColumnTable) or names is None or not isinstance(source, ColumnSource):
        return getattr(X, "readings", ())
    if any(wish.kind not in (NUMBER, IGNORED, IDENTIFIER) for wish in wishes.values()):
        return None
    readings = []
    for j, name in enumerate(names):
        verdict = Verdict(NUMBER, "numbers", NUMBER)
        notes: tuple[str, ...] = ()
        if name in wishes:
            verdict = Verdict(wishes[name].kind, "as you say", NUMBER if wishes[name].kind == NUMBER else "")
        elif _may_be_names(name, float(scan.low[j]), float(scan.high[j])):
            found = judge_numbers(name, source.column(j))
            verdict = found if found.kind in LEFT_OUT else verdict
            notes = (AS_NUMBERS,) if found.kind == CATEGORY else ()
        used = verdict.kind not in LEFT_OUT
        readings.append(ColumnReading(name, verdict.kind, verdict.reason, used, verdict.read_as, j, notes=notes))
    if not any(reading.used or reading.kind == CONSTANT for reading in readings):
        raise ValueError(f"X has no column to cluster by: {describe_left_out(readings)}")
    warn_of_columns(readings)
    return tuple(readings)


def _may_be_names(name: str, low: float, high: float) -> bool:
    """Say whether numbers may be names of things: whole ones, or fractions under the name of a key."""
    return (low.is_integer() and high.is_integer()) or name_hints.names_a_key(name)


def _refuse_infinity(source: RowSource, encoding: Encoding, limits: SizeLimits) -> None:
    """Read the table again to name the first infinite cell."""
    for start, values in read_blocks(source, limits):
        found = np.argwhere(np.isinf(values))
        if len(found):
            row, j = found[0]
            raise ValueError(infinity_message(start + int(row), encoding.describe(encoding.features[j])))
