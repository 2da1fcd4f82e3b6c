"""A table in memory with named columns of numbers or categories: what files are read into, without pandas."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._base.typing import AnyArray, FloatArray, IntArray
from clusterforests.tables.column_reading import ColumnReading


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories: for each row the number of its level, -1 where the cell is missing."""

    codes: IntArray
    levels: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def cells(self) -> AnyArray:
        """Return the level of each row, None where the cell is missing."""
        known = np.empty(len(self.levels) + 1, dtype=object)
        known[: len(self.levels)] = self.levels
        known[-1] = None
        cells: AnyArray = known[self.codes]
        return cells


class ColumnTable:
    """Named columns, each an array of float64 (NaN where a cell is missing) or a `CategoryColumn`; `fit` takes it as X.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    cells : sequence of ndarray or CategoryColumn
        The columns, all of one length.
    readings : sequence of ColumnReading, default=()
        How they were read, and the columns that were left out.
    """

    def __init__(
        self,
        names: Sequence[str],
        cells: Sequence[FloatArray | CategoryColumn],
        readings: Sequence[ColumnReading] = (),
    ) -> None:
        self.columns = list(names)
        self.cells = list(cells)
        self.readings = tuple(readings)
        self.shape = (len(self.cells[0]) if self.cells else 0, len(self.cells))

    def __len__(self) -> int:
        return self.shape[0]

    def slice(self, start: int, count: int) -> "ColumnTable":
        """Return `count` rows from `start` on."""
        rows = slice(start, start + count)
        cells = [c[rows] if isinstance(c, np.ndarray) else CategoryColumn(c.codes[rows], c.levels) for c in self.cells]
        return ColumnTable(self.columns, cells, self.readings)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        numeric = all(isinstance(cells, np.ndarray) for cells in self.cells)
        array = np.empty(self.shape, dtype=np.float64 if numeric else object)
        for j, cells in enumerate(self.cells):
            array[:, j] = cells if isinstance(cells, np.ndarray) else cells.cells()
        return array if dtype is None else array.astype(dtype)
