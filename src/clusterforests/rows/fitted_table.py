"""The table that a forest was fitted on: whether this is it, rows in the same order, and some of its rows."""

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from clusterforests._utils.arrays import AnyArray, IndexArray, IntArray
from clusterforests._utils.devices import is_dask
from clusterforests.table.frames import ColumnTable, plain_block

COMPARED_BLOCKS = 16  # of rows that are compared, from the first to the last
COMPARED_BLOCK_ROWS = 1024
REFUSED_SHARE = 0.05  # of these rows in other clusters: another table, or other rows
REFUSED_SHARE_OF_OTHERS = 0.25  # of them, where another clusterer made the trees


def compared_rows(n_rows: int) -> IndexArray:
    """Choose blocks of rows from all over a table: those of a shuffled table are then others."""
    step = max(COMPARED_BLOCK_ROWS, -(-n_rows // COMPARED_BLOCKS))
    return np.concatenate(
        [np.arange(first, min(first + COMPARED_BLOCK_ROWS, n_rows)) for first in range(0, n_rows, step)]
    )


def compare_rows(
    predict: Callable[[Any], AnyArray], X: Any, rows: IndexArray, expected: IntArray, *, has_centers: bool
) -> list[str]:
    """Compare the clusters of some rows with what `predict` says of them: it puts fitted rows where they are.

    A few rows that differ, as they do where cells were rounded, are a caveat; many are refused. Where trees are not
    made by centres (`has_centers` is false), a row need not be where its centre is nearest: only many are a caveat.
    """
    if not len(rows):
        return []
    some = take_rows(X, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = predict(X)[rows] if some is None else predict(some)
    count, wrong = len(rows), int(np.count_nonzero(found != expected))
    what = f"`predict` puts {wrong:,} of {count:,} rows of this table into other clusters than the fit"
    if not has_centers:
        doubt = (
            f"{what}: it may be another table, or in another order, unless `estimator` makes clusters without centres."
        )
        return [doubt] if wrong > REFUSED_SHARE_OF_OTHERS * count else []
    if wrong > REFUSED_SHARE * count:
        raise ValueError(
            f"X is not the table that the forest was fitted on, or its rows are in another order: {what}. Pass the "
            "table it was fitted on."
        )
    return [f"{what}: it may not be quite the table that was clustered."] if wrong else []


def count_rows(X: Any) -> int:
    """Count the rows of a table; Dask may have to compute that."""
    if is_dask(X):
        return len(X) if hasattr(X, "get_partition") else len(_with_known_chunks(X))
    shape = getattr(X, "shape", None)
    return len(X) if shape is None else int(shape[0])


def take_rows(X: Any, rows: IndexArray) -> Any:
    """Take some rows, in ascending order, of an array or a frame, in the kind that it is; None if X is something else.

    Those of Dask are brought to this process.
    """
    if is_dask(X):
        return _take_from_frame(X, rows) if hasattr(X, "get_partition") else _take_from_blocks(X, rows)
    if isinstance(X, ColumnTable):
        return X.take(rows)
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
