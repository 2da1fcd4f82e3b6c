"""Tables of numbers in HDF5 files, of which rows are read when they are needed."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from clusterforests._base.typing import AnyArray, FloatArray, IndexArray

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
        parts = [self[start:stop][rows[own] - start] for start, stop, own in self._blocks_of(rows, order)]
        back = np.argsort(order, kind="stable")
        return _joined(parts)[back] if parts else self[0:0]

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

    def _blocks_of(self, rows: IndexArray, order: IndexArray) -> Iterator[tuple[int, int, IndexArray]]:
        """Yield the ends of each block that holds some of these rows, and which of them it holds."""
        step = self._block_rows()
        blocks = rows[order] // step
        for own in np.split(order, np.flatnonzero(np.diff(blocks)) + 1) if len(order) else []:
            start = int(rows[own[0]]) // step * step
            yield start, min(len(self), start + step), own


def open_table(values: Any, columns: IndexArray | None = None) -> Any:
    """Take some columns of a table; one in a file is opened, so that rows are read when they are needed."""
    if not hasattr(values, "file") and not hasattr(values, "to_memory"):
        return values if columns is None else _csr(values)[:, columns]
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


def _csr(values: Any) -> Any:
    return values.tocsr() if scipy.sparse.issparse(values) else values
