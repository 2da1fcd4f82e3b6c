"""W between the nodes of a graph: a matrix while that is small, otherwise an operator."""

from typing import Protocol

import numpy as np

from clusterforests._base.memory_limits import check_memory
from clusterforests._base.typing import FloatArray, IndexArray, IntArray
from clusterforests.backends import Backend
from clusterforests.combining.settings import LIMITS, GraphLimits


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

    def part(self, members: IndexArray) -> "Affinity":
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

    def part(self, members: IndexArray) -> "AffinityMatrix":
        return AffinityMatrix(self.backend, self.between(members, members))


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
        members = len(a)
        if len(self.table) == members + 1:
            return self.backend.coassociate(a, b, self.table)
        counts = np.arange(members + 1, dtype=np.float64)
        together = self.backend.coassociate(a, b, counts)
        both = self.backend.coassociate(np.where(a < 0, a, 0), np.where(b < 0, b, 0), counts * (members + 1))
        return self.table[(both + together).astype(np.intp)]

    def multiply_columns(self, columns: IndexArray, vectors: FloatArray) -> FloatArray:
        return self.backend.matches(self.labels[:, columns], self.table).multiply(self.labels, vectors)

    def part(self, members: IndexArray) -> Affinity:
        if len(members) <= self.limits.matrix_part:
            return AffinityMatrix(self.backend, self.between(members, members))
        return MatchCountAffinity(self.backend, self.labels[:, members], self.table, self.limits)


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

    def part(self, members: IndexArray) -> Affinity:
        part = self.plain.part(members)
        if isinstance(part, AffinityMatrix):
            np.fill_diagonal(part.W, self.diagonal[members])
            return part
        return AffinityWithDiagonal(part, self.diagonal[members])


def with_diagonal(W: FloatArray | Affinity, diagonal: FloatArray) -> FloatArray | Affinity:
    """Replace the diagonal of W: in place if it is a matrix."""
    if not isinstance(W, np.ndarray):
        return AffinityWithDiagonal(W, diagonal)
    np.fill_diagonal(W, diagonal)
    return W
