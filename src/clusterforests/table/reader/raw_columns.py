"""Columns as a file or a frame has them, before anyone knows what they mean."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._utils.arrays import AnyArray, BoolArray, FloatArray, IntArray
from clusterforests.table.reader.column_reading import ColumnReading
from clusterforests.table.reader.numbers import untyped

# A table in memory with named columns of numbers or categories: what files are read into, without pandas.


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


SHOWN = 40  # characters of a cell in a message
EXAMPLES = 3
MEASURED = "measured"


@dataclass(frozen=True)
class RawColumn:
    """A named column: float64 with NaN for missing cells, or the number of each cell's text among the different ones.

    `declared` is the kind that the column's type states in a frame: "number", "yes/no", "category", "ordered" (its
    levels are in order) or "date" (its numbers are days); "" where anything may be behind text. Numbers that are
    "measured" are quantities whatever the column's name is. `truths` marks the cells that are true or false among
    numbers, where they are 1 and 0; None if there is none.
    """

    name: str
    cells: FloatArray | CategoryColumn
    declared: str = ""
    truths: BoolArray | None = None

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def is_text(self) -> bool:
        return isinstance(self.cells, CategoryColumn)

    def examples(self) -> tuple[str, ...]:
        """Return some cells as they are written."""
        if isinstance(self.cells, CategoryColumn):
            return tuple(shown(str(level)) for level in self.cells.levels[:EXAMPLES])
        known = self.cells[~np.isnan(self.cells)][: 10 * EXAMPLES]
        return tuple(plain_number(value) for value in list(dict.fromkeys(known.tolist()))[:EXAMPLES])


@dataclass(frozen=True)
class DistinctTexts:
    """The different texts of a column, and how many rows have each."""

    texts: tuple[str, ...]
    counts: AnyArray

    @property
    def n_rows(self) -> int:
        return int(self.counts.sum())

    def __len__(self) -> int:
        return len(self.texts)

    def without(self, left_out: BoolArray) -> "DistinctTexts":
        """Return the others."""
        kept = ~left_out
        return DistinctTexts(
            tuple(text for text, keep in zip(self.texts, kept, strict=True) if keep), self.counts[kept]
        )

    def share(self, chosen: BoolArray) -> float:
        """Return the share of rows that have one of these texts."""
        return float(self.counts[chosen].sum()) / max(1, self.n_rows)

    def by_frequency(self) -> list[str]:
        """Return the texts, the most frequent first, and those of one frequency by the alphabet."""
        order = sorted(range(len(self)), key=lambda i: (-self.counts[i], self.texts[i]))
        return [self.texts[i] for i in order]


def distinct_texts(cells: CategoryColumn) -> DistinctTexts:
    """Count the texts of a column."""
    counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.levels))
    return DistinctTexts(tuple(map(str, cells.levels)), counts)


def number_texts(cells: Sequence[str]) -> CategoryColumn:
    """Number the different texts of a column as they are; none is missing."""
    levels = {text: code for code, text in enumerate(dict.fromkeys(cells))}
    return CategoryColumn(np.fromiter(map(levels.__getitem__, cells), np.int32, len(cells)), tuple(levels))


def text_column(cells: Sequence[Any], missing: Any) -> CategoryColumn:
    """Number the different texts of a column, without spaces around them; `missing` tells which cells are missing."""
    seen: dict[Any, int] = {}
    levels: dict[Any, int] = {}
    for cell in dict.fromkeys(cells):
        text = cell.strip() if isinstance(cell, str) else cell
        seen[cell] = -1 if missing(text) else levels.setdefault(text, len(levels))
    return CategoryColumn(np.fromiter(map(seen.__getitem__, cells), np.int32, len(cells)), tuple(levels))


def plain_number(value: float) -> str:
    """Write a number as a file would: 80331 rather than 80331.0."""
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def shorten(text: str) -> str:
    """Cut a long cell."""
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def shown(cell: str) -> str:
    """Show a cell in a message: as its file has it, and cut if it is long."""
    return shorten(untyped(cell))


def quoted(texts: Sequence[str], most: int = 3) -> str:
    """List cells in a message."""
    return ", ".join(repr(shown(text)) for text in texts[:most]) + (", ..." if len(texts) > most else "")


def first_rows(cells: CategoryColumn, chosen: BoolArray) -> Iterator[int]:
    """Yield the row numbers of the cells whose text is chosen, ascending."""
    marked = np.append(chosen, False)
    yield from np.flatnonzero(marked[cells.codes]).tolist()
