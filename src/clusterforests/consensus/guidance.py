"""What the user knows of the clustering: rows that belong together, rows that do not, and classes of some rows.

Rows that belong together, directly or by a chain, are a unit. Known classes are the first units.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from clusterforests._utils.arrays import Int64Array, IntArray
from clusterforests._utils.random import Purpose, integers, stream

UNKNOWN = -1
SHOWN = 10  # rows of a contradiction that are named


@dataclass(frozen=True)
class Guidance:
    """Units of rows, and which of them are kept apart. Classes are apart from each other without being listed."""

    unit: Int64Array  # (n,): of each row, UNKNOWN if nothing is known of it
    apart: Int64Array  # (p, 2): units
    classes: tuple[Any, ...] = ()  # the names of the first units

    @property
    def rows(self) -> Int64Array:
        """The rows of which something is known."""
        return np.flatnonzero(self.unit >= 0)

    @property
    def n_units(self) -> int:
        return int(self.unit.max(initial=UNKNOWN)) + 1

    @property
    def known(self) -> Int64Array:
        """The rows whose class is known."""
        return np.flatnonzero((self.unit >= 0) & (self.unit < len(self.classes)))

    @property
    def given(self) -> list[str]:
        """The names of the parameters that it comes from."""
        joined = (np.bincount(self.unit[self.unit >= 0])[len(self.classes) :] > 1).any()
        parts = {"must_link": joined, "cannot_link": len(self.apart), "known_labels": len(self.classes)}
        return [name for name, present in parts.items() if present]

    def row_of(self, unit: int) -> int:
        """Find the first row of a unit."""
        return int(np.flatnonzero(self.unit == unit)[0])

    def name(self, unit: int) -> str:
        """Name a unit in a message: by its class or by its first row."""
        return f"class {self.classes[unit]!r}" if unit < len(self.classes) else f"row {self.row_of(unit)}"

    def link(self, partitions: IntArray) -> IntArray:
        """Give rows that belong together the same labels (T, n), so that they are one node of the graph.

        In each partition they have the label of one of them, drawn at random: their links are the mean of those that
        each had. Rows of a known class keep theirs: a class need not be in one place.
        """
        units = np.flatnonzero(np.bincount(self.unit[self.unit >= 0], minlength=1) > 1)
        linked = partitions.copy()
        for unit in units[units >= len(self.classes)]:
            rows = np.flatnonzero(self.unit == unit)
            keys = stream(0, Purpose.LINKED_ROWS, int(unit), np.arange(len(partitions)))
            drawn = rows[integers(keys, len(rows))]
            linked[:, rows] = partitions[np.arange(len(partitions)), drawn][:, None]
        return linked


def read_guidance(n_rows: int, must_link: Any, cannot_link: Any, known_labels: Any) -> Guidance | None:
    """Check what the user knows and join it; None if it is nothing. Contradictions are refused by the rows' numbers."""
    together, apart = _read_pairs("must_link", must_link, n_rows), _read_pairs("cannot_link", cannot_link, n_rows)
    names, own = _read_classes(known_labels, n_rows)
    known = np.flatnonzero(own >= 0)
    if not len(together) and not len(apart) and not len(known):
        return None
    joined = _Joined(n_rows, np.vstack([together, np.column_stack([known, n_rows + own[known]])]), names)
    joined.check_classes(own)
    joined.check_apart(apart)
    return joined.guidance(apart)


class _Joined:
    """Rows, and after them classes, joined by pairs."""

    def __init__(self, n_rows: int, pairs: Int64Array, names: Sequence[Any]) -> None:
        self.n_rows, self.names = n_rows, tuple(names)
        size = n_rows + len(names)
        self.graph = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(size, size))
        self.part = connected_components(self.graph, directed=False)[1]
        self.in_pairs = np.unique(pairs[pairs < n_rows])

    def check_classes(self, own: Int64Array) -> None:
        """Refuse rows of two classes that are joined."""
        parts = self.part[self.n_rows :]
        for second, part in enumerate(parts):
            first = int(np.flatnonzero(parts == part)[0])
            if first != second:
                a, b = (int(np.flatnonzero(own == number)[0]) for number in (first, second))
                raise ValueError(
                    f"known_labels and must_link contradict each other: class {self.names[first]!r} and class "
                    f"{self.names[second]!r} are joined by {self._chain(a, b)}."
                )

    def check_apart(self, apart: Int64Array) -> None:
        """Refuse pairs that are to be apart but are joined."""
        for a, b in apart[self.part[apart[:, 0]] == self.part[apart[:, 1]]].tolist():
            if a == b:
                raise ValueError(f"cannot_link pairs row {a} with itself: no row can be apart from itself.")
            source = "known_labels" if "class" in (chain := self._chain(a, b)) else "must_link"
            raise ValueError(
                f"cannot_link and {source} contradict each other: row {a} and row {b} are to be apart, but are joined "
                f"by {chain}."
            )

    def guidance(self, apart: Int64Array) -> Guidance:
        """Number the units: the classes first, then by their first rows."""
        rows = np.union1d(self.in_pairs, apart)
        classes = self.part[self.n_rows :]
        first = dict.fromkeys([*classes.tolist(), *self.part[rows].tolist()])
        number = {part: unit for unit, part in enumerate(first)}
        unit = np.full(self.n_rows, UNKNOWN, dtype=np.int64)
        unit[rows] = [number[part] for part in self.part[rows].tolist()]
        pairs = np.unique(np.sort(unit[apart], axis=1), axis=0)
        between_classes = (pairs < len(self.names)).all(axis=1)
        return Guidance(unit, np.ascontiguousarray(pairs[~between_classes]), self.names)

    def _chain(self, a: int, b: int) -> str:
        """Name the shortest chain from one row to another."""
        before = breadth_first_order(self.graph, a, directed=False)[1]
        chain = [b]
        while chain[-1] != a:
            chain.append(int(before[chain[-1]]))
        words = [f"row {i}" if i < self.n_rows else f"class {self.names[i - self.n_rows]!r}" for i in chain[::-1]]
        if len(words) > SHOWN:
            words = [*words[: SHOWN - 2], "...", words[-1]]
        return " - ".join(words)


def _read_pairs(name: str, pairs: Any, n_rows: int) -> Int64Array:
    """Check pairs of row positions."""
    try:
        given = np.asarray([] if pairs is None else pairs)
    except ValueError as error:
        raise ValueError(f"{name} must be pairs of row positions, but not all its entries have two numbers.") from error
    if given.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be pairs of row positions, an array of integers of shape (n_pairs, 2), not one of "
            f"{given.dtype} of shape {given.shape}."
        )
    outside = given[(given < 0) | (given >= n_rows)]
    if len(outside):
        raise ValueError(f"{name} names row {outside[0]}, but X has {n_rows} rows: positions are 0 to {n_rows - 1}.")
    return given.astype(np.int64)


def _read_classes(known_labels: Any, n_rows: int) -> tuple[list[Any], Int64Array]:
    """Return the names of the classes, and of each row the number of its class or UNKNOWN."""
    own = np.full(n_rows, UNKNOWN, dtype=np.int64)
    if known_labels is None:
        return [], own
    given = np.asarray(known_labels, dtype=object)
    if given.shape != (n_rows,):
        raise ValueError(
            f"known_labels must have one entry for each of the {n_rows} rows, -1, None or NaN where the class is not "
            f"known; its shape is {given.shape}."
        )
    numbers: dict[Any, int] = {}
    for row, value in enumerate(map(_plain, given)):
        if _is_unknown(value):
            continue
        try:
            own[row] = numbers.setdefault(value, len(numbers))
        except TypeError as error:  # it cannot be compared
            raise ValueError(
                f"known_labels has {value!r} in row {row}: a class must be a number or text, or -1, None or NaN where "
                "it is not known."
            ) from error
    return list(numbers), own


def _plain(value: Any) -> Any:
    """Return a scalar of NumPy as Python's, or None for a time that is missing."""
    if isinstance(value, (np.datetime64, np.timedelta64)) and np.isnat(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def _is_unknown(value: Any) -> bool:
    """Tell whether an entry says nothing: None, a missing value of NumPy or pandas, or -1."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (int, float)) and not isinstance(value, bool) and (value == UNKNOWN or value != value)
