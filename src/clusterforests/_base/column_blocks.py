"""Go through the columns of a wide table in blocks, so that nothing copies it as a whole."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from clusterforests._base.typing import AnyArray, FloatArray, IndexArray

WIDE = 2000  # columns beyond which a table is neither copied nor scaled as a whole
BLOCK_CELLS = 2**21


def is_wide(n_columns: int) -> bool:
    """Tell whether a table has so many columns that these are read in blocks."""
    return n_columns > WIDE


def column_blocks(n_rows: int, n_columns: int, cells: int = BLOCK_CELLS) -> Iterator[slice]:
    """Go through columns some at a time; those of a table that is not wide all at once.

    A block has two columns at least: NumPy adds up a single one in another order than several side by side.
    """
    step = max(2, cells // max(1, n_rows)) if is_wide(n_columns) else max(2, n_columns)
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
