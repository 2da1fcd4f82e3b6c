"""Sentences about cells that were not read as they stand, the same for a table that is fitted and for new rows."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from clusterforests._utils.validation import warn_caller
from clusterforests.table.reader.raw_columns import quoted

LIMITS = "cells such as {} are read as the limit that they name"
MARK, LIMIT, NO_UNIT, PADDED = "mark", "limit", "no unit", "padded"


def remark(kind: str, cells: Sequence[str], count: int, unit: str = "") -> str:
    """Say how `count` cells of a kind were read; `cells` are some of them."""
    one = count == 1
    if kind == MARK:
        counts = "counts" if len(cells) == 1 else "count"
        return f"{quoted(cells)} {counts} as missing ({count} cell{'' if one else 's'})."
    if kind == LIMIT:
        how = "cell such as {} is read as the limit that it names" if one else LIMITS
        return f"{count} {how.format(quoted(cells, 1))}."
    if kind == PADDED:
        how = "cell such as {} is a number" if one else "cells such as {} are numbers"
        return f"{count} {how.format(quoted(cells, 1))}, as you say."
    how = "has no unit; it is" if one else "have no unit; they are"
    return f"{count} of its numbers {how} taken as {unit}."


# What is special about the cells of new rows: counted over all blocks, told of once.

SHOWN_COLUMNS = 3
SHOWN_LEVELS = 3


class NewCells:
    """Counts the cells of new rows whose level `fit` did not see, and those that were not read as they stand."""

    def __init__(self) -> None:
        self.columns: dict[str, Counter[Any]] = {}
        self.ordered = False
        self._remarks: dict[tuple[str, str, str], Counter[str]] = {}

    def add(self, column: str, cells: Iterable[Any], *, ordered: bool = False) -> None:
        """Count cells of a column, which is named as in a message, and whose levels may have an order."""
        found = Counter(cells)
        if found:
            self.columns.setdefault(column, Counter()).update(found)
            self.ordered |= ordered

    def remark(self, column: str, kind: str, cells: Counter[str], unit: str = "") -> None:
        """Count cells of a kind of `remarks`."""
        if cells:
            self._remarks.setdefault((column, kind, unit), Counter()).update(cells)

    def warn(self) -> None:
        """Warn of all of them at once, if there are any."""
        notes = self.notes()
        if notes:
            warn_caller(" ".join(notes))

    def notes(self) -> list[str]:
        """Tell of all of them, in a sentence for each column, and in one for all levels that are new."""
        told = [
            f"Column {column!r}: {remark(kind, sorted(cells, key=_frequent_first(cells)), cells.total(), unit)}"
            for (column, kind, unit), cells in self._remarks.items()
        ]
        return [*filter(None, [self._new_levels()]), *told]

    def _new_levels(self) -> str:
        if not self.columns:
            return ""
        total = sum(sum(counts.values()) for counts in self.columns.values())
        listed = [f"{column} ({_levels(counts)})" for column, counts in list(self.columns.items())[:SHOWN_COLUMNS]]
        if len(self.columns) > SHOWN_COLUMNS:
            listed.append(f"and {len(self.columns) - SHOWN_COLUMNS} more columns")
        cells = "1 cell has a level that was" if total == 1 else f"{total} cells have levels that were"
        taken = "as missing where levels have an order, otherwise as none" if self.ordered else "as none"
        return f"{cells} not seen in fit: {', '.join(listed)}. They count {taken} of the levels that were."


def _levels(counts: Counter[Any]) -> str:
    """List the most frequent levels."""
    ordered = sorted(counts, key=_frequent_first(counts))
    shown = [f"{level!r} {counts[level]} times" if counts[level] > 1 else repr(level) for level in ordered]
    return ", ".join(shown[:SHOWN_LEVELS]) + (", ..." if len(shown) > SHOWN_LEVELS else "")


def _frequent_first(counts: Counter[Any]) -> Any:
    """Return a key that sorts equally frequent cells by their text, so that the order of rows is not seen."""
    return lambda cell: (-counts[cell], str(cell))
