"""Columns that say the same as an earlier one: copies, other units, other names of the same groups."""

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from clusterforests._base.typing import FloatArray, IntArray
from clusterforests.tables.column_table import CategoryColumn

COMPARED_ROWS = 2000
COMPARED_COLUMNS = 500  # of more, only exact copies are found
SAME = 0.999  # correlation
FEW_ROWS = 20


def near_duplicates(columns: Mapping[int, FloatArray | CategoryColumn]) -> dict[int, tuple[int, str]]:
    """Find columns that repeat an earlier one; return which one, and how the two are alike.

    Parameters
    ----------
    columns : mapping of int to ndarray or CategoryColumn
        The columns that are used, by their position.

    Returns
    -------
    found : dict of int to (int, str)
    """
    if not columns or len(next(iter(columns.values()))) < FEW_ROWS:
        return {}
    numbers = {j: cells for j, cells in columns.items() if not isinstance(cells, CategoryColumn)}
    found = _copies({j: _digest(cells) for j, cells in numbers.items()}, "the same numbers")
    groups = {j: _first_seen(cells) for j, cells in columns.items() if isinstance(cells, CategoryColumn)}
    found |= _copies({j: codes for j, codes in groups.items() if codes}, "the same groups")
    left = [j for j, cells in numbers.items() if j not in found and not np.isinf(cells).any()]
    return found | (_correlated(left, [numbers[j] for j in left]) if len(left) <= COMPARED_COLUMNS else {})


def _digest(values: FloatArray | IntArray) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(values).data).digest()


def _copies(keys: Mapping[int, bytes], how: str) -> dict[int, tuple[int, str]]:
    first: dict[bytes, int] = {}
    found = {}
    for j, key in keys.items():
        i = first.setdefault(key, j)
        if i != j:
            found[j] = (i, how)
    return found


def _first_seen(cells: CategoryColumn) -> bytes:
    """Number the groups in the order of the rows, so that their names do not count."""
    known, first, inverse = np.unique(cells.codes, return_index=True, return_inverse=True)
    if len(known) < 3:  # two groups may well agree by chance
        return b""
    ranks = np.empty(len(known), dtype=np.int32)
    ranks[np.argsort(first)] = np.arange(len(known), dtype=np.int32)
    return _digest(ranks[inverse])


def _correlated(positions: Sequence[int], columns: Sequence[FloatArray]) -> dict[int, tuple[int, str]]:
    if len(columns) < 2:
        return {}
    step = max(1, len(columns[0]) // COMPARED_ROWS)
    values = np.array([cells[::step] for cells in columns])
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    exponents = np.frexp(np.abs(filled).max(axis=1))[1]
    filled = np.ldexp(filled, -exponents[:, None])
    filled -= np.where(known, filled, 0.0).sum(axis=1, keepdims=True) / np.maximum(1, known.sum(axis=1))[:, None]
    filled[~known] = 0.0
    lengths = np.sqrt((filled**2).sum(axis=1))
    filled /= np.where(lengths > 0, lengths, 1.0)[:, None]
    few = np.array([len(np.unique(row[: FEW_ROWS * 5])) < 3 for row in filled])
    found: dict[int, tuple[int, str]] = {}
    likeness = np.abs(filled @ filled.T)
    alike = likeness * ((known.astype(np.float64) @ known.T) / np.maximum(1, known.sum(axis=1)) > 0.99)
    for b in range(1, len(positions)):
        a = int(np.argmax(alike[:b, b]))
        if alike[a, b] >= SAME and not few[b] and not few[a]:
            found[positions[b]] = (positions[a], f"correlation {likeness[a, b]:.4f}")
    return found
