"""What users are told about the columns that were left out, and about others that need a word."""

from collections.abc import Sequence

from clusterforests._base.warnings import warn_caller
from clusterforests.tables.column_reading import IGNORED, ColumnReading

LISTED = 10


def column_notes(readings: Sequence[ColumnReading]) -> list[str]:
    """Return a sentence for each column that was left out without the user's word, and the notes of the others."""
    notes = [
        f"Column {reading.name!r} is left out: {reading.kind} ({reading.reason})."
        for reading in readings
        if not reading.used and reading.kind != IGNORED and reading.reason != "as you say"
    ]
    return notes + [f"Column {reading.name!r}: {note}" for reading in readings for note in reading.notes]


def describe_left_out(readings: Sequence[ColumnReading]) -> str:
    """List the columns that were left out, in one sentence."""
    listed = [f"{reading.name!r} is {reading.kind} ({reading.reason})" for reading in readings if not reading.used]
    more = f", and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
    return "; ".join(listed[:LISTED]) + more + "."


def warn_of_columns(readings: Sequence[ColumnReading]) -> None:
    """Say once which columns are left out, and what else there is to know."""
    notes = column_notes(readings)
    if notes:
        more = f" And {len(notes) - LISTED} more: see `columns_`." if len(notes) > LISTED else ""
        warn_caller(f"{' '.join(notes[:LISTED])}{more} To decide otherwise, pass columns={{name: kind}}.")
