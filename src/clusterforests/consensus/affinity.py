"""From partitions to the graph that is cut: co-association and regularisation (Algorithm 3, lines 4 to 7).

The four lines are one lookup: W between two rows is `weight_table`'s entry for the number of partitions in which their
labels match. Neither the indicator matrices nor P are stored. P itself is computed, by `coassociate`, only for linkage,
and where labels are missing, so that the share is of a number of partitions that differs from pair to pair.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from clusterforests import _core
from clusterforests._utils.arrays import AnyIntArray, BoolArray, FloatArray, IndexArray, IntArray
from clusterforests._utils.memory import check_memory
from clusterforests._utils.portable_math import exp, expm1
from clusterforests.backends import Backend


@dataclass(frozen=True)
class GraphLimits:
    """Limits that trade time for memory or exactness; the defaults come from measurements."""

    # Which different rows of labels ("signatures") are nodes of the graph
    exact: int = 5000  # signatures up to which each of them is a node
    exact_without_matrix: int = 20000  # the same for methods that need no matrix
    landmarks: int = 2000  # nodes that stand for more signatures than that
    pool: int = 16384  # rows of a large table from which landmarks are chosen; as SizeLimits.sample_rows
    collapsed: int = 65536  # rows up to which equal signatures of all rows are merged; as SizeLimits.large_rows

    # How W between the nodes is stored
    matrix_nodes: int = 5000  # nodes up to which W is a matrix, otherwise an operator
    matrix_part: int = 2000  # nodes up to which a part of an operator is a matrix
    stored_bytes: int = 6 * 10**8  # room for match counts; if they need more, every product counts them anew
    most_with_missing_labels: int = 255  # partitions up to which W is an operator where labels are missing

    # How eigenvectors are found
    dense_solver: int = 512  # nodes up to which LAPACK computes several eigenvectors
    guess_nodes: int = 256  # nodes whose graph gives the first guess of the iteration
    max_basis: int = 64  # vectors of the iteration's basis; beyond that it restarts from the best of its span
    max_products: int = 250  # of the iteration, each with a block of vectors


LIMITS = GraphLimits()

PLACED_ROWS = 8192  # rows of labels taken at a time


# W between the nodes of a graph: a matrix while that is small, otherwise an operator.


class Affinity(Protocol):
    """The symmetric weights W between nodes."""

    is_matrix: bool
    vectors_at_once: int  # how many an iteration had best multiply in one product

    def __len__(self) -> int: ...

    def multiply(self, vectors: FloatArray) -> FloatArray:
        """Multiply W with vectors, which are rows; the products are rows."""

    def between(self, rows: IndexArray, columns: IndexArray) -> FloatArray:
        """Write out some of W as a matrix."""

    def multiply_columns(self, columns: IndexArray, vectors: FloatArray) -> FloatArray:
        """Multiply some columns of W with vectors over these."""

    def release(self) -> None:
        """Give back memory that the next product can fill again."""

    def part(self, nodes: IndexArray) -> "Affinity":
        """Take W between some nodes."""


class AffinityMatrix:
    """W as a matrix."""

    is_matrix = True
    vectors_at_once = 1

    def __init__(self, backend: Backend, W: FloatArray) -> None:
        self.backend = backend
        self.W = W

    def __len__(self) -> int:
        return len(self.W)

    def multiply(self, vectors: FloatArray) -> FloatArray:
        return self.backend.multiply(self.W, vectors)

    def between(self, rows: IndexArray, columns: IndexArray) -> FloatArray:
        return self.W[np.ix_(rows, columns)]

    def multiply_columns(self, columns: IndexArray, vectors: FloatArray) -> FloatArray:
        return self.backend.multiply(np.ascontiguousarray(self.W[:, columns]), vectors)

    def release(self) -> None:
        """Do nothing: the matrix is all there is."""

    def part(self, nodes: IndexArray) -> "AffinityMatrix":
        return AffinityMatrix(self.backend, self.between(nodes, nodes))


class MatchCountAffinity:
    """W as a table over match counts, which are stored where there is room and otherwise counted at each product.

    Where labels are missing the table is over pairs of counts: see `MatchOperator`.
    """

    is_matrix = False

    def __init__(self, backend: Backend, labels: IntArray, table: FloatArray, limits: GraphLimits = LIMITS) -> None:
        self.backend = backend
        self.labels = np.ascontiguousarray(labels)
        self.table = table
        self.limits = limits
        self.matches = backend.matches(self.labels, table)
        self.fits = self.matches.fits(limits.stored_bytes)
        self.vectors_at_once = 2 if self.fits else 4  # counting takes as long for any number of vectors
        self._stored = False

    def __len__(self) -> int:
        return int(self.labels.shape[1])

    def multiply(self, vectors: FloatArray) -> FloatArray:
        if not self.fits:
            return self.matches.multiply(self.labels, vectors)
        if not self._stored:
            self.matches.store()
            self._stored = True
        return self.matches.multiply_stored(vectors)

    def release(self) -> None:
        if self._stored:
            self.matches.release()
            self._stored = False

    def between(self, rows: IndexArray, columns: IndexArray) -> FloatArray:
        check_memory(
            4 * 8 * len(rows) * len(columns), f"A graph of {len(rows)} by {len(columns)} nodes", "Use fewer rows."
        )
        a, b = self.labels[:, rows], self.labels[:, columns]
        n_partitions = len(a)
        if len(self.table) == n_partitions + 1:
            return self.backend.coassociate(a, b, self.table)
        counts = np.arange(n_partitions + 1, dtype=np.float64)
        together = self.backend.coassociate(a, b, counts)
        both = self.backend.coassociate(np.where(a < 0, a, 0), np.where(b < 0, b, 0), counts * (n_partitions + 1))
        return self.table[(both + together).astype(np.intp)]

    def multiply_columns(self, columns: IndexArray, vectors: FloatArray) -> FloatArray:
        return self.backend.matches(self.labels[:, columns], self.table).multiply(self.labels, vectors)

    def part(self, nodes: IndexArray) -> Affinity:
        if len(nodes) <= self.limits.matrix_part:
            return AffinityMatrix(self.backend, self.between(nodes, nodes))
        return MatchCountAffinity(self.backend, self.labels[:, nodes], self.table, self.limits)


class AffinityWithDiagonal:
    """W with another diagonal."""

    is_matrix = False

    def __init__(self, plain: Affinity, diagonal: FloatArray) -> None:
        self.plain = plain
        self.diagonal = diagonal
        self.vectors_at_once = plain.vectors_at_once
        one = np.arange(1)
        self._change = diagonal - plain.between(one, one)[0, 0]  # a signature has the same W with itself as any other

    def __len__(self) -> int:
        return len(self.diagonal)

    def multiply(self, vectors: FloatArray) -> FloatArray:
        product: FloatArray = self.plain.multiply(vectors) + self._change * vectors
        return product

    def between(self, rows: IndexArray, columns: IndexArray) -> FloatArray:
        W = self.plain.between(rows, columns)
        W += np.where(rows[:, None] == columns, self._change[rows][:, None], 0.0)
        return W

    def multiply_columns(self, columns: IndexArray, vectors: FloatArray) -> FloatArray:
        product = self.plain.multiply_columns(columns, vectors)
        product[:, columns] += self._change[columns] * vectors
        return product

    def release(self) -> None:
        self.plain.release()

    def part(self, nodes: IndexArray) -> Affinity:
        part = self.plain.part(nodes)
        if isinstance(part, AffinityMatrix):
            np.fill_diagonal(part.W, self.diagonal[nodes])
            return part
        return AffinityWithDiagonal(part, self.diagonal[nodes])


def with_diagonal(W: FloatArray | Affinity, diagonal: FloatArray) -> FloatArray | Affinity:
    """Replace the diagonal of W: in place if it is a matrix."""
    if not isinstance(W, np.ndarray):
        return AffinityWithDiagonal(W, diagonal)
    np.fill_diagonal(W, diagonal)
    return W


NO_SCALE = 1e-8  # exp(b P) - 1 differs from b P by less than a share of b


@dataclass(frozen=True)
class Signatures:
    """The different rows of labels, each kept once, with a weight.

    Rows with the same label in every partition have the same row of P.
    """

    labels: IntArray  # (T, m)
    inverse: IndexArray  # row -> signature
    weights: FloatArray  # rows per signature, or the sum of their weights
    inside: "Inside | None" = None  # None if all rows that a signature stands for have its labels
    values: FloatArray | None = None  # (m, d): of the rows with these labels, scaled; None if they are not known

    def __len__(self) -> int:
        return len(self.weights)


@dataclass(frozen=True)
class Inside:
    """What is known of pairs among the rows that a landmark stands for."""

    same: FloatArray  # the share of pairs that have the same labels
    P: FloatArray  # the mean over the other pairs

    def weights(self, threshold: float | str, scale: float) -> FloatArray:
        """Compute W of each landmark with itself: that of two rows it stands for, not that of a row with itself."""
        own, others = regularise(np.ones(1), threshold, scale), regularise(self.P, threshold, scale)
        return self.same * own + (1 - self.same) * others


def collapse(partitions: IntArray, weights: FloatArray | None = None) -> Signatures:
    """Find the different columns of `partitions` and add up their weights: a weight of 2 is a row repeated."""
    order, is_new = _core.order_columns(np.ascontiguousarray(partitions, dtype=np.int32))
    first, inverse = order[is_new], np.empty(len(order), dtype=np.intp)
    inverse[order] = np.cumsum(is_new) - 1
    mass = np.bincount(inverse).astype(np.float64)
    if weights is not None:
        order = np.lexsort((weights, inverse))  # The order of the rows must not show in the sums.
        mass = np.bincount(inverse[order], weights[order]).astype(np.float64)
    return Signatures(np.ascontiguousarray(partitions[:, first]), inverse, mass)


def find_columns(known: IntArray, labels: IntArray) -> IndexArray:
    """Find, for each column of labels, the column of `known` that is equal to it, -1 where there is none."""
    found = np.full(labels.shape[1], -1, dtype=np.intp)
    keys, given = _core.column_keys(known), _core.column_keys(labels)
    order = np.argsort(keys, kind="stable")
    candidate = order[np.minimum(np.searchsorted(keys[order], given), len(keys) - 1)]
    same = np.flatnonzero(keys[candidate] == given)
    equal = same[(known[:, candidate[same]] == labels[:, same]).all(axis=0)]
    found[equal] = candidate[equal]
    return found


def can_be_read_in_place(labels: AnyIntArray) -> bool:
    """Tell whether the core can read labels (T, r) where they are."""
    return labels.dtype in (np.int8, np.int16, np.int32) and labels.flags.c_contiguous and labels.flags.aligned


def label_blocks(labels: AnyIntArray) -> Iterator[tuple[slice, IntArray]]:
    """Go through the rows of labels (T, r) in blocks, as int32."""
    for start in range(0, labels.shape[1], PLACED_ROWS):
        where = slice(start, start + PLACED_ROWS)
        yield where, np.ascontiguousarray(labels[:, where], dtype=np.int32)


def coassociate(backend: Backend, a: IntArray, b: IntArray) -> FloatArray:
    """Compute P: the share of partitions in which two rows are together, among those in which both are clustered.

    A label below zero means "not clustered". P is 0 where no partition clusters both rows.
    """
    counts = np.arange(len(a) + 1, dtype=np.float64)
    check_memory(
        8 * a.shape[1] * b.shape[1],
        f"A {a.shape[1]} by {b.shape[1]} co-association matrix",
        "Ask for fewer rows or columns at a time.",
    )
    if not _has_missing_labels(a, b):
        return backend.coassociate(a, b, counts / len(a))
    together = backend.coassociate(a, b, counts)
    both = backend.coassociate(np.where(a < 0, a, 0), np.where(b < 0, b, 0), counts)
    return np.divide(together, both, out=np.zeros_like(together), where=both > 0)


def _has_missing_labels(*labels: IntArray) -> bool:
    """Say whether some row is not clustered in some partition."""
    return any(some.min(initial=0) < 0 for some in labels)


def check_pairs(signatures: Signatures, instead: str = "Use fewer rows.") -> None:
    """Refuse if there is no room for a matrix over pairs of signatures."""
    m = len(signatures)
    check_memory(
        3 * 8 * m * m,  # P or W, the parts of it that recursive cuts copy, and a spare
        f"The consensus graph of {m} different rows of labels",
        instead,
    )


def regularise(P: FloatArray, threshold: float | str, scale: float) -> FloatArray:
    """Set entries of P below `threshold` (beta_2) to 0, then take exp(scale * P) of every entry (beta_1).

    With the threshold "auto", take exp(scale * P) - 1: every share counts, and rows never together have no link.
    As the scale goes to 0 this is proportional to P.
    """
    if isinstance(threshold, str):
        return expm1(scale * P) if scale > NO_SCALE else P
    if scale <= NO_SCALE:
        raise ValueError(
            f"affinity_scale={scale:g} with affinity_threshold={threshold:g} makes all links of the "
            "graph equal. Raise affinity_scale, or pass affinity_threshold='auto'."
        )
    return exp(scale * np.where(threshold > P, 0.0, P))


def affinity(
    backend: Backend,
    signatures: Signatures,
    threshold: float | str,
    scale: float,
    limits: GraphLimits = LIMITS,
) -> FloatArray | Affinity:
    """Compute W between signatures: a matrix, or an operator if there are many."""
    if signatures.inside is not None:
        W = affinity(backend, replace(signatures, inside=None), threshold, scale, limits)
        return with_diagonal(W, signatures.inside.weights(threshold, scale))
    labels = signatures.labels
    many = len(signatures) > limits.matrix_nodes
    if not _has_missing_labels(labels):
        table = weight_table(len(labels), threshold, scale)
        if many:
            return MatchCountAffinity(backend, labels, table, limits)
        return backend.coassociate(labels, labels, table)
    if many and len(labels) <= limits.most_with_missing_labels:
        return MatchCountAffinity(backend, labels, share_table(len(labels), threshold, scale), limits)
    check_pairs(
        signatures,
        f"Use fewer rows, or at most {limits.most_with_missing_labels} partitions if rows may have no label.",
    )
    return regularise(coassociate(backend, labels, labels), threshold, scale)


def link_weights(backend: Backend, a: IntArray, b: IntArray, threshold: float | str, scale: float) -> FloatArray:
    """Compute W between two sets of rows of labels."""
    if _has_missing_labels(a, b):
        return regularise(coassociate(backend, a, b), threshold, scale)
    return backend.coassociate(a, b, weight_table(len(a), threshold, scale))


def weight_table(n_partitions: int, threshold: float | str, scale: float) -> FloatArray:
    """Tabulate W for each number of matches."""
    return regularise(np.arange(n_partitions + 1) / n_partitions, threshold, scale)


def share_table(n_partitions: int, threshold: float | str, scale: float) -> FloatArray:
    """Tabulate W for each number of partitions that cluster two rows, and of those that put them together."""
    both, together = np.divmod(np.arange((n_partitions + 1) ** 2, dtype=np.float64), n_partitions + 1)
    shares = np.divide(together, both, out=np.zeros_like(both), where=(both > 0) & (together <= both))
    return regularise(shares, threshold, scale)


def affinity_scale_for(scale: float | str, n_partitions: int) -> float:
    """Choose beta_1. The paper has 10 for 100 partitions, a tenth of their number.

    It does not grow beyond 10: P does not grow with the number of partitions, and beyond about 36 / (1 - P) the weight
    of a pair is lost in the rounding of the diagonal.
    """
    return min(0.1 * n_partitions, 10.0) if scale == "auto" else float(scale)


# The consensus graph, with weighted nodes, and its normalised operator.
#
# Nodes are signatures: one of weight w stands for w rows. Vectors are rows of arrays.

DEGREE_EXPONENT = 0.5


class Graph:
    """A graph of weighted nodes. W is a matrix or an operator."""

    def __init__(
        self, backend: Backend, W: FloatArray | Affinity, weights: FloatArray, limits: GraphLimits = LIMITS
    ) -> None:
        self.backend = backend
        self.affinity: Affinity = AffinityMatrix(backend, W) if isinstance(W, np.ndarray) else W
        self.weights = weights
        self.limits = limits
        self.degrees = self.affinity.multiply(weights[None, :])[0]
        self.scale = np.sqrt(weights / self.degrees)
        first = np.sqrt(weights * self.degrees)
        self.first = first / np.linalg.norm(first)  # the known eigenvector of `apply`, with eigenvalue 1

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def W(self) -> FloatArray:
        """W as a matrix, written out if it is an operator."""
        if isinstance(self.affinity, AffinityMatrix):
            return self.affinity.W
        every = np.arange(len(self))
        return self.affinity.between(every, every)

    def degree_corrected(self) -> "Graph":
        """Take the graph in which a node counts less, the more it is linked, so that dense parts do not stand out.

        It is that of W_ij / (d_i d_j)^DEGREE_EXPONENT for the degrees d. With 1, it would not see where rows are dense.
        """
        return Graph(self.backend, self.affinity, self.weights / self.degrees**DEGREE_EXPONENT, self.limits)

    def part(self, nodes: IndexArray) -> "Graph":
        """Take the graph of some nodes."""
        return Graph(self.backend, self.affinity.part(nodes), self.weights[nodes], self.limits)

    def apply(self, vectors: FloatArray) -> FloatArray:
        """Multiply S W S with vectors, where S = sqrt(weights / degrees)."""
        products: FloatArray = self.scale * self.affinity.multiply(self.scale * vectors)
        return products

    def apply_deflated(self, vectors: FloatArray) -> FloatArray:
        """Multiply S W S, its known eigenvector taken out, with vectors."""
        rest: FloatArray = self.apply(vectors) - (vectors @ self.first)[:, None] * self.first
        return rest

    def deflated(self) -> FloatArray:
        """Write out S W S as a matrix, its known eigenvector taken out."""
        dense: FloatArray = self.scale[:, None] * self.W * self.scale[None, :]
        return dense - np.outer(self.first, self.first)

    def ncut(self, right: BoolArray) -> float:
        """Compute cut / volume of the one side + cut / volume of the other."""
        volume = self.weights * self.degrees
        to_right = self.affinity.multiply((self.weights * right)[None, :])[0]
        cut = float((self.weights * to_right)[~right].sum())
        return cut / float(volume[right].sum()) + cut / float(volume[~right].sum())
