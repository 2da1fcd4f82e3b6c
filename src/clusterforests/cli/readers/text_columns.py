"""The columns of a text file as they are read, a block of rows at a time: numbers, or text as categories."""

import re
from array import array
from collections.abc import Sequence

import numpy as np

from clusterforests._base.typing import FloatArray
from clusterforests.tables.column_table import CategoryColumn

LineNumbers = Sequence[int]

MISSING = frozenset(("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?"))
EXACT = 2.0**53  # float64 holds all integers up to it
SHOWN = 40  # characters of a cell in a message

_WITH_COMMA = re.compile(r"[+-]?(\d{1,3}(,\d{3})+(\.\d+)?|\d+,\d+)([eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")


class ColumnPlace:
    """Where a column is, for messages."""

    def __init__(self, file: str, column: str) -> None:
        self.file = file
        self.column = column

    def error(self, text: str, line: int | None = None) -> ValueError:
        where = "" if line is None else f"line {line}, "
        return ValueError(f"{self.file}, {where}column {shown(self.column)}: {text}")


def shown(cell: str) -> str:
    """Quote a cell in a message, shortened if it is long."""
    return repr(cell if len(cell) <= SHOWN else cell[: SHOWN - 1] + "…")


def is_missing_text(cell: str) -> bool:
    """Say whether a cell stands for a missing value."""
    return cell in MISSING or cell.strip() in MISSING


def parse(cell: str, decimal: str = ".") -> float | None:
    """Read a number; None if the cell is not one. Unlike in Python, 1_000 is not."""
    if "_" in cell or (decimal == "," and "." in cell):
        return None
    try:
        return float(cell.replace(",", ".") if decimal == "," else cell)
    except ValueError:
        return None


def uses_decimal_comma(columns: Sequence[Sequence[str]]) -> bool:
    """Say whether numbers have decimal commas: some do, and none has a decimal point."""
    comma = False
    for cells in columns:
        for cell in cells:
            if "," in cell:
                comma = comma or _DECIMAL_COMMA.fullmatch(cell.strip()) is not None
            elif "." in cell and parse(cell) is not None:
                return False
    return comma


class ColumnCollector:
    """Collects a column. Its first block with known cells decides: it holds numbers if at least half of them are.

    A column of numbers must then hold nothing else, so that a typing error is found and not made a category.
    """

    def __init__(self, place: ColumnPlace, kind: str | None = None, decimal: str = ".") -> None:
        self.place = place
        self.kind = kind  # "number" or "text"; None until it is known
        self.decimal = decimal
        self._undecided = 0  # missing cells before anything else
        self._numbers = array("d")
        self._codes = array("i")
        self._levels: dict[str, int] = {}  # text -> code
        self._seen: dict[str, int] = {}  # cell as it is written -> code

    def add(self, cells: Sequence[str], lines: LineNumbers) -> None:
        """Take the cells of the next block, with their line numbers."""
        if self.kind is None:
            self.kind = self._decide(cells, lines)
            if self.kind is None:
                self._undecided += len(cells)
                return
        if self._undecided:
            self._numbers.extend([np.nan] * self._undecided if self.kind == "number" else [])
            self._codes.extend([-1] * self._undecided if self.kind == "text" else [])
            self._undecided = 0
        if self.kind == "number":
            self._add_numbers(cells, lines)
        else:
            self._add_text(cells)

    def finish(self) -> FloatArray | CategoryColumn:
        """Return the whole column; one without values is numeric."""
        if self.kind == "text":
            return CategoryColumn(np.array(self._codes, dtype=np.int32), tuple(self._levels))
        self._numbers.extend([np.nan] * self._undecided)
        return np.array(self._numbers, dtype=np.float64)

    def _decide(self, cells: Sequence[str], lines: LineNumbers) -> str | None:
        known = [i for i, cell in enumerate(cells) if not is_missing_text(cell)]
        if not known:
            return None
        numbers = sum(parse(cells[i], self.decimal) is not None for i in known)
        if 2 * numbers >= len(known):
            return "number"
        commas = [i for i in known if _WITH_COMMA.fullmatch(cells[i].strip())]
        if 2 * len(commas) >= len(known):
            raise self.place.error(self._not_a_number(cells[commas[0]]), lines[commas[0]])
        return "text"

    def _add_numbers(self, cells: Sequence[str], lines: LineNumbers) -> None:
        try:
            if self.decimal == ",":
                if "." in "".join(cells):
                    raise ValueError
                values = array("d", [float(cell.replace(",", ".")) for cell in cells])
            else:
                values = array("d", map(float, cells))
            if "_" in "".join(cells):
                raise ValueError
        except ValueError:  # some are missing or are not numbers
            values = array("d", [self._number(cell, line) for cell, line in zip(cells, lines, strict=True)])
        largest = np.abs(np.frombuffer(values))
        if not np.nanmax(largest, initial=0.0) < EXACT:
            self._check_size(cells, largest, lines)
        self._numbers.extend(values)

    def _number(self, cell: str, line: int) -> float:
        if is_missing_text(cell):
            return np.nan
        value = parse(cell, self.decimal)
        if value is None:
            raise self.place.error(self._not_a_number(cell), line)
        return value

    def _check_size(self, cells: Sequence[str], size: FloatArray, lines: LineNumbers) -> None:
        for i in np.flatnonzero(size >= EXACT).tolist():
            if np.isinf(size[i]):
                raise self.place.error(
                    f"{shown(cells[i])} is infinite or too large. Correct it, or leave the cell empty if it is "
                    "missing.",
                    lines[i],
                )
            if cells[i].strip().lstrip("+-").isdigit():
                raise self.place.error(
                    f"{shown(cells[i])} has too many digits to be kept exactly. If it is an identifier, pass --id or "
                    "--ignore with the column's name; otherwise write it like 1.5e20.",
                    lines[i],
                )

    def _not_a_number(self, cell: str) -> str:
        if self.decimal == "," and "." in cell:
            return f"{shown(cell)} has a decimal point where other numbers have a comma. Write all of them alike."
        if _WITH_COMMA.fullmatch(cell.strip()):
            return (
                f"{shown(cell)} has a comma. Write numbers like 1234.5, or pass --decimal , if it is a decimal comma."
            )
        name = self.place.column
        return (
            f"{shown(cell)} is not a number, unlike other cells of the column. Correct it, leave the cell empty if it "
            f"is missing, or pass --category {name if name.isidentifier() else repr(name)} if these are categories."
        )

    def _add_text(self, cells: Sequence[str]) -> None:
        seen = self._seen
        for cell in dict.fromkeys(cells):
            if cell not in seen:
                text = cell.strip()
                seen[cell] = -1 if text in MISSING else self._levels.setdefault(text, len(self._levels))
        self._codes.extend(map(seen.__getitem__, cells))
