"""Arrays: their types, columns a block at a time, and keys of rows, which depend on their values alone."""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from clusterforests import _core

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]  # labels, features
IndexArray = npt.NDArray[np.intp]
Int64Array = npt.NDArray[np.int64]
KeyArray = npt.NDArray[np.uint64]  # hashes and random streams
BoolArray = npt.NDArray[np.bool_]
AnyIntArray = npt.NDArray[np.signedinteger[Any]]  # labels in the smallest type that holds them
AnyArray = npt.NDArray[Any]

# Columns beyond which a table is neither copied nor scaled as a whole, and the cells that are at hand at a time then.
WIDE = 2000
BLOCK_CELLS = 2**21


def aligned(value: Any) -> Any:
    """Copy the arrays in `value` that are not aligned, as the core needs them: in a message one may begin anywhere."""
    if isinstance(value, np.ndarray):
        return np.require(value, requirements="A")
    if type(value) is list:
        return [aligned(each) for each in value]
    if type(value) is dict:
        return {key: aligned(each) for key, each in value.items()}
    return copy.deepcopy(value) if type(value).__module__.startswith("clusterforests.") else value


def is_wide(n_columns: int) -> bool:
    """Return whether a table has so many columns that only those that trees may use are copied."""
    return n_columns > WIDE


def column_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Go through columns some at a time.

    A block has two columns at least: NumPy adds up a single one in another order than several side by side.
    """
    step = max(2, BLOCK_CELLS // max(1, n_rows))
    start = 0
    while start + step < n_columns - 1:
        yield slice(start, start + step)
        start += step
    yield slice(start, n_columns)


def as_floats(values: AnyArray, columns: Any = slice(None), rows: IndexArray | None = None) -> FloatArray:
    """Take columns of a table, and rows of these, as a C-ordered float64 array; no copy where it is one."""
    whole = isinstance(columns, slice) and columns == slice(None)
    some = values if whole else values[:, columns]
    return np.ascontiguousarray(some if rows is None else some[rows], dtype=np.float64)


def count_values(X: AnyArray) -> IndexArray:
    """Count the different values of each column."""
    ordered = np.sort(X, axis=0)
    counts: IndexArray = 1 + (ordered[1:] != ordered[:-1]).sum(axis=0)
    return counts


def row_keys(X: AnyArray, threads: int = 1) -> KeyArray:
    """Hash each row. NaNs count as equal to each other, and so do 0 and -0."""
    if X.dtype == np.float64 and X.flags.c_contiguous and X.flags.aligned:
        return _core.hash_rows(X, threads)
    keys = np.zeros(len(X), dtype=np.uint64)
    for some in column_blocks(*X.shape):
        keys = extend_keys(keys, as_floats(X, some), threads)
    return keys


def extend_keys(keys: KeyArray, X: FloatArray, threads: int = 1) -> KeyArray:
    """Hash rows of which the keys of the columns before X are known; zeros if there are none."""
    return _core.hash_rows(X, threads, keys)


def order_by_values(X: FloatArray, weights: FloatArray | None = None) -> IndexArray:
    """Return a random order of the rows that does not depend on the order they came in."""
    keys = row_keys(X)
    return np.lexsort((keys,) if weights is None else (weights, keys))
