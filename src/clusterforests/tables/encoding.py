"""Any table as numbers: categories become columns of zeros and ones, missing cells NaN."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._base.parameters import accept_plain, check_memory, is_plain
from clusterforests._base.size_limits import DEFAULT_LIMITS, SizeLimits
from clusterforests._base.typing import AnyArray, FloatArray, IntArray
from clusterforests._base.warnings import warn_caller
from clusterforests.tables.feature_columns import Encoded, numbers
from clusterforests.tables.frames import (
    Column,
    check_names,
    column_names,
    is_missing,
    known_frame,
    read_columns,
    to_numbers,
)
from clusterforests.tables.row_blocks import LargeTable, Source, blocks, of_numbers, open_source, survey

Levels = tuple[Any, ...]

FEW_LEVELS = 20  # so many may be nearly all different
MAX_LEVELS = 1000


@dataclass(frozen=True)
class Encoding:
    """How a table became numbers, to do the same to new rows.

    Parameters
    ----------
    names : tuple of str or None
        Names of the features; None where the table had none.
    n_features : int
        Their number.
    levels : mapping
        For each categorical feature its levels, sorted. Features that are not in it are numbers.
    """

    names: tuple[str, ...] | None
    n_features: int
    levels: Mapping[int, Levels]

    def apply(self, estimator: Any, X: Any, first_row: int = 0) -> Encoded:
        """Encode new rows with the same features. Levels that were not seen in `fit` count as missing, with a warning.

        Parameters
        ----------
        estimator : object
            The fitted estimator, whose features the rows must have.
        X : array-like of shape (n_samples, n_features)
        first_row : int, default=0
            What the first of them is called in messages.

        Returns
        -------
        encoded : Encoded
        """
        table = read_columns(estimator, X, reset=False)
        if isinstance(table, np.ndarray) and not self.levels:
            values = table
        else:
            columns = table if isinstance(table, list) else [Column(x, category=False) for x in table.T]
            values = self._values(columns, known=True)
        self._check(values, fitting=False, first_row=first_row)
        return self._encoded(values)

    def describe(self, j: int) -> str:
        """The feature's name for a message."""
        return f"column {j}" if self.names is None else f"column {self.names[j]!r}"

    def _encoded(self, values: FloatArray) -> Encoded:
        if not self.levels:
            return numbers(values)
        first, widths = self._places()
        categorical = np.zeros(self.n_features, bool)
        categorical[list(self.levels)] = True
        return Encoded(values, first, widths, categorical)

    def _places(self) -> tuple[IntArray, IntArray]:
        widths = np.ones(self.n_features, np.int32)
        for j, levels in self.levels.items():
            widths[j] = 1 if len(levels) <= 2 else len(levels)
        return (np.cumsum(widths) - widths).astype(np.int32), widths

    def _values(self, columns: list[Column], *, known: bool) -> FloatArray:
        first, widths = self._places()
        n, total = len(columns[0].cells), int(widths.sum())
        check_memory(
            8 * n * total,
            f"A table of {total} columns, one for each level of a category,",
            "Drop the categories with most levels, or join rare levels.",
        )
        values = np.empty((n, total))
        for j, column in enumerate(columns):
            place = values[:, first[j] : first[j] + widths[j]]
            if j not in self.levels:
                place[:, 0] = to_numbers(column, _title(self.describe(j)))
                continue
            codes = self._codes(j, column.cells, warn=known)
            place[:] = codes[:, None] == (np.arange(widths[j]) if widths[j] > 1 else 1)
            place[codes < 0] = np.nan
        return values

    def _codes(self, j: int, cells: AnyArray, *, warn: bool) -> IntArray:
        """The number of each cell's level, -1 where it is missing or unknown."""
        place = {level: code for code, level in enumerate(self.levels[j])}
        listed = cells.tolist()
        codes = np.array([-1 if is_missing(cell) else place.get(cell, -1) for cell in listed], dtype=np.int32)
        if warn and (codes < 0).any():
            unknown = {cell for cell, code in zip(listed, codes, strict=True) if code < 0 and not is_missing(cell)}
            if unknown:
                warn_caller(
                    f"{_title(self.describe(j))} has levels that were not seen in fit: "
                    f"{_some(_sorted(unknown))}. They count as missing."
                )
        return codes

    def _check(self, values: FloatArray, *, fitting: bool, first_row: int = 0) -> None:
        """Refuse infinite cells, rows without any value and, in `fit`, features without any."""
        if np.isfinite(values).all():
            return
        first, _ = self._places()
        shown = values[:, first]
        if np.isinf(shown).any():
            row, j = np.argwhere(np.isinf(shown))[0]
            raise ValueError(infinity(first_row + int(row), self.describe(j)))
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
                "known of them. Leave them out."
            )


def encode(estimator: Any, X: Any) -> tuple[Encoded, Encoding]:
    """Read a table for `fit`, and set `n_features_in_` and `feature_names_in_` as scikit-learn does.

    Numbers and booleans stay a column each. A category (text, or a frame's categorical column) of two levels becomes a
    column of zeros and ones, one of more levels such a column for each. Missing cells (NaN, None, NA, null) are NaN.

    Parameters
    ----------
    estimator : object
        Gets the attributes.
    X : array-like of shape (n_samples, n_features)
        An array, a list of rows, a pandas or polars frame, an Arrow table, or a scipy sparse table (made dense here).

    Returns
    -------
    encoded : Encoded
    encoding : Encoding
        Encodes new rows.
    """
    if is_plain(X):
        accept_plain(estimator, X)
        return numbers(np.asarray(X)), Encoding(None, X.shape[1], {})
    table = read_columns(estimator, X, reset=True)
    if isinstance(table, np.ndarray):
        encoding = Encoding(None, table.shape[1], {})
        encoding._check(table, fitting=True)
        return numbers(table), encoding
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        names = column_names(X)
    named = Encoding(None if names is None else tuple(map(str, names)), len(table), {})
    levels = {j: _levels(column, named.describe(j)) for j, column in enumerate(table) if column.category}
    encoding = Encoding(named.names, len(table), levels)
    values = encoding._values(table, known=False)
    encoding._check(values, fitting=True)
    return encoding._encoded(values), encoding


def open_large(
    estimator: Any, X: Any, threads: int = 1, limits: SizeLimits = DEFAULT_LIMITS
) -> tuple[LargeTable, Encoding] | None:
    """What `encode` does, without a copy of X, where X has many rows and only numbers.

    None where it has few, or categories or missing cells: these are encoded as an array of float64.

    Parameters
    ----------
    estimator : object
        Gets the attributes.
    X : array-like of shape (n_samples, n_features)
        See `source.open_source`.
    threads : int, default=1
        Does not change the result.
    limits : SizeLimits
        What many rows are.

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
    seen = survey(source, threads, limits)
    if np.isnan(seen.low).any():
        return None
    X = known_frame(X)
    check_names(estimator, X, reset=True)
    names = column_names(X)
    encoding = Encoding(None if names is None else tuple(map(str, names)), source.shape[1], {})
    if not (np.isfinite(seen.low).all() and np.isfinite(seen.high).all()):
        _refuse_infinity(source, encoding)
    return of_numbers(source, seen), encoding


def _refuse_infinity(source: Source, encoding: Encoding) -> None:
    for start, values in blocks(source):
        found = np.argwhere(np.isinf(values))
        if len(found):
            raise ValueError(infinity(start + int(found[0][0]), encoding.describe(found[0][1])))


def infinity(row: int, where: str) -> str:
    return f"X contains infinity in row {row}, {where}. Replace it by a number, or by NaN if it is missing."


def _levels(column: Column, where: str) -> Levels:
    seen = [cell for cell in column.cells.tolist() if not is_missing(cell)]
    levels = _sorted(set(seen))
    if len(levels) > max(FEW_LEVELS, len(seen) // 2):
        raise ValueError(
            f"{_title(where)} has {len(levels)} different values in {len(seen)} rows, such as {_some(levels)}: it is "
            "probably an identifier. Drop it; if it holds numbers as text, convert it to numbers; if these are "
            "categories, join rare ones."
        )
    if len(levels) > MAX_LEVELS:
        raise ValueError(
            f"{_title(where)} has {len(levels)} levels, such as {_some(levels)}; at most {MAX_LEVELS} are allowed. "
            "Join rare levels, or drop it."
        )
    return levels


def _sorted(levels: Iterable[Any]) -> Levels:
    """In the levels' own order if they have one, otherwise by type and text: never in the order of the rows."""
    try:
        return tuple(sorted(levels))
    except TypeError:
        return tuple(sorted(levels, key=lambda level: (type(level).__name__, str(level))))


def _some(levels: Levels) -> str:
    return ", ".join(repr(level) for level in levels[:5]) + (", ..." if len(levels) > 5 else "")


def _title(where: str) -> str:
    return where[0].upper() + where[1:]
