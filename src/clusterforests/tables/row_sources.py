"""Tables of numbers from which rows are read as float64, without a copy of the whole."""

import sys
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import scipy.sparse

from clusterforests._base.typing import AnyArray, FloatArray, IndexArray
from clusterforests.tables.column_table import ColumnTable
from clusterforests.tables.stored_table import StoredTable


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
        return self._dense(self.X[start:stop])

    def take(self, rows: IndexArray) -> FloatArray:
        return self._dense(self.X[rows])

    def _dense(self, part: Any) -> FloatArray:
        return np.ascontiguousarray(part.toarray(), dtype=np.float64)


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
    if isinstance(X, ColumnTable):
        numbers = [[cells] for cells in X.cells if isinstance(cells, np.ndarray)]
        return numbers if len(numbers) == X.shape[1] else None
    pandas, polars, arrow = (sys.modules.get(name) for name in ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(X, pandas.DataFrame):
        if not all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in X.dtypes):
            return None
        return [[X.iloc[:, j].to_numpy()] for j in range(X.shape[1])]
    if polars is not None and isinstance(X, polars.DataFrame):
        return _read_all(X.get_columns(), _polars_chunks)
    if arrow is not None and isinstance(X, (arrow.Table, arrow.RecordBatch)):
        return _read_all(X.columns, _arrow_chunks)
    return None


def _read_all(columns: Sequence[Any], read: Any) -> list[list[AnyArray]] | None:
    chunks = [read(column) for column in columns]
    return None if any(chunk is None for chunk in chunks) else chunks


def _polars_chunks(series: Any) -> list[AnyArray] | None:
    polars: Any = sys.modules["polars"]
    if not (series.dtype.is_integer() or series.dtype.is_float() or series.dtype == polars.Boolean):
        return None
    if series.null_count() or series.dtype in (getattr(polars, "Int128", None), getattr(polars, "UInt128", None)):
        return None
    return [chunk.to_numpy() for chunk in series.get_chunks()]


def _arrow_chunks(column: Any) -> list[AnyArray] | None:
    types = sys.modules["pyarrow"].types
    if not (types.is_integer(column.type) or types.is_floating(column.type) or types.is_boolean(column.type)):
        return None
    if column.null_count:
        return None
    chunks = column.chunks if hasattr(column, "chunks") else [column]
    return [chunk.to_numpy(zero_copy_only=False) for chunk in chunks]
