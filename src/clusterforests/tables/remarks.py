"""Sentences about cells that were not read as they stand, the same for a table that is fitted and for new rows."""

from collections.abc import Sequence

from clusterforests.tables.raw_columns import quoted

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
