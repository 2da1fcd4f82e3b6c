"""Some rows of a table of any kind, in the kind that it is; those of Dask are brought to this process."""

import sys
from typing import Any

import numpy as np
import scipy.sparse

from clusterforests._base.typing import IndexArray
from clusterforests.tables.column_table import CategoryColumn, ColumnTable
from clusterforests.tables.frames import is_dask, plain_block


def count_rows(X: Any) -> int:
    """Count the rows of a table; Dask may have to compute that."""
    if is_dask(X):
        return len(X) if hasattr(X, "get_partition") else len(_with_known_chunks(X))
    shape = getattr(X, "shape", None)
    return len(X) if shape is None else int(shape[0])


def take_rows(X: Any, rows: IndexArray) -> Any:
    """Take some rows, in ascending order, of an array or a frame; None if X is something else."""
    if is_dask(X):
        return _take_from_frame(X, rows) if hasattr(X, "get_partition") else _take_from_blocks(X, rows)
    if isinstance(X, ColumnTable):
        cells = [c[rows] if isinstance(c, np.ndarray) else CategoryColumn(c.codes[rows], c.levels) for c in X.cells]
        return ColumnTable(X.columns, cells, X.readings)
    if isinstance(X, np.ndarray):
        return X[rows]
    if scipy.sparse.issparse(X):
        return X.tocsr()[rows]
    names = type(X).__module__.partition(".")[0], type(X).__name__
    if names == ("pandas", "DataFrame"):
        return X.iloc[rows]
    if names == ("polars", "DataFrame"):
        return X[rows]
    return X.take(rows) if names == ("pyarrow", "Table") else None


def _with_known_chunks(X: Any) -> Any:
    """Return a Dask array that knows how many rows its blocks have; the user's stays as it is."""
    return X.copy().compute_chunk_sizes() if np.isnan(X.shape[0]) else X


def _take_from_blocks(X: Any, rows: IndexArray) -> Any:
    return _with_known_chunks(X).map_blocks(plain_block, dtype=X.dtype)[rows].compute()


def _take_from_frame(X: Any, rows: IndexArray) -> Any:
    """Read a Dask frame one partition at a time, because Dask cannot take rows by their number."""
    starts = np.concatenate([[0], np.cumsum(X.map_partitions(len).compute())])
    where = np.searchsorted(starts, rows, side="right") - 1
    taken = [X.get_partition(i).compute().iloc[rows[where == i] - starts[i]] for i in np.unique(where).tolist()]
    return sys.modules["pandas"].concat(taken)
