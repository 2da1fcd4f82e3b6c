"""Large tables: read a block of rows at a time, whatever holds them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from clusterforests import _core
from clusterforests._base.size_limits import DEFAULT_LIMITS, SizeLimits
from clusterforests._base.typing import BoolArray, FloatArray, IndexArray, IntArray, KeyArray
from clusterforests.tables.feature_columns import EncodedTable
from clusterforests.tables.row_sources import ArraySource, RowSource


def read_blocks(source: RowSource, limits: SizeLimits = DEFAULT_LIMITS) -> Iterator[tuple[int, FloatArray]]:
    """Yield each block's first row number and its rows. How many rows a block has changes no result."""
    n, columns = source.shape
    step = limits.block_rows(columns)
    for start in range(0, n, step):
        yield start, source.block(start, min(n, start + step))


@dataclass(frozen=True)
class TableScan:
    """A hash of each row, and the smallest and largest value of each column: NaN where the column has a NaN."""

    keys: KeyArray
    low: FloatArray
    high: FloatArray


def scan_table(source: RowSource, threads: int = 1, limits: SizeLimits = DEFAULT_LIMITS) -> TableScan:
    """Read all rows once. The keys are those of `row_keys`: they depend on the values, not on what holds them."""
    keys = np.empty(source.shape[0], dtype=np.uint64)
    low, high = np.full(source.shape[1], np.inf), np.full(source.shape[1], -np.inf)
    for start, values in read_blocks(source, limits):
        keys[start : start + len(values)], least, most = _core.scan_rows(values, threads)
        low, high = np.minimum(low, least), np.maximum(high, most)
    return TableScan(keys, low, high)


def hash_rows(source: RowSource, threads: int = 1) -> KeyArray:
    """Read all rows once, for their keys alone."""
    keys = np.empty(source.shape[0], dtype=np.uint64)
    for start, values in read_blocks(source):
        keys[start : start + len(values)] = _core.hash_rows(values, threads)
    return keys


@dataclass(frozen=True)
class LargeTable:
    """An `EncodedTable` whose values are read from a source when they are needed."""

    source: RowSource
    scan: TableScan
    first: IntArray
    widths: IntArray
    categorical: BoolArray

    def rows(self, chosen: IndexArray) -> EncodedTable:
        """Read some rows into memory."""
        return EncodedTable(self.source.take(chosen), self.first, self.widths, self.categorical)


def large_numeric_table(source: RowSource, scan: TableScan) -> LargeTable:
    """Take every column as a numeric feature."""
    p = source.shape[1]
    return LargeTable(source, scan, np.arange(p, dtype=np.int32), np.ones(p, np.int32), np.zeros(p, bool))


def large_encoded_table(encoded: EncodedTable, threads: int = 1, limits: SizeLimits = DEFAULT_LIMITS) -> LargeTable:
    """Take a table that categories or missing cells have made an array."""
    source = ArraySource(encoded.values)
    return LargeTable(source, scan_table(source, threads, limits), encoded.first, encoded.widths, encoded.categorical)
