"""Tables of many rows of numbers, described as `encode` describes smaller ones, without a copy."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clusterforests._base.size_limits import DEFAULT_LIMITS, SizeLimits
from clusterforests.tables import name_hints
from clusterforests.tables.column_reading import (
    CATEGORY,
    CONSTANT,
    IDENTIFIER,
    IGNORED,
    LEFT_OUT,
    NUMBER,
    ColumnReading,
)
from clusterforests.tables.column_table import ColumnTable
from clusterforests.tables.encoding import Encoding, infinity_message, some_of
from clusterforests.tables.frames import check_names, column_names, known_frame
from clusterforests.tables.left_out import describe_left_out, warn_of_columns
from clusterforests.tables.number_columns import Verdict, judge_numbers
from clusterforests.tables.row_blocks import LargeTable, TableScan, large_numeric_table, read_blocks, scan_table
from clusterforests.tables.row_sources import ColumnSource, RowSource, open_source
from clusterforests.tables.wishes import parse_wishes

AS_NUMBERS = "Its numbers look like names of groups; in a table of so many rows they are taken as numbers."


def open_large(
    estimator: Any, X: Any, threads: int = 1, limits: SizeLimits = DEFAULT_LIMITS
) -> tuple[LargeTable, Encoding] | None:
    """Do what `encode` does without copying X, if X has many rows and only numbers.

    Return None if X has few rows, categories or missing cells: such tables are encoded as an array of float64.

    Parameters
    ----------
    estimator : object
        Receives the attributes.
    X : array-like of shape (n_samples, n_features)
        See `open_source`.
    threads : int, default=1
        Does not change the result.
    limits : SizeLimits
        Says how many rows are many.

    Returns
    -------
    opened : tuple of LargeTable and Encoding, or None
    """
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) != 2 or shape[1] == 0 or not limits.is_large(shape[0]):
        return None
    source = open_source(X)
    if source is None:
        return None
    scan = scan_table(source, threads, limits)
    if np.isnan(scan.low).any():
        return None
    X = known_frame(X)
    check_names(estimator, X, reset=True)
    names = column_names(X)
    titles = None if names is None else tuple(map(str, names))
    readings = _inspect_large(estimator, X, source, scan, titles)
    if readings is None:
        return None
    used = some_of(_used_columns(readings) or range(source.shape[1]), source.shape[1])
    encoding = Encoding(titles, source.shape[1], {}, readings, used)
    if used and isinstance(source, ColumnSource):
        source = ColumnSource([source.columns[j] for j in used])
        scan = scan_table(source, threads, limits)
    if not (np.isfinite(scan.low).all() and np.isfinite(scan.high).all()):
        _refuse_infinity(source, encoding, limits)
    return large_numeric_table(source, scan), encoding


def _used_columns(readings: Sequence[ColumnReading]) -> list[int]:
    """List the features that are used, or those that are constant if there are no others."""
    mine = [reading for reading in readings if reading.feature >= 0]
    return [r.feature for r in mine if r.used] or [r.feature for r in mine if r.kind == CONSTANT]


def _inspect_large(
    estimator: Any, X: Any, source: RowSource, scan: TableScan, names: tuple[str, ...] | None
) -> tuple[ColumnReading, ...] | None:
    """Look for columns to leave out without a copy of the table; None if some are to be read as other than numbers.

    Numbers that look like codes stay numbers here, with a note.
    """
    wishes = parse_wishes(getattr(estimator, "columns", None), names or ())
    if isinstance(X, ColumnTable) or names is None or not isinstance(source, ColumnSource):
        return getattr(X, "readings", ())
    if any(wish.kind not in (NUMBER, IGNORED, IDENTIFIER) for wish in wishes.values()):
        return None
    readings = []
    for j, name in enumerate(names):
        verdict = Verdict(NUMBER, "numbers", NUMBER)
        notes: tuple[str, ...] = ()
        if name in wishes:
            verdict = Verdict(wishes[name].kind, "as you say", NUMBER if wishes[name].kind == NUMBER else "")
        elif _may_be_names(name, float(scan.low[j]), float(scan.high[j])):
            found = judge_numbers(name, source.column(j))
            verdict = found if found.kind in LEFT_OUT else verdict
            notes = (AS_NUMBERS,) if found.kind == CATEGORY else ()
        used = verdict.kind not in LEFT_OUT
        readings.append(ColumnReading(name, verdict.kind, verdict.reason, used, verdict.read_as, j, notes=notes))
    if not any(reading.used or reading.kind == CONSTANT for reading in readings):
        raise ValueError(f"X has no column to cluster by: {describe_left_out(readings)}")
    warn_of_columns(readings)
    return tuple(readings)


def _may_be_names(name: str, low: float, high: float) -> bool:
    """Say whether numbers may be names of things: whole ones, or fractions under the name of a key."""
    return (low.is_integer() and high.is_integer()) or name_hints.names_a_key(name)


def _refuse_infinity(source: RowSource, encoding: Encoding, limits: SizeLimits) -> None:
    """Read the table again to name the first infinite cell."""
    for start, values in read_blocks(source, limits):
        found = np.argwhere(np.isinf(values))
        if len(found):
            row, j = found[0]
            raise ValueError(infinity_message(start + int(row), encoding.describe(encoding.features[j])))
