"""W between rows of labels as an operator of the C++ core."""

import numpy as np

from clusterforests import _core
from clusterforests._utils.arrays import FloatArray, IntArray

SAMPLE = 128  # rows from which the room for all is estimated


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
