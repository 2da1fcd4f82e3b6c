"""Levels of categories that new rows have and the fitted table had not: counted over all blocks, told of once."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from clusterforests._base.warnings import warn_caller

SHOWN_COLUMNS = 3
SHOWN_LEVELS = 3


class UnseenLevels:
    """Counts the cells of new rows whose level `fit` did not see."""

    def __init__(self) -> None:
        self.columns: dict[str, Counter[Any]] = {}
        self.ordered = False

    def add(self, column: str, cells: Iterable[Any], *, ordered: bool = False) -> None:
        """Count cells of a column, which is named as in a message, and whose levels may have an order."""
        found = Counter(cells)
        if found:
            self.columns.setdefault(column, Counter()).update(found)
            self.ordered |= ordered

    def warn(self) -> None:
        """Warn of all of them at once, if there are any."""
        message = self.message()
        if message:
            warn_caller(message)

    def message(self) -> str:
        """Tell of all of them; nothing if there are none."""
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
    """List the most frequent levels, of equally frequent ones by their text, so that the order of rows is not seen."""
    ordered = sorted(counts, key=lambda level: (-counts[level], str(level)))
    shown = [f"{level!r} {counts[level]} times" if counts[level] > 1 else repr(level) for level in ordered]
    return ", ".join(shown[:SHOWN_LEVELS]) + (", ..." if len(shown) > SHOWN_LEVELS else "")
