"""The rows that are searched for features that tell, in the first view: columns are scaled when they are asked for."""

from dataclasses import dataclass, replace

import numpy as np

from clusterforests._base.column_blocks import column_blocks
from clusterforests._base.row_keys import extend_keys
from clusterforests._base.typing import AnyArray, AnyIntArray, FloatArray, IndexArray, IntArray
from clusterforests.tables.scaling import Scaling
from clusterforests.tables.taken_columns import CellSteps

SAME = 2.0**16  # scaled values that differ by less than its inverse are mostly one


@dataclass(frozen=True)
class SearchedRows:
    """Rows of a table of which only the columns at hand are scaled: (x / 2**exponent - shift) / divisor - center."""

    values: AnyArray  # (n, C)
    rows: IndexArray
    exponent: IntArray  # (C,), as the three below
    shift: FloatArray
    divisor: FloatArray
    center: FloatArray
    threads: int = 1

    @classmethod
    def of(cls, values: AnyArray, scaling: Scaling, rows: IndexArray, threads: int) -> "SearchedRows":
        """Take rows of a table; ranks, which depend on more than the cell, are computed at once."""
        first, count = scaling.first_view, values.shape[1]
        if first.ranked.any():
            ranked = first.apply(values[rows], threads)[:, :count]
            return cls.plain(np.ascontiguousarray(ranked), threads)
        if not len(first.exponent):
            return replace(cls.plain(values, threads), rows=rows)
        return cls(values, rows, first.exponent[0], first.shift[0], first.divisor[0], np.zeros(count), threads)

    @classmethod
    def plain(cls, values: AnyArray, threads: int = 1) -> "SearchedRows":
        """Take all rows of a table as they are."""
        count = values.shape[1]
        steps = np.zeros(count, np.int32), np.zeros(count), np.ones(count), np.zeros(count)
        return cls(values, np.arange(len(values)), *steps, threads)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_columns(self) -> int:
        return len(self.exponent)

    def take(self, columns: AnyIntArray, rows: slice = slice(None)) -> FloatArray:
        """Scale some columns of all rows, or of some: (rows, columns), in Fortran's order."""
        steps = CellSteps(self.exponent, self.shift, self.divisor, self.center)
        return steps.take(self.values, self.rows[rows], columns, self.threads)

    def blocks(self, columns: IntArray) -> list[IntArray]:
        """Split columns into blocks that are taken at a time."""
        return [columns[some] for some in column_blocks(len(self), len(columns))]

    def in_order(self, columns: IntArray) -> "SearchedRows":
        """Put the rows in an order that neither their units nor their first order nor a last digit changes."""
        keys = np.zeros(len(self), dtype=np.uint64)
        for some in self.blocks(columns):
            X = self.take(some)
            exponents = np.frexp(np.maximum(X.max(axis=0), -X.min(axis=0)))[1]
            keys = extend_keys(keys, np.ascontiguousarray(np.rint(np.ldexp(X, -exponents) * SAME)))
        return replace(self, rows=self.rows[np.argsort(keys, kind="stable")])

    def centred(self, most_rows: int) -> "SearchedRows":
        """Take the first rows, each column less its mean over them."""
        first = replace(self, rows=self.rows[:most_rows])
        every = np.arange(self.n_columns, dtype=np.int32)
        means = [np.ascontiguousarray(first.take(some)).mean(axis=0) for some in first.blocks(every)]
        return replace(first, center=np.concatenate(means))
