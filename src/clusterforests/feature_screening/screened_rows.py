"""The rows by which features are screened: their columns are scaled when they are asked for."""

from dataclasses import dataclass, replace

import numpy as np

from clusterforests import _core
from clusterforests._utils.arrays import (
    AnyArray,
    AnyIntArray,
    FloatArray,
    IndexArray,
    IntArray,
    column_blocks,
    extend_keys,
)
from clusterforests.table.scaling import Scaling

# Scaled values that differ by less than its inverse are mostly one: rounding must not decide the order of rows.
RESOLUTION = 2.0**16


@dataclass(frozen=True)
class ScreenedRows:
    """Some rows of a table; their columns are (x / 2**exponent - shift) / divisor - center."""

    values: AnyArray  # (n, C): the encoded table
    rows: IndexArray
    exponent: IntArray  # (C,), as the three below
    shift: FloatArray
    divisor: FloatArray
    center: FloatArray
    threads: int = 1

    @classmethod
    def of(cls, values: AnyArray, scaling: Scaling, rows: IndexArray, threads: int) -> "ScreenedRows":
        """Take rows of a table in the first view of a scaling."""
        first, count = scaling.first_view, values.shape[1]
        # A rank depends on more than its cell, so ranks are computed at once.
        if first.ranked.any():
            return cls.plain(np.ascontiguousarray(first.apply(values[rows], threads)[:, :count]), threads)
        if not len(first.exponent):
            return replace(cls.plain(values, threads), rows=rows)
        return cls(values, rows, first.exponent[0], first.shift[0], first.divisor[0], np.zeros(count), threads)

    @classmethod
    def plain(cls, values: AnyArray, threads: int = 1) -> "ScreenedRows":
        """Take all rows of a table as they are."""
        count = values.shape[1]
        steps = np.zeros(count, np.int32), np.zeros(count), np.ones(count), np.zeros(count)
        return cls(values, np.arange(len(values)), *steps, threads)

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, columns: AnyIntArray, rows: slice = slice(None)) -> FloatArray:
        """Scale some columns of all rows, or of some: (rows, columns), in Fortran's order."""
        chosen = np.ascontiguousarray(columns, dtype=np.int32)
        steps = self.exponent, self.shift, self.divisor, self.center
        return _core.take_columns(self.values, self.rows[rows], chosen, *steps, self.threads).T

    def blocks(self, columns: IntArray) -> list[IntArray]:
        """Split columns into blocks that are taken at a time."""
        return [columns[some] for some in column_blocks(len(self), len(columns))]

    def in_order(self, columns: IntArray) -> "ScreenedRows":
        """Put the rows in an order that neither their units nor their first order nor a last digit changes."""
        keys = np.zeros(len(self), dtype=np.uint64)
        for some in self.blocks(columns):
            X = self.take(some)
            exponents = np.frexp(np.maximum(X.max(axis=0), -X.min(axis=0)))[1]
            keys = extend_keys(keys, np.ascontiguousarray(np.rint(np.ldexp(X, -exponents) * RESOLUTION)))
        return replace(self, rows=self.rows[np.argsort(keys, kind="stable")])

    def centred(self, most_rows: int) -> "ScreenedRows":
        """Take the first rows, each column less its mean over them."""
        first = replace(self, rows=self.rows[:most_rows])
        every = np.arange(len(self.exponent), dtype=np.int32)
        means = [np.ascontiguousarray(first.take(some)).mean(axis=0) for some in first.blocks(every)]
        return replace(first, center=np.concatenate(means))
