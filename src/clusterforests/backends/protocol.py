"""What a back end computes, and the values that go in and come out."""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol

import numpy as np

from clusterforests import _core
from clusterforests._utils.arrays import BoolArray, FloatArray, Int64Array, IntArray, KeyArray

# Rows from which the room for the match counts of all is estimated.
SAMPLE = 128


class Effort(IntEnum):
    """What follows the random starts of a K-means."""

    QUICK = 0  # a pass of single-row moves
    POLISHED = 1  # passes until no single row's move lowers the sum of squares
    IMPROVED = 2  # before these, attempts to improve the best start by moving one centre elsewhere


class KMeansJobs(NamedTuple):
    """K-means problems over one table: features (repeats count as weight), clusters and seed of each."""

    features: Sequence[IntArray]
    clusters: IntArray
    seeds: KeyArray
    n_init: int
    max_iter: int
    effort: Effort = Effort.POLISHED


class KMeansRuns(NamedTuple):
    """Solutions, one per job. `solved` is False where a job had fewer distinct rows than clusters.

    Centres are in the table's coordinates. Sums are in units of 4**exponent, which cancel in their ratios.
    """

    features: Sequence[IntArray]
    centers: Sequence[FloatArray]
    solved: BoolArray
    within: FloatArray
    between: FloatArray
    within_pairs: FloatArray
    between_pairs: FloatArray
    exponent: IntArray
    iterations: IntArray


class Coordinates(NamedTuple):
    """The coordinates of a loaded table, by column: value = (coordinate + origin) * 2**exponent, within 2**reach.

    Centres are in these coordinates, so with them they can be used without the table.
    """

    exponent: IntArray
    origin: FloatArray
    reach: IntArray

    def spread(self, used: IntArray, width: int) -> "Coordinates":
        """Return coordinates of so many columns, of which these are the used ones; the others are never asked for."""
        every = Coordinates(np.zeros(width, np.int32), np.zeros(width), np.full(width, _core.CONSTANT_REACH, np.int32))
        every.exponent[used], every.origin[used], every.reach[used] = self
        return every


class LoadedTable(NamedTuple):
    """What a back end says of the table that it took."""

    n_distinct: int  # different rows
    coordinates: Coordinates
    weight_exponent: int  # weights were divided by 2**weight_exponent


class MatchOperator:
    """Multiplies with W[i, j] = table[number of members in which row i and column j share a label].

    A table of (T + 1)^2 numbers, T at most 255, is over pairs of numbers: members in which both have a label (not below
    zero), times T + 1, and members in which they share it.

    The columns are packed once. What a row gives depends on no other row, nor on the threads.
    """

    def __init__(self, columns: IntArray, table: FloatArray, threads: int) -> None:
        self.columns = np.ascontiguousarray(columns)
        self.table = table
        self.threads = threads
        self._packed = _core.Matches(self.columns, table)

    def fits(self, most_bytes: int) -> bool:
        """Estimate whether `store` needs no more, from some rows where the counts of all pairs would need more."""
        m = int(self.columns.shape[1])
        if m * m * (1 if len(self.table) <= 256 else 2) <= most_bytes:
            return True
        sample = np.ascontiguousarray(self.columns[:, :: -(-m // SAMPLE)])
        self._packed.store(sample, self.threads)
        needed = int(self._packed.stored_bytes) * m // int(sample.shape[1])
        self.release()
        return needed <= most_bytes

    def store(self) -> None:
        """Keep the match counts of the columns with each other for `multiply_stored`."""
        self._packed.store(self.columns, self.threads)

    def release(self) -> None:
        """Forget what `store` kept."""
        self._packed.store(self.columns[:, :0].copy(), 1)

    def multiply_stored(self, vectors: FloatArray) -> FloatArray:
        """Do what `multiply` does with the columns themselves, but faster, from what `store` kept."""
        return self._packed.multiply(None, np.ascontiguousarray(vectors), self.threads)

    def multiply(self, rows: IntArray, vectors: FloatArray) -> FloatArray:
        """Multiply W with vectors, which are the rows of `vectors`; the products are rows."""
        return self._packed.multiply(np.ascontiguousarray(rows), np.ascontiguousarray(vectors), self.threads)


class Backend(Protocol):
    """Where the computing is done. A stage is given one; it knows nothing of stages."""

    threads: int

    def load(
        self,
        X: FloatArray,
        weights: FloatArray | None = None,
        keyed: int | None = None,
        keys: KeyArray | None = None,
    ) -> LoadedTable:
        """Take the table that `kmeans` and `assign` work on.

        Its rows are put in an order by their first `keyed` columns; None means all. The others must follow from these.
        Or by `keys`, if X has only some columns of a table whose rows have these.
        """

    def kmeans(self, jobs: KMeansJobs) -> KMeansRuns:
        """Solve many K-means problems over the loaded table."""

    def assign(
        self,
        features: Sequence[IntArray],
        centers: Sequence[FloatArray],
        X: FloatArray | None = None,
        coordinates: Coordinates | None = None,
    ) -> IntArray:
        """Find the nearest centre in each clustering of each row: labels (T, n).

        The rows are those of the loaded table, or of X in the same columns. `coordinates` are those of the centres, if
        these come from another table than the loaded one. What a row gets does not depend on the other rows.
        """

    def coassociate(self, a: IntArray, b: IntArray, table: FloatArray) -> FloatArray:
        """Look up table[number of members in which row i of `a` and row j of `b` share a label]."""

    def most_matched(self, a: IntArray, b: IntArray) -> tuple[Int64Array, IntArray]:
        """Find for each row of `a` the row of `b` with which it shares the most labels, the first on ties; how many."""

    def matches(self, columns: IntArray, table: FloatArray) -> MatchOperator:
        """Make the same an operator: products with it, without a number for each pair."""

    def multiply(self, matrix: FloatArray, vectors: FloatArray) -> FloatArray:
        """Multiply a matrix with vectors, which are the rows of `vectors`; the products are rows."""
