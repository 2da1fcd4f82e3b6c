"""What each column of a table holds, by all of its cells and by the other columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from clusterforests.app.table_reader.columns import DROPPED, ColumnReading, Kind, Style
from clusterforests.app.table_reader.conversion import convert
from clusterforests.app.table_reader.kinds import ColumnKind, Verdict, find_kind, judge_numbers
from clusterforests.app.table_reader.notes import IGNORING, ColumnProblem
from clusterforests.app.table_reader.overrides import FileStyle, Override
from clusterforests.app.table_reader.parsing import ParsedColumn
from clusterforests.app.table_reader.raw_columns import Cells, RawColumn, Texts, quoted


@dataclass(frozen=True)
class InspectedTable:
    """How each column is read, the cells of those that are used, and what stands in the way."""

    readings: tuple[ColumnReading, ...]
    cells: Mapping[int, Cells]
    problems: tuple[ColumnProblem, ...]


def inspect_columns(
    columns: Sequence[RawColumn],
    overrides: Mapping[str, Override] | None = None,
    style: FileStyle | None = None,
    *,
    inspect_numbers: bool = True,
) -> InspectedTable:
    """Find the kind of each column, and read those that are used.

    Parameters
    ----------
    columns : sequence of RawColumn
        The columns of a table.
    overrides : mapping of str to Override or None, default=None
        What the user says about columns, by their names.
    style : FileStyle or None, default=None
        How numbers and dates are written where columns do not show it.
    inspect_numbers : bool, default=True
        Whether numbers that are no quantities are looked for; if not, every column of numbers is used.

    Returns
    -------
    inspected : InspectedTable
    """
    kinds = [
        find_kind(raw, (overrides or {}).get(raw.name))
        if inspect_numbers or isinstance(raw.cells, Texts)
        else ColumnKind(raw, None, Verdict(Kind.NUMBER, "numbers", Kind.NUMBER))
        for raw in columns
    ]
    # A style that some columns show settles that of the others.
    style = style or FileStyle()
    shown: dict[str, set[str]] = {Kind.NUMBER: set(), Kind.DATE: set()}
    for kind in kinds:
        if kind.parsed is not None and kind.parsed.settled and not kind.parsed.problems:
            shown[kind.parsed.read_as].add(kind.parsed.settled)
        elif style.from_text and kind.raw.declared == Kind.NUMBER and _has_fractions(kind.raw.cells):
            shown[Kind.NUMBER].add(Style.DECIMAL_POINT)

    readings: list[ColumnReading] = []
    cells: dict[int, Cells] = {}
    problems: list[ColumnProblem] = []
    for j, kind in enumerate(kinds):
        reading, found = _settle(kind, shown, style)
        problems += [_located(problem, kind.raw) for problem in found]
        if reading.used and not found:
            cells[j] = converted = convert(kind.raw, reading)
            if reading.read_as == Kind.CATEGORY and isinstance(converted, Texts):
                used = np.unique(converted.codes[converted.codes >= 0])
                reading = replace(reading, levels=tuple(sorted(converted.levels[code] for code in used)))
        readings.append(reading)

    for j, (i, how) in near_duplicates(cells).items():
        note = f"It says the same as {columns[i].name!r} ({how}), and both are used."
        reason = f"{how} as {columns[i].name!r}"
        readings[j] = replace(readings[j], kind=Kind.NEAR_DUPLICATE, reason=reason, notes=(*readings[j].notes, note))
    return InspectedTable(tuple(readings), cells, tuple(problems))


def _located(problem: ColumnProblem, raw: RawColumn) -> ColumnProblem:
    """Add the first row that has the cell which shows a problem."""
    if not problem.cell or not isinstance(raw.cells, Texts):
        return problem
    rows = raw.cells.rows_of(np.array([level == problem.cell for level in raw.cells.levels], dtype=bool))
    return replace(problem, row=int(rows[0]) if len(rows) else None)


def _has_fractions(cells: Cells) -> bool:
    if isinstance(cells, Texts):
        return False
    some = cells[:1000]
    return bool((some[np.isfinite(some)] % 1 > 0).any())


def _settle(
    kind: ColumnKind, shown: Mapping[str, set[str]], file_style: FileStyle
) -> tuple[ColumnReading, tuple[ColumnProblem, ...]]:
    """Settle the style of a column by the others, and look at the numbers that it gives."""
    raw, parsed = kind.raw, kind.parsed
    if parsed is None:
        verdict = kind.verdict or Verdict(Kind.EMPTY, "it has no values")
        if verdict.read_as == Kind.NUMBER and not verdict.style:
            only = next(iter(shown[Kind.NUMBER])) if len(shown[Kind.NUMBER]) == 1 else ""
            verdict = verdict._replace(style=Style.DECIMAL_POINT if _has_fractions(raw.cells) else only)
        return _reading(kind, verdict), kind.problems
    style, note = _style(kind, parsed, shown, file_style)
    problems = parsed.problems
    if style is None:
        problems += (parsed.unclear_problem(raw.name),)
    elif parsed.settled and style != parsed.settled:
        text = f"it is written with a {parsed.settled}, not with a {style}: {quoted(raw.examples())}."
        problems += (ColumnProblem(raw.name, text, (IGNORING,)),)
    as_number = parsed.read_as in (Kind.NUMBER, Kind.HOURS)
    verdict = Verdict(Kind.NUMBER if as_number else Kind.DATE, parsed.describe(style), parsed.read_as, style or "")
    reading = replace(_reading(kind, verdict), unit=parsed.unit, padded=parsed.padded, notes=parsed.notes + note)
    if problems or parsed.read_as != Kind.NUMBER:
        return reading, problems

    # Texts may be numbers that are no quantities.
    values = convert(raw, reading)
    found = judge_numbers(raw.name, values) if isinstance(values, np.ndarray) else verdict
    if found.kind == Kind.NUMBER or (found.kind != Kind.CONSTANT and (parsed.unit or kind.override is not None)):
        return reading, ()
    if found.kind == Kind.YES_NO:
        return replace(reading, kind=Kind.YES_NO, reason=found.reason), ()
    if found.kind == Kind.DATE:
        return replace(_reading(kind, found), style="", notes=parsed.notes), ()
    return replace(_reading(kind, found), notes=() if found.kind in DROPPED else kind.notes), ()


def _style(
    kind: ColumnKind, parsed: ParsedColumn, shown: Mapping[str, set[str]], file_style: FileStyle
) -> tuple[str | None, tuple[str, ...]]:
    """Return the style of a column, and a note if it comes from other columns; None if nothing shows it."""
    given = kind.override.style if kind.override is not None else ""
    given = given or (file_style.dates if parsed.read_as == Kind.DATE else file_style.decimal)
    others = shown.get(parsed.read_as, set())
    only = next(iter(others)) if len(others) == 1 else ""
    if given and (parsed.settled is None or (parsed.settled and parsed.read_as != Kind.DATE)):
        return given, ()
    if parsed.settled is not None:
        return parsed.settled or (only if parsed.read_as == Kind.NUMBER else ""), ()
    if only:
        text = f"Cells like {parsed.unclear!r} do not show it, but other columns do: they are read with the {only}."
        return only, (text,)
    if not others and file_style.plain_points and parsed.read_as == Kind.NUMBER and "." in parsed.unclear:
        return Style.DECIMAL_POINT, ()
    return None, ()


def _reading(kind: ColumnKind, verdict: Verdict) -> ColumnReading:
    used = verdict.kind not in DROPPED
    return ColumnReading(
        kind.raw.name,
        verdict.kind,
        verdict.reason,
        used,
        read_as=verdict.read_as if used else "",
        style=verdict.style,
        levels=kind.levels,
        notes=kind.notes,
        examples=kind.raw.examples(),
    )


# Columns that say the same as an earlier one: copies, other units, other names of the same groups.

COMPARED_ROWS = 2000
COMPARED_COLUMNS = 500  # of more, only exact copies are found
SAME = 0.999  # correlation
MOST_ROWS_APART = 0.01  # share of the rows in which only one of two columns has a value
FEW_ROWS = 20


def near_duplicates(columns: Mapping[int, Cells]) -> dict[int, tuple[int, str]]:
    """Find columns that repeat an earlier one; return which one, and how the two are alike.

    Parameters
    ----------
    columns : mapping of int to ndarray or Texts
        The columns that are used, by their position.

    Returns
    -------
    found : dict of int to (int, str)
    """
    if not columns or len(next(iter(columns.values()))) < FEW_ROWS:
        return {}
    found: dict[int, tuple[int, str]] = {}
    first: dict[Any, int] = {}
    numbers = {}
    for j, cells in columns.items():
        if isinstance(cells, Texts):  # groups are numbered in the order of the rows, so that their names do not count
            how, values = "the same groups", pd.factorize(cells.codes)[0]
            if values.max() < 2:  # two groups may well agree by chance
                continue
        else:
            how, values = "the same numbers", cells
        i = first.setdefault((how, hash(values.tobytes())), j)
        if i != j:
            found[j] = i, how
        elif how == "the same numbers" and not np.isinf(values).any():
            numbers[j] = values
    if 1 < len(numbers) <= COMPARED_COLUMNS:
        found |= _correlated(pd.DataFrame(numbers))
    return found


def _correlated(frame: "pd.DataFrame") -> dict[int, tuple[int, str]]:
    some = frame.iloc[:: max(1, len(frame) // COMPARED_ROWS)]
    some = some.loc[:, some.head(5 * FEW_ROWS).nunique(dropna=False) > 2]
    if some.shape[1] < 2:
        return {}
    with np.errstate(all="ignore"):  # numbers near the largest that there are overflow, and are compared with none
        likeness = some.corr(min_periods=2).abs().fillna(0.0).to_numpy()
    known = some.notna().to_numpy(dtype=np.float64)
    together = (known.T @ known) / np.maximum(1, known.sum(axis=0))
    alike = np.triu(likeness * (together > 1 - MOST_ROWS_APART), 1)
    names = list(some.columns)
    best = alike.argmax(axis=0)
    return {
        names[b]: (names[a], f"correlation {likeness[a, b]:.4f}") for b, a in enumerate(best) if alike[a, b] >= SAME
    }
