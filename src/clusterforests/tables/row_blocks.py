"""Tables that are read a block of rows at a time, from whatever holds them, without a copy of the whole."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse

from clusterforests import _core
from clusterforests._base.size_limits import DEFAULT_LIMITS, SizeLimits
from clusterforests._base.typing import AnyArray, BoolArray, FloatArray, IndexArray, IntArray, KeyArray
from clusterforests.tables.column_table import Table
from clusterforests.tables.feature_columns import Encoded


class Source(Protocol):
    """Rows and columns of numbers. What is read is float64, whatever the table holds."""

    shape: tuple[int, int]

    def block(self, start: int, stop: int) -> FloatArray:
        """Rows start, ..., stop - 1, in C order."""

    def take(self, rows: IndexArray) -> FloatArray:
        """Any rows, in C order."""


class ArraySource:
    """A two-dimensional NumPy array of any order and numeric type, in memory or mapped from a file."""

    def __init__(self, X: AnyArray) -> None:
        self.X = X
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1])

    def block(self, start: int, stop: int) -> FloatArray:
        return np.require(self.X[start:stop], np.float64, ("C", "A"))

    def take(self, rows: IndexArray) -> FloatArray:
        return np.require(self.X[rows], np.float64, ("C", "A"))


class ColumnSource:
    """Columns, each in one or more pieces, as Arrow keeps them."""

    def __init__(self, columns: Sequence[Sequence[AnyArray]]) -> None:
        self.columns = columns
        self._starts = [np.cumsum([0, *map(len, pieces)]) for pieces in columns]
        self.shape = (int(self._starts[0][-1]), len(columns))

    def block(self, start: int, stop: int) -> FloatArray:
        out = np.empty((stop - start, self.shape[1]))
        for j, (pieces, starts) in enumerate(zip(self.columns, self._starts, strict=True)):
            at = int(np.searchsorted(starts, start, side="right")) - 1
            done = start
            while done < stop:
                end = min(stop, int(starts[at + 1]))
                out[done - start : end - start, j] = pieces[at][done - starts[at] : end - starts[at]]
                done, at = end, at + 1
        return out

    def take(self, rows: IndexArray) -> FloatArray:
        out = np.empty((len(rows), self.shape[1]))
        for j, (pieces, starts) in enumerate(zip(self.columns, self._starts, strict=True)):
            which = np.searchsorted(starts, rows, side="right") - 1
            for at in np.unique(which):
                mine = which == at
                out[mine, j] = pieces[at][rows[mine] - starts[at]]
        return out


class SparseSource:
    """A scipy sparse table. It is kept by rows: any other format is turned into CSR once, and stays sparse."""

    def __init__(self, X: Any) -> None:
        self.X = scipy.sparse.csr_array(X)
        self.shape: tuple[int, int] = self.X.shape

    def block(self, start: int, stop: int) -> FloatArray:
        return self._dense(self.X[start:stop])

    def take(self, rows: IndexArray) -> FloatArray:
        return self._dense(self.X[rows])

    def _dense(self, part: Any) -> FloatArray:
        return np.ascontiguousarray(part.toarray(), dtype=np.float64)


def blocks(source: Source, limits: SizeLimits = DEFAULT_LIMITS) -> Iterator[tuple[int, FloatArray]]:
    """Iterate over where each block starts, and its rows. Their number changes no result."""
    n, columns = source.shape
    step = limits.block_rows(columns)
    for start in range(0, n, step):
        yield start, source.block(start, min(n, start + step))


@dataclass(frozen=True)
class Survey:
    """What one reading of all rows tells: a hash of each, and the smallest and largest value of each column.

    A column that has NaN somewhere has NaN for both.
    """

    keys: KeyArray
    low: FloatArray
    high: FloatArray


def survey(source: Source, threads: int = 1, limits: SizeLimits = DEFAULT_LIMITS) -> Survey:
    """The keys are those of `row_order.row_keys`: they depend on the values only, not on what holds them."""
    keys = np.empty(source.shape[0], dtype=np.uint64)
    low, high = np.full(source.shape[1], np.inf), np.full(source.shape[1], -np.inf)
    for start, values in blocks(source, limits):
        keys[start : start + len(values)] = _core.hash_rows(values, threads)
        low, high = np.minimum(low, values.min(axis=0)), np.maximum(high, values.max(axis=0))
    return Survey(keys, low, high)


def hash_rows(source: Source, threads: int = 1) -> KeyArray:
    """The keys alone."""
    keys = np.empty(source.shape[0], dtype=np.uint64)
    for start, values in blocks(source):
        keys[start : start + len(values)] = _core.hash_rows(values, threads)
    return keys


@dataclass(frozen=True)
class LargeTable:
    """An encoded table that is not held as one array: `Encoded` with a source in the place of its values."""

    source: Source
    seen: Survey
    first: IntArray
    widths: IntArray
    categorical: BoolArray

    def rows(self, chosen: IndexArray) -> Encoded:
        return Encoded(self.source.take(chosen), self.first, self.widths, self.categorical)


def of_numbers(source: Source, seen: Survey) -> LargeTable:
    """Every feature is a column."""
    p = source.shape[1]
    return LargeTable(source, seen, np.arange(p, dtype=np.int32), np.ones(p, np.int32), np.zeros(p, bool))


def of_encoded(encoded: Encoded, threads: int = 1, limits: SizeLimits = DEFAULT_LIMITS) -> LargeTable:
    """A table that had to be made an array, because of categories or missing cells."""
    source = ArraySource(encoded.values)
    return LargeTable(source, survey(source, threads, limits), encoded.first, encoded.widths, encoded.categorical)


def open_source(X: Any) -> Source | None:
    """X without a copy, if it is a table of numbers that can be read so; otherwise None.

    NumPy arrays (mapped files are such), pandas and polars frames and Arrow tables whose columns are all numbers
    without missing cells, and scipy sparse tables.
    """
    if scipy.sparse.issparse(X):
        return SparseSource(X) if X.ndim == 2 and X.dtype.kind in "biuf" else None
    if isinstance(X, np.ndarray) and not np.ma.is_masked(X):
        return ArraySource(X) if X.ndim == 2 and X.dtype.kind in "biuf" else None
    columns = _frame_columns(X)
    return None if columns is None or not columns else ColumnSource(columns)


def _frame_columns(X: Any) -> list[list[AnyArray]] | None:
    if isinstance(X, Table):
        numbers = [[cells] for cells in X.cells if isinstance(cells, np.ndarray)]
        return numbers if len(numbers) == X.shape[1] else None
    pandas, polars, arrow = (sys.modules.get(name) for name in ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(X, pandas.DataFrame):
        if not all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in X.dtypes):
            return None
        return [[X.iloc[:, j].to_numpy()] for j in range(X.shape[1])]
    if polars is not None and isinstance(X, polars.DataFrame):
        return _each(X.get_columns(), _polars_pieces)
    if arrow is not None and isinstance(X, (arrow.Table, arrow.RecordBatch)):
        return _each(X.columns, _arrow_pieces)
    return None


def _each(columns: Sequence[Any], read: Any) -> list[list[AnyArray]] | None:
    pieces = [read(column) for column in columns]
    return None if any(piece is None for piece in pieces) else pieces


def _polars_pieces(series: Any) -> list[AnyArray] | None:
    polars: Any = sys.modules["polars"]
    if not (series.dtype.is_integer() or series.dtype.is_float() or series.dtype == polars.Boolean):
        return None
    if series.null_count():
        return None
    return [chunk.to_numpy() for chunk in series.get_chunks()]


def _arrow_pieces(column: Any) -> list[AnyArray] | None:
    types = sys.modules["pyarrow"].types
    if not (types.is_integer(column.type) or types.is_floating(column.type) or types.is_boolean(column.type)):
        return None
    if column.null_count:
        return None
    chunks = column.chunks if hasattr(column, "chunks") else [column]
    return [chunk.to_numpy(zero_copy_only=False) for chunk in chunks]
