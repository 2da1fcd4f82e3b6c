"""What the user asks of the clusters beside their number: rows together, rows apart, known classes, sizes.

Rows that belong together, directly or by a chain, are a unit. Known classes are the first units. Everything is checked
before the work: what contradicts itself, or what no clustering could keep, is refused by the numbers of the rows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from clusterforests._utils.arrays import FloatArray, Int64Array, IntArray
from clusterforests._utils.random import Purpose, integers, stream
from clusterforests._utils.validation import Rule, above, either, integer, none
from clusterforests.consensus.assignment import ROUNDING, Apart, Sizes, can_be_apart, largest_clique
from clusterforests.consensus.outliers import OUTLIER_RULES
from clusterforests.trees.settings import Setting

UNKNOWN = -1
NAMED = 10  # rows, units or classes of a contradiction that are named

_SIZE = either(none(), integer(1), above(0, 1, or_equal=False))
CONSTRAINT_RULES: dict[str, Rule] = {"min_cluster_size": _SIZE, "max_cluster_size": _SIZE, **OUTLIER_RULES}


class RequestedConstraints(NamedTuple):
    """What the user passes, unchecked."""

    min_cluster_size: Any = None
    max_cluster_size: Any = None
    must_link: Any = None
    cannot_link: Any = None
    known_labels: Any = None
    contamination: Any = None

    @property
    def names(self) -> list[str]:
        """The names of what is given."""
        return [name for name, value in self._asdict().items() if value is not None]

    def read(self, n_rows: int, weights: FloatArray | None) -> "Constraints | None":
        """Check it; None if it asks for nothing."""
        if self.contamination is not None and self[:2] != (None, None):
            raise ValueError(
                "contamination cannot be combined with min_cluster_size or max_cluster_size: rows that leave a cluster "
                "would change its size. Leave one of them out."
            )
        of_rows = read_row_constraints(n_rows, self.must_link, self.cannot_link, self.known_labels)
        if of_rows is None and self[:2] == (None, None):
            return None
        total = float(n_rows) if weights is None else float(np.sum(weights))
        sizes = read_sizes(self.min_cluster_size, self.max_cluster_size, total, whole=weights is None)
        return Constraints(of_rows, sizes, total, count_heavy(of_rows, sizes, weights, n_rows))


@dataclass(frozen=True)
class Constraints:
    """What is known of rows, and the sizes that clusters may have."""

    of_rows: "RowConstraints | None"
    sizes: Sizes
    total: float  # weight of all rows
    heavy: int = 0  # rows, or groups that belong together, of which no two fit into one cluster

    def check(self, n_clusters: int) -> None:
        """Refuse a number of clusters that cannot keep them."""
        sizes, total = self.sizes, self.total
        if n_clusters * sizes.least > total + ROUNDING * total:
            raise ValueError(
                f"min_cluster_size: {n_clusters} clusters of at least {sizes.least:g} need "
                f"{n_clusters * sizes.least:g} rows, but X has {total:g}. Lower min_cluster_size or n_clusters."
            )
        if n_clusters * sizes.most < total - ROUNDING * total:
            raise ValueError(
                f"max_cluster_size: {n_clusters} clusters of at most {sizes.most:g} hold {n_clusters * sizes.most:g} "
                f"rows, but X has {total:g}. Raise max_cluster_size or n_clusters."
            )
        if self.heavy > n_clusters:
            raise ValueError(
                f"max_cluster_size: {self.heavy} rows, or groups of rows that belong together, are each more than half "
                f"of {sizes.most:g}, so that no two fit into one of n_clusters={n_clusters}. Raise max_cluster_size or "
                "n_clusters, or leave out pairs."
            )
        if self.of_rows is not None:
            self.of_rows.check(n_clusters)

    def allow(self, number: Setting, candidates: list[int]) -> tuple[Setting, list[int]]:
        """Refuse a given number that cannot keep them, or take those of the candidates that can."""
        if not candidates:
            self.check(number.value)
            return number, candidates
        allowed = self.allowed(candidates)
        return Setting(allowed[0], number.reason), allowed

    def allowed(self, numbers: list[int]) -> list[int]:
        """Take the numbers of clusters that can keep them; refuse them if none can."""
        least = self.heavy if self.of_rows is None else max(self.heavy, self.of_rows.least_clusters(max(numbers)))
        slack = ROUNDING * self.total
        found = [
            k
            for k in numbers
            if k >= least and k * self.sizes.least <= self.total + slack and k * self.sizes.most >= self.total - slack
        ]
        if not found:
            self.check(max(numbers))
            raise ValueError(
                f"n_clusters: none of the numbers {numbers[0]} to {numbers[-1]} can keep min_cluster_size, "
                "max_cluster_size and what is known of the rows. Ask for other numbers."
            )
        return found

    def link(self, partitions: IntArray) -> IntArray:
        """Make rows that belong together one row of the graph."""
        return partitions if self.of_rows is None else self.of_rows.link(partitions)


# How small and how large clusters may be.


def read_sizes(min_cluster_size: Any, max_cluster_size: Any, total: float, *, whole: bool) -> Sizes:
    """Turn sizes, which may be shares of the total weight, into weights; `whole` ones if each row weighs 1."""

    def weight(size: Any) -> float:
        return float(size) if isinstance(size, (int, np.integer)) else float(size) * total

    least = 0.0 if min_cluster_size is None else weight(min_cluster_size)
    most = np.inf if max_cluster_size is None else weight(max_cluster_size)
    if least > most:
        raise ValueError(
            f"min_cluster_size={min_cluster_size} is more than max_cluster_size={max_cluster_size}. Swap them, or "
            "leave one out."
        )
    if whole:
        least, most = np.ceil(least - ROUNDING * total), np.floor(most + ROUNDING * total)
    if least > most:
        raise ValueError(
            f"min_cluster_size={min_cluster_size} and max_cluster_size={max_cluster_size} leave no size: at least "
            f"{least:g} and at most {most:g} rows. Lower the one or raise the other."
        )
    return Sizes(float(least), float(most))


def count_heavy(of_rows: "RowConstraints | None", sizes: Sizes, weights: FloatArray | None, n_rows: int) -> int:
    """Count the units of which no two fit into one cluster; refuse one that is more than a cluster may hold."""
    if sizes.most == np.inf:
        return 0
    unit, _ = every_unit(of_rows, n_rows)
    mass = np.bincount(unit, weights)
    heaviest = int(mass.argmax())
    if mass[heaviest] > sizes.most * (1 + ROUNDING):
        row = int(np.flatnonzero(unit == heaviest)[0])
        name = f"row {row}" if of_rows is None or of_rows.unit[row] < 0 else of_rows.name(heaviest)
        raise ValueError(
            f"max_cluster_size: {name} and the rows that belong with it are {mass[heaviest]:g}, more than a cluster of "
            f"at most {sizes.most:g} may hold. Raise max_cluster_size, or leave out pairs."
        )
    return int((mass > sizes.most / 2 * (1 + ROUNDING)).sum())


# Which rows belong together, and which do not.


@dataclass(frozen=True)
class RowConstraints:
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

    @property
    def kept_apart(self) -> Apart:
        """Which units are kept apart."""
        return Apart(len(self.classes), self.apart)

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

    def check(self, n_clusters: int) -> None:
        """Refuse what so many clusters cannot keep, and name the rows."""
        if len(self.classes) > n_clusters:
            raise ValueError(
                f"known_labels names {len(self.classes)} classes ({_listed(map(repr, self.classes))}), more than "
                f"n_clusters={n_clusters}. Raise n_clusters, or join classes."
            )
        clique = largest_clique(self.kept_apart, self.n_units)
        if len(clique) > n_clusters:
            raise ValueError(
                f"cannot_link needs {len(clique)} clusters, more than n_clusters={n_clusters}: "
                f"{_listed(map(self.name, clique))} are all to be apart from each other. Raise n_clusters, or leave "
                "out pairs."
            )
        if len(clique) > 1 and not can_be_apart(self.kept_apart, self.n_units, n_clusters):
            units = np.unique(self.apart)
            raise ValueError(
                f"cannot_link cannot be kept with n_clusters={n_clusters}: no assignment of {len(units)} groups of "
                f"rows, among them {_listed(map(self.name, units.tolist()))}, keeps all pairs apart. Raise n_clusters, "
                "or leave out pairs."
            )

    def least_clusters(self, most: int) -> int:
        """Find the lowest number of clusters that can keep what is known, one above `most` if none up to it can."""
        lowest = max(1, len(self.classes), len(largest_clique(self.kept_apart, self.n_units)))
        able = (k for k in range(lowest, most + 1) if can_be_apart(self.kept_apart, self.n_units, k))
        return next(able, most + 1)


def every_unit(of_rows: RowConstraints | None, n_rows: int) -> tuple[Int64Array, Apart]:
    """Number the units of all rows: those of which something is known first, then every other row by itself."""
    if of_rows is None:
        return np.arange(n_rows), Apart(0, np.empty((0, 2), dtype=np.int64))
    unit, free = of_rows.unit.copy(), of_rows.unit < 0
    unit[free] = of_rows.n_units + np.arange(int(free.sum()))
    return unit, of_rows.kept_apart


def read_row_constraints(n_rows: int, must_link: Any, cannot_link: Any, known_labels: Any) -> RowConstraints | None:
    """Check what the user knows and join it; None if it is nothing. Contradictions are refused by the rows' numbers."""
    together, apart = _read_pairs("must_link", must_link, n_rows), _read_pairs("cannot_link", cannot_link, n_rows)
    names, own = _read_classes(known_labels, n_rows)
    known = np.flatnonzero(own >= 0)
    if not len(together) and not len(apart) and not len(known):
        return None
    joined = _Joined(n_rows, np.vstack([together, np.column_stack([known, n_rows + own[known]])]), names)
    joined.check_classes(own)
    joined.check_apart(apart)
    # Units are numbered: the classes first, then by their first rows.
    rows = np.union1d(joined.in_pairs, apart)
    first = dict.fromkeys([*joined.part[n_rows:].tolist(), *joined.part[rows].tolist()])
    number = {part: unit for unit, part in enumerate(first)}
    unit = np.full(n_rows, UNKNOWN, dtype=np.int64)
    unit[rows] = [number[part] for part in joined.part[rows].tolist()]
    # Classes are apart without being listed.
    pairs = np.unique(np.sort(unit[apart], axis=1), axis=0)
    between_classes = (pairs < len(names)).all(axis=1)
    return RowConstraints(unit, np.ascontiguousarray(pairs[~between_classes]), tuple(names))


class _Joined:
    """Rows, and after them classes, joined by pairs."""

    def __init__(self, n_rows: int, pairs: Int64Array, names: Sequence[Any]) -> None:
        self.n_rows, self.names = n_rows, names
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

    def _chain(self, a: int, b: int) -> str:
        """Name the shortest chain from one row to another."""
        before = breadth_first_order(self.graph, a, directed=False)[1]
        chain = [b]
        while chain[-1] != a:
            chain.append(int(before[chain[-1]]))
        words = [f"row {i}" if i < self.n_rows else f"class {self.names[i - self.n_rows]!r}" for i in chain[::-1]]
        if len(words) > NAMED:
            words = [*words[: NAMED - 2], "...", words[-1]]
        return " - ".join(words)


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    return ", ".join(every[:NAMED]) + (", ..." if len(every) > NAMED else "")


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
