"""W between rows of labels as an operator of the C++ core."""

import numpy as np
import numpy.typing as npt

from clusterforests import _core

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]

SAMPLE = 128  # rows from which the room for all is estimated


class Matches:
    """Products with W[i, j] = table[number of members in which row i and column j share a label].

    The columns are packed once. What a row gives depends on no other row, nor on the threads.
    """

    def __init__(self, columns: IntArray, table: FloatArray, threads: int) -> None:
        self.columns = np.ascontiguousarray(columns)
        self.table = table
        self.threads = threads
        self._packed = _core.Matches(self.columns, table)

    def store(self, most_bytes: int) -> bool:
        """Keep the match counts of the columns with each other if they fit: `multiply` is then faster, and the same."""
        m = self.columns.shape[1]
        if m * m * (1 + (len(self.table) > 256)) > most_bytes:
            sample = np.ascontiguousarray(self.columns[:, :: -(-m // SAMPLE)])
            self._packed.store(sample, self.threads)
            if self._packed.stored_bytes / sample.shape[1] * m > most_bytes:
                self._packed.store(self.columns[:, :0].copy(), 1)
                return False
        self._packed.store(self.columns, self.threads)
        return True

    def multiply_stored(self, vectors: FloatArray) -> FloatArray:
        """`multiply` of the columns themselves, from what `store` kept."""
        return self._packed.multiply(None, np.ascontiguousarray(vectors), self.threads)

    def multiply(self, rows: IntArray, vectors: FloatArray) -> FloatArray:
        """The products of W with vectors, which are the rows of `vectors`, as rows."""
        return self._packed.multiply(np.ascontiguousarray(rows), np.ascontiguousarray(vectors), self.threads)
