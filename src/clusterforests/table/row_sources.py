"""Tables of numbers from which rows are read as float64, without a copy of the whole."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse

from clusterforests import _core
from clusterforests._utils.arrays import AnyArray, BoolArray, FloatArray, IndexArray, IntArray, KeyArray
from clusterforests._utils.memory import DEFAULT_LIMITS, SizeLimits
from clusterforests.table.feature_columns import EncodedTable
from clusterforests.table.frames import ColumnTable

# Bytes of a file that are read at a time.
BLOCK_BYTES = 2**24


class StoredTable:
    """An h5py dataset, or a CSR table that anndata opens in a file: all of its columns or some; `fit` takes it as X.

    Parameters
    ----------
    stored : object
        Its slices of rows are NumPy arrays or scipy sparse tables.
    columns : ndarray of int or None, default=None
        The columns that are used; None means all.
    """

    def __init__(self, stored: Any, columns: IndexArray | None = None) -> None:
        self.stored = stored
        self.columns = columns
        self.sparse = hasattr(stored, "format")
        self.dtype = np.dtype(stored.dtype)
        self.shape: tuple[int, int] = (stored.shape[0], stored.shape[1] if columns is None else len(columns))
        self.ndim = 2

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> Any:
        """Read a slice of rows, sparse if the table is."""
        part = self.stored[rows]
        part = scipy.sparse.csr_array(part) if self.sparse else part
        return part if self.columns is None else part[:, self.columns]

    def block(self, start: int, stop: int) -> FloatArray:
        """Read the rows start, ..., stop - 1, in C order."""
        return _dense(self[start:stop])

    def take(self, rows: IndexArray) -> FloatArray:
        """Read any rows, in C order."""
        return _dense(self.pick(rows))

    def pick(self, rows: IndexArray) -> Any:
        """Read any rows, sparse if the table is. The file is read from front to back: to jump in it takes longer."""
        order = np.argsort(rows, kind="stable")
        step = self._block_rows()
        ends = np.flatnonzero(np.diff(rows[order] // step)) + 1
        parts = []
        for own in np.split(order, ends) if len(order) else []:
            start = int(rows[own[0]]) // step * step
            parts.append(self[start : min(len(self), start + step)][rows[own] - start])
        return _joined(parts)[np.argsort(order, kind="stable")] if parts else self[0:0]

    def read(self) -> Any:
        """Read the whole table, sparse if it is."""
        step = self._block_rows()
        return _joined([self[start : start + step] for start in range(0, max(1, len(self)), step)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        table = self.read()
        array: AnyArray = table.toarray() if self.sparse else table
        return array if dtype is None else array.astype(dtype)

    def _block_rows(self) -> int:
        return max(1, BLOCK_BYTES // (8 * max(1, int(self.stored.shape[1]))))


def open_array(values: Any, columns: IndexArray | None = None) -> Any:
    """Take some columns of a table; one in a file is opened, so that rows are read when they are needed."""
    if not hasattr(values, "file") and not hasattr(values, "to_memory"):
        values = values.tocsr() if columns is not None and scipy.sparse.issparse(values) else values
        return values if columns is None else values[:, columns]
    if getattr(values, "format", "csr") == "csr":
        return StoredTable(values, columns)
    in_memory = scipy.sparse.csr_array(values.to_memory())  # rows of a CSC table are all over the file
    return in_memory if columns is None else in_memory[:, columns]


def _joined(parts: list[Any]) -> Any:
    if scipy.sparse.issparse(parts[0]):
        return scipy.sparse.csr_array(scipy.sparse.vstack(parts, format="csr"))
    return np.concatenate(parts)


def _dense(part: Any) -> FloatArray:
    array = part.toarray() if scipy.sparse.issparse(part) else part
    return np.require(array, np.float64, ("C", "A"))


class RowSource(Protocol):
    """A table of numbers. Rows are read as float64, whatever type the table holds."""

    shape: tuple[int, int]

    def block(self, start: int, stop: int) -> FloatArray:
        """Read the rows start, ..., stop - 1, in C order."""

    def take(self, rows: IndexArray) -> FloatArray:
        """Read any rows, in C order."""


class ArraySource:
    """A two-dimensional NumPy array of any memory order and numeric type, in memory or mapped from a file."""

    def __init__(self, X: AnyArray) -> None:
        self.X = X
        self.shape: tuple[int, int] = (X.shape[0], X.shape[1])

    def block(self, start: int, stop: int) -> FloatArray:
        return np.require(self.X[start:stop], np.float64, ("C", "A"))

    def take(self, rows: IndexArray) -> FloatArray:
        return np.require(self.X[rows], np.float64, ("C", "A"))


class ColumnSource:
    """Columns in one or more chunks each, as Arrow keeps them."""

    def __init__(self, columns: Sequence[Sequence[AnyArray]]) -> None:
        self.columns = columns
        self._starts = [np.cumsum([0, *map(len, chunks)]) for chunks in columns]
        self.shape = (int(self._starts[0][-1]), len(columns))

    def block(self, start: int, stop: int) -> FloatArray:
        out = np.empty((stop - start, self.shape[1]))
        for j, (chunks, starts) in enumerate(zip(self.columns, self._starts, strict=True)):
            at = int(np.searchsorted(starts, start, side="right")) - 1
            done = start
            while done < stop:
                end = min(stop, int(starts[at + 1]))
                out[done - start : end - start, j] = chunks[at][done - starts[at] : end - starts[at]]
                done, at = end, at + 1
        return out

    def take(self, rows: IndexArray) -> FloatArray:
        out = np.empty((len(rows), self.shape[1]))
        for j, (chunks, starts) in enumerate(zip(self.columns, self._starts, strict=True)):
            which = np.searchsorted(starts, rows, side="right") - 1
            for at in np.unique(which):
                mine = which == at
                out[mine, j] = chunks[at][rows[mine] - starts[at]]
        return out

    def column(self, j: int) -> FloatArray:
        """Read a whole column."""
        return np.concatenate([np.asarray(chunk, dtype=np.float64) for chunk in self.columns[j]])


class SparseSource:
    """A scipy sparse table, kept as CSR: any other format is converted once, and stays sparse."""

    def __init__(self, X: Any) -> None:
        self.X = scipy.sparse.csr_array(X)
        self.shape: tuple[int, int] = self.X.shape

    def block(self, start: int, stop: int) -> FloatArray:
        return _dense(self.X[start:stop])

    def take(self, rows: IndexArray) -> FloatArray:
        return _dense(self.X[rows])


def open_source(X: Any) -> RowSource | None:
    """Open X for reading rows without a copy; return None if it is no table of numbers that allows this.

    Allowed are NumPy arrays (mapped files are such), pandas and polars frames and Arrow tables whose columns are all
    numbers without missing cells, scipy sparse tables, and tables in HDF5 files.
    """
    if isinstance(X, StoredTable):
        return X if X.dtype.kind in "biuf" else None
    if scipy.sparse.issparse(X):
        return SparseSource(X) if X.ndim == 2 and X.dtype.kind in "biuf" else None
    if isinstance(X, np.ndarray) and not np.ma.is_masked(X) and not isinstance(X, np.matrix):
        return ArraySource(X) if X.ndim == 2 and X.dtype.kind in "biuf" else None
    columns = _column_chunks(X)
    return None if columns is None or not columns else ColumnSource(columns)


def _column_chunks(X: Any) -> list[list[AnyArray]] | None:
    """Take the chunks of each column of a frame; None if X is no frame of numbers without missing cells."""
    if isinstance(X, ColumnTable):
        numbers = [[cells] for cells in X.cells if isinstance(cells, np.ndarray)]
        return numbers if len(numbers) == X.shape[1] else None
    pandas, polars, arrow = (sys.modules.get(name) for name in ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(X, pandas.DataFrame):
        plain = all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in X.dtypes)
        return [[X.iloc[:, j].to_numpy()] for j in range(X.shape[1])] if plain else None
    if polars is not None and isinstance(X, polars.DataFrame):
        of_python = (getattr(polars, "Int128", None), getattr(polars, "UInt128", None))
        kinds = [series.dtype for series in X.get_columns()]
        plain = all(k.is_integer() or k.is_float() or k == polars.Boolean for k in kinds)
        if not plain or any(k in of_python for k in kinds) or any(s.null_count() for s in X.get_columns()):
            return None
        return [[chunk.to_numpy() for chunk in series.get_chunks()] for series in X.get_columns()]
    if arrow is not None and isinstance(X, (arrow.Table, arrow.RecordBatch)):
        types, columns = arrow.types, X.columns
        number = (types.is_integer, types.is_floating, types.is_boolean)
        if any(column.null_count or not any(of(column.type) for of in number) for column in columns):
            return None
        return [
            [chunk.to_numpy(zero_copy_only=False) for chunk in getattr(column, "chunks", [column])]
            for column in columns
        ]
    return None


# Large tables: read a block of rows at a time, whatever holds them.


def read_blocks(source: RowSource, limits: SizeLimits = DEFAULT_LIMITS) -> Iterator[tuple[int, FloatArray]]:
    """Yield each block's first row number and its rows. How many rows a block has changes no result."""
    n, columns = source.shape
    step = limits.block_rows(columns)
    for start in range(0, n, step):
        yield start, source.block(start, min(n, start + step))


@dataclass(frozen=True)
class TableScan:
    """A hash of each row, and the smallest and largest value of each column: NaN where the column has a NaN."""

    keys: KeyArray
    low: FloatArray
    high: FloatArray


def scan_table(source: RowSource, threads: int = 1, limits: SizeLimits = DEFAULT_LIMITS) -> TableScan:
    """Read all rows once. The keys are those of `row_keys`: they depend on the values, not on what holds them."""
    keys = np.empty(source.shape[0], dtype=np.uint64)
    low, high = np.full(source.shape[1], np.inf), np.full(source.shape[1], -np.inf)
    for start, values in read_blocks(source, limits):
        keys[start : start + len(values)], least, most = _core.scan_rows(values, threads)
        low, high = np.minimum(low, least), np.maximum(high, most)
    return TableScan(keys, low, high)


def hash_rows(source: RowSource, threads: int = 1) -> KeyArray:
    """Read all rows once, for their keys alone."""
    keys = np.empty(source.shape[0], dtype=np.uint64)
    for start, values in read_blocks(source):
        keys[start : start + len(values)] = _core.hash_rows(values, threads)
    return keys


@dataclass(frozen=True)
class LargeTable:
    """An `EncodedTable` whose values are read from a source when they are needed."""

    source: RowSource
    scan: TableScan
    first: IntArray
    widths: IntArray
    categorical: BoolArray

    def rows(self, chosen: IndexArray) -> EncodedTable:
        """Read some rows into memory."""
        return EncodedTable(self.source.take(chosen), self.first, self.widths, self.categorical)


def large_numeric_table(source: RowSource, scan: TableScan) -> LargeTable:
    """Take every column as a numeric feature."""
    p = source.shape[1]
    return LargeTable(source, scan, np.arange(p, dtype=np.int32), np.ones(p, np.int32), np.zeros(p, bool))


def large_encoded_table(encoded: EncodedTable, threads: int = 1, limits: SizeLimits = DEFAULT_LIMITS) -> LargeTable:
    """Take a table that categories or missing cells have made an array."""
    source = ArraySource(encoded.values)
    return LargeTable(source, scan_table(source, threads, limits), encoded.first, encoded.widths, encoded.categorical)
