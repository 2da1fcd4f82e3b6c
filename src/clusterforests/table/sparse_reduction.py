"""Wide sparse tables, such as words of texts, reduced to a few components, as latent semantic analysis does.

Most cells of such a table are zero. A z-score makes a rare word huge, and whether a common word occurs at all looks
like two groups. The directions of rows tell, and so does what words have in common: rows are scaled to length 1,
projected on the leading singular vectors of the table and scaled to length 1 again.
"""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from threadpoolctl import threadpool_limits

from clusterforests._utils.arrays import FloatArray, IntArray, KeyArray
from clusterforests._utils.linear_algebra import KEPT_BITS
from clusterforests._utils.random import Purpose, stream, uniform
from clusterforests.table.frames import row_slices
from clusterforests.table.row_sampling import draw_rows
from clusterforests.table.row_sources import StoredTable

REDUCED_COMPONENTS = 50
# A narrower table is left as it is, and so is one of which a larger share of the cells is filled.
LEAST_COLUMNS, MOST_FILLED = 4 * REDUCED_COMPONENTS, 0.2
# Rows from which the vectors are found.
DECOMPOSED_ROWS = 8192
# Vectors that are iterated beside those that are kept, and how often.
SPARE, ITERATIONS = 10, 6
# Filled cells that are hashed at a time; rows that are read at a time, and cells of these, most of them 0.
HASHED_CELLS = 2**22
READ_ROWS, READ_CELLS = 2**16, 2**26
# Of the first singular value: a smaller one is rounding.
NO_VECTOR = 1e-9


@dataclass(frozen=True)
class Reduction:
    """How the rows of a sparse table are reduced, to reduce other rows in the same way."""

    vectors: FloatArray  # (n_features, components)

    @property
    def reason(self) -> str:
        """Describe what was done and why."""
        return (
            f"X is sparse and wide: its rows, of length 1, are reduced to {self.vectors.shape[1]} components as "
            "TruncatedSVD does, and trees see these instead of columns"
        )

    def apply(self, X: Any) -> FloatArray:
        """Reduce rows, sparse or not; each row depends on itself alone.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)

        Returns
        -------
        reduced : ndarray of shape (n_samples, components)
            Rows of length 1, or 0 where a row has nothing in common with the fitted table.
        """
        reduced = np.concatenate([unit_rows(rows) @ self.vectors for _, rows in _blocks(X)])
        length = np.sqrt(np.square(reduced).sum(axis=1, keepdims=True))
        return np.ascontiguousarray(reduced / np.where(length > 0, length, 1.0))

    def importances(self, X: Any, labels: IntArray) -> FloatArray:
        """Find for each column of X the share of its variance that is between clusters, above chance."""
        n, sizes = len(labels), np.bincount(labels)
        sums, squares = np.zeros((len(sizes), X.shape[1])), np.zeros(X.shape[1])
        for start, rows in _blocks(X):
            table = unit_rows(rows)
            own = labels[start : start + table.shape[0]]
            groups = scipy.sparse.csr_array((np.ones(len(own)), (own, np.arange(len(own)))), (len(sizes), len(own)))
            sums += (groups @ table).toarray()
            squares += np.asarray(table.multiply(table).sum(axis=0)).ravel()
        grand = sums.sum(axis=0) ** 2 / n
        total = squares - grand
        between = (sums**2 / np.maximum(sizes, 1)[:, None]).sum(axis=0) - grand
        share = np.divide(between, total, out=np.zeros_like(total), where=total > NO_VECTOR * squares)
        above = 1.0 - (1.0 - share) * (n - 1) / max(1, n - len(sizes))
        return np.clip(above, 0.0, 1.0) if len(sizes) > 1 else np.zeros_like(share)


def is_reducible(X: Any) -> bool:
    """Return whether X is a sparse table of finite numbers that is wide and mostly zero."""
    sparse = scipy.sparse.issparse(X) or (isinstance(X, StoredTable) and X.sparse)
    if not (sparse and X.ndim == 2 and X.dtype.kind in "biuf"):
        return False
    n, p = X.shape
    filled, most = 0, MOST_FILLED * n * p if p >= LEAST_COLUMNS and n > 1 else 0
    for _, rows in _blocks(X) if most else ():
        filled += rows.nnz
        if filled > most or not np.isfinite(rows.data).all():
            return False
    return filled > 0


def find_reduction(X: Any, weights: FloatArray | None, most_rows: int = DECOMPOSED_ROWS) -> Reduction:
    """Find the leading singular vectors of a sparse table, from some of its rows if there are many.

    Neither the order of the rows nor their repetition, as against their weights, changes the result.
    """
    keys = _keys_of(X, 0)
    _check_keys(X, keys)
    drawn = draw_rows(keys, weights, most_rows, 0)
    order = np.argsort(keys[drawn.rows], kind="stable")
    share = np.sqrt(drawn.weights[order] / drawn.weights.sum())
    chosen = drawn.rows[order]
    table = unit_rows(X.pick(chosen) if isinstance(X, StoredTable) else X.tocsr()[chosen])
    some = scipy.sparse.csr_array(scipy.sparse.diags_array(share) @ table)
    with threadpool_limits(1, "blas"):
        return Reduction(_leading_vectors(some, min(REDUCED_COMPONENTS, len(order))))


def _blocks(X: Any) -> Iterator[tuple[int, Any]]:
    """Yield the rows of a table in blocks, sparse if it is: those of a table in a file are never all in memory."""
    for start, rows in row_slices(X, READ_ROWS, READ_CELLS):
        part = rows.read() if isinstance(rows, StoredTable) else rows  # one that is a single block
        yield start, part.tocsr() if scipy.sparse.issparse(part) else part


def unit_rows(X: Any) -> Any:
    """Copy a table as sparse rows of length 1; rows of zeros stay."""
    table = scipy.sparse.csr_array(X, dtype=np.float64, copy=True)
    table.sum_duplicates()
    table.eliminate_zeros()
    # First by the largest entry, so that no square overflows; then by the length.
    _divide(table, _by_row(np.maximum, np.abs(table.data), table.indptr, 0.0))
    _divide(table, np.sqrt(_by_row(np.add, np.square(table.data), table.indptr, 0.0)))
    return table


def _divide(table: Any, size: FloatArray) -> None:
    table.data /= np.repeat(np.where(size > 0, size, 1.0), np.diff(table.indptr))


def _by_row(operation: np.ufunc, values: Any, starts: Any, empty: Any) -> Any:
    """Reduce the entries of each row; `empty` where it has none."""
    found = np.full(len(starts) - 1, empty, dtype=values.dtype)
    filled = np.diff(starts) > 0
    if filled.any():
        found[filled] = operation.reduceat(values, starts[:-1][filled])
    return found


def _keys_of(X: Any, seed: int) -> KeyArray:
    return np.concatenate([_row_keys(unit_rows(rows), seed) for _, rows in _blocks(X)])


def _check_keys(X: Any, keys: KeyArray) -> None:
    """Refuse rows that differ but share a key: they can be made, and only one of them would be looked at.

    Keys of a seed that nobody knows tell them apart, without dense rows.
    """
    names, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if len(names) == len(keys):
        return
    secret = _keys_of(X, secrets.randbits(64))
    others = np.flatnonzero(secret != secret[first[inverse]])
    if len(others):
        raise ValueError(
            f"X has rows that differ but share the key by which equal rows of a sparse table are found, such as rows "
            f"{first[inverse[others[0]]]} and {others[0]}. Rows like these do not come about by chance. Find out who "
            "made them; or fit the columns in another order, where their keys differ."
        )


def _row_keys(table: Any, seed: int) -> KeyArray:
    """Hash the entries of each row; equal rows have equal keys."""
    keys = np.zeros(table.shape[0], dtype=np.uint64)
    starts = table.indptr
    step = max(1, HASHED_CELLS * table.shape[0] // max(1, table.nnz))
    for first in range(0, table.shape[0], step):
        ends = starts[first : first + step + 1]
        own = slice(ends[0], ends[-1])
        entries = stream(seed, Purpose.REDUCED_ROWS, table.indices[own], table.data[own].view(np.uint64))
        keys[first : first + len(ends) - 1] = _by_row(np.add, entries, ends - ends[0], 0)
    return keys


def _leading_vectors(table: Any, count: int) -> FloatArray:
    """Find the leading right singular vectors by block iteration from fixed vectors."""
    p = table.shape[1]
    width = min(count + SPARE, p, table.shape[0])
    column = np.arange(p)[:, None]
    basis = uniform(stream(0, Purpose.REDUCED_ROWS, column, np.arange(width)[None, :])) - 0.5
    for _ in range(ITERATIONS):
        basis = scipy.linalg.qr(table.T @ (table @ basis), mode="economic")[0]
    values, turned = scipy.linalg.eigh((image := table @ basis).T @ image)
    values, vectors = values[::-1][:count], (basis @ turned[:, ::-1])[:, :count]
    vectors = vectors[:, values > NO_VECTOR**2 * values[0]]
    largest = np.abs(vectors).argmax(axis=0)
    signed = vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return np.ascontiguousarray(np.ldexp(np.rint(np.ldexp(signed, KEPT_BITS)), -KEPT_BITS))
