"""Columns that were left out: what users are told about them, and what stands for them."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from clusterforests._base.typing import FloatArray
from clusterforests._base.warnings import warn_caller
from clusterforests.tables.column_reading import IGNORED, NEAR_DUPLICATE, ColumnReading
from clusterforests.tables.column_table import CategoryColumn
from clusterforests.tables.raw_columns import RawColumn

LISTED = 10


def column_notes(readings: Sequence[ColumnReading], most: int = LISTED) -> list[str]:
    """Return a sentence for each column that was left out without the user's word, and the notes of the others.

    Of more than `most` columns that were left out, the others are counted.
    """
    left_out = [r for r in readings if not r.used and r.kind != IGNORED and r.reason != "as you say"]
    notes = [f"Column {r.name!r} is left out: {r.kind} ({r.reason})." for r in left_out[:most]]
    if len(left_out) > most:
        kinds = Counter(reading.kind for reading in left_out[most:])
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        notes.append(f"{len(left_out) - most} more columns are left out ({counts}).")
    notes += [f"Column {reading.name!r}: {note}" for reading in readings for note in reading.notes][:most]
    return notes


def describe_left_out(readings: Sequence[ColumnReading]) -> str:
    """List the columns that were left out, in one sentence."""
    listed = [f"{reading.name!r} is {reading.kind} ({reading.reason})" for reading in readings if not reading.used]
    more = f", and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
    return "; ".join(listed[:LISTED]) + more + "."


def warn_of_columns(readings: Sequence[ColumnReading]) -> None:
    """Say once which columns are left out, and what else there is to know; columns that repeat others do no harm."""
    notes = column_notes([reading for reading in readings if reading.kind != NEAR_DUPLICATE])
    if notes:
        warn_caller(f"{' '.join(notes)} `columns_` has all; to decide otherwise, pass columns={{name: kind}}.")


def stand_in(column: RawColumn) -> FloatArray:
    """Return what stands for a constant column where there are no others."""
    cells = column.cells
    return np.where(cells.codes < 0, np.nan, 0.0) if isinstance(cells, CategoryColumn) else cells
