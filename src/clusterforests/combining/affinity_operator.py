"""W between the nodes of a graph: a matrix while that is small, beyond that an operator."""

from typing import Protocol

import numpy as np

from clusterforests._base.memory_limits import check_memory
from clusterforests._base.typing import FloatArray, IndexArray, IntArray
from clusterforests.backends import Backend

DENSE_NODES = 5000  # signatures up to which W is a matrix
DENSE_PART = 2000  # nodes up to which a part of an operator is
STORED_BYTES = 6 * 10**8  # room for match counts; where they need more they are counted anew at each product


class Pairs(Protocol):
    """W, symmetric."""

    dense: bool
    block: int  # vectors that are best multiplied at once in an iteration

    def __len__(self) -> int: ...

    def multiply(self, vectors: FloatArray) -> FloatArray:
        """Products with vectors, which are rows, as rows."""

    def between(self, rows: IndexArray, columns: IndexArray) -> FloatArray:
        """Some of W as a matrix."""

    def spread(self, columns: IndexArray, vectors: FloatArray) -> FloatArray:
        """Products of some columns of W with vectors over these."""

    def release(self) -> None:
        """Give back memory that can be filled again."""

    def part(self, members: IndexArray) -> "Pairs":
        """W between some nodes."""


class Dense:
    """W as a matrix."""

    dense = True
    block = 1

    def __init__(self, backend: Backend, W: FloatArray) -> None:
        self.backend = backend
        self.W = W

    def __len__(self) -> int:
        return len(self.W)

    def multiply(self, vectors: FloatArray) -> FloatArray:
        return self.backend.multiply(self.W, vectors)

    def between(self, rows: IndexArray, columns: IndexArray) -> FloatArray:
        return self.W[np.ix_(rows, columns)]

    def spread(self, columns: IndexArray, vectors: FloatArray) -> FloatArray:
        return self.backend.multiply(np.ascontiguousarray(self.W[:, columns]), vectors)

    def release(self) -> None:
        """A matrix is all there is."""

    def part(self, members: IndexArray) -> "Dense":
        return Dense(self.backend, self.between(members, members))


class Matched:
    """W as a table over match counts, which are stored where there is room and else counted at each product.

    Where labels are missing the table is over pairs of counts: see `Matches`.
    """

    dense = False

    def __init__(self, backend: Backend, labels: IntArray, table: FloatArray) -> None:
        self.backend = backend
        self.labels = np.ascontiguousarray(labels)
        self.table = table
        self.matches = backend.matches(self.labels, table)
        self.fits = self.matches.fits(STORED_BYTES)
        self.block = 2 if self.fits else 4  # to count matches takes as long for any number of vectors
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

    def spread(self, columns: IndexArray, vectors: FloatArray) -> FloatArray:
        return self.backend.matches(self.labels[:, columns], self.table).multiply(self.labels, vectors)

    def part(self, members: IndexArray) -> "Pairs":
        if len(members) <= DENSE_PART:
            return Dense(self.backend, self.between(members, members))
        return Matched(self.backend, self.labels[:, members], self.table)


class Looped:
    """W with another diagonal."""

    dense = False

    def __init__(self, pairs: Pairs, diagonal: FloatArray) -> None:
        self.pairs = pairs
        self.diagonal = diagonal
        self.block = pairs.block
        one = np.arange(1)
        self._loops = diagonal - pairs.between(one, one)[0, 0]  # a signature with itself: the same for all

    def __len__(self) -> int:
        return len(self.diagonal)

    def multiply(self, vectors: FloatArray) -> FloatArray:
        product: FloatArray = self.pairs.multiply(vectors) + self._loops * vectors
        return product

    def between(self, rows: IndexArray, columns: IndexArray) -> FloatArray:
        W = self.pairs.between(rows, columns)
        W += np.where(rows[:, None] == columns, self._loops[rows][:, None], 0.0)
        return W

    def spread(self, columns: IndexArray, vectors: FloatArray) -> FloatArray:
        product = self.pairs.spread(columns, vectors)
        product[:, columns] += self._loops[columns] * vectors
        return product

    def release(self) -> None:
        self.pairs.release()

    def part(self, members: IndexArray) -> "Pairs":
        part = self.pairs.part(members)
        if isinstance(part, Dense):
            np.fill_diagonal(part.W, self.diagonal[members])
            return part
        return Looped(part, self.diagonal[members])


def with_diagonal(W: FloatArray | Pairs, diagonal: FloatArray) -> FloatArray | Pairs:
    if not isinstance(W, np.ndarray):
        return Looped(W, diagonal)
    np.fill_diagonal(W, diagonal)
    return W
