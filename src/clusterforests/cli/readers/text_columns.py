"""The columns of a text file as they are read, a block of rows at a time.

What a column holds is decided when all of it was seen. Until then, blocks of plain numbers are kept as numbers, and
other blocks as they are written, in one string each.
"""

import re
from array import array
from collections.abc import Sequence

import numpy as np

from clusterforests._base.typing import FloatArray
from clusterforests.tables.column_table import CategoryColumn
from clusterforests.tables.missing_marks import is_missing_text
from clusterforests.tables.raw_columns import number_texts, plain_number, shorten, text_column

EXACT = 2.0**53  # float64 holds all integers up to it
BREAK = "\0"  # no cell has it: files with zero bytes are refused

# A number that shows that its point is a decimal one: 1.234 may be German for 1234.
_DECIMAL_POINT = re.compile(r"(?:^|\0)\s*[+-]?(?:0?\.\d|\d+\.\d{0,2}\s*(?:\0|$)|\d{4,}\.\d|\d+\.\d{4,}|\d*\.\d*[eE])")
_PADDED = re.compile(r"(?:^|\0)\s*[+-]?0\d")  # a code, such as a postal code


def shown(cell: str) -> str:
    """Quote a cell in a message, shortened if it is long."""
    return repr(shorten(cell))


class ColumnCollector:
    """Collects a column.

    Parameters
    ----------
    text : bool, default=False
        Keep every cell as it is written.
    verbatim : bool, default=False
        Keep every cell to the letter: spaces around it, and words that otherwise stand for a missing value.
    points : bool, default=True
        Whether decimal points are plain; if not, numbers that have one are kept as they are written.
    """

    def __init__(self, *, text: bool = False, verbatim: bool = False, points: bool = True) -> None:
        self._text = text or verbatim
        self._verbatim = verbatim
        self._points = points
        self._shows_points = False
        self._blocks: list[array[float] | str] = []

    def add(self, cells: Sequence[str]) -> None:
        """Take the cells of the next block."""
        numbers = None if self._text else self._plain_numbers(cells)
        self._blocks.append(BREAK.join(cells) if numbers is None else numbers)

    def finish(self) -> FloatArray | CategoryColumn:
        """Return the whole column: numbers if all cells are plain ones or missing, otherwise the texts."""
        numbers = [np.frombuffer(block) for block in self._blocks if not isinstance(block, str)]
        if len(numbers) == len(self._blocks):
            return np.concatenate([np.empty(0), *numbers])
        cells: list[str] = []
        for block in self._blocks:
            cells += block.split(BREAK) if isinstance(block, str) else map(_as_text, block)
        return number_texts(cells) if self._verbatim else text_column(cells, is_missing_text)

    def _plain_numbers(self, cells: Sequence[str]) -> "array[float] | None":
        """Read cells that nobody could read in another way; None if any could be."""
        try:
            numbers = array("d", map(float, cells))
        except ValueError:
            try:
                numbers = array("d", [np.nan if is_missing_text(cell) else float(cell) for cell in cells])
            except ValueError:
                return None
        joined = BREAK.join(cells)
        if "." in joined and not self._shows_points:
            self._shows_points = self._points and _DECIMAL_POINT.search(joined) is not None
            if not self._shows_points:
                return None
        small = np.nanmax(np.abs(np.frombuffer(numbers)), initial=0.0) < EXACT
        return numbers if small and "_" not in joined and _PADDED.search(joined) is None else None


def _as_text(value: float) -> str:
    return "" if value != value else plain_number(value)
