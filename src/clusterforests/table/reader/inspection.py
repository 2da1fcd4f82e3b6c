"""Find what each column of a table holds, from all of its cells, and read it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clusterforests._utils.arrays import FloatArray, IntArray
from clusterforests.table.reader.cells import Cells, convert, convert_column
from clusterforests.table.reader.column_kinds import Draft, Verdict, draft_column, judge_numbers
from clusterforests.table.reader.column_problems import ColumnProblem, ignoring
from clusterforests.table.reader.column_reading import (
    CONSTANT,
    DATE,
    DECIMAL_POINT,
    EMPTY,
    HOURS,
    LEFT_OUT,
    NEAR_DUPLICATE,
    NUMBER,
    YES_NO,
    ColumnReading,
)
from clusterforests.table.reader.overrides import Habits, Wish
from clusterforests.table.reader.raw_columns import CategoryColumn, RawColumn, first_rows, quoted
from clusterforests.table.reader.written_columns import WrittenColumn, unclear_problem

# Columns that say the same as an earlier one: copies, other units, other names of the same groups.

COMPARED_ROWS = 2000
COMPARED_COLUMNS = 500  # of more, only exact copies are found
SAME = 0.999  # correlation
FEW_ROWS = 20


def near_duplicates(columns: Mapping[int, FloatArray | CategoryColumn]) -> dict[int, tuple[int, str]]:
    """Find columns that repeat an earlier one; return which one, and how the two are alike.

    Parameters
    ----------
    columns : mapping of int to ndarray or CategoryColumn
        The columns that are used, by their position.

    Returns
    -------
    found : dict of int to (int, str)
    """
    if not columns or len(next(iter(columns.values()))) < FEW_ROWS:
        return {}
    numbers = {j: cells for j, cells in columns.items() if not isinstance(cells, CategoryColumn)}
    found = _copies({j: _digest(cells) for j, cells in numbers.items()}, "the same numbers")
    groups = {j: _first_seen(cells) for j, cells in columns.items() if isinstance(cells, CategoryColumn)}
    found |= _copies({j: codes for j, codes in groups.items() if codes}, "the same groups")
    left = [j for j, cells in numbers.items() if j not in found and not np.isinf(cells).any()]
    return found | (_correlated(left, [numbers[j] for j in left]) if len(left) <= COMPARED_COLUMNS else {})


def _digest(values: FloatArray | IntArray) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(values).data).digest()


def _copies(keys: Mapping[int, bytes], how: str) -> dict[int, tuple[int, str]]:
    first: dict[bytes, int] = {}
    found = {}
    for j, key in keys.items():
        i = first.setdefault(key, j)
        if i != j:
            found[j] = (i, how)
    return found


def _first_seen(cells: CategoryColumn) -> bytes:
    """Number the groups in the order of the rows, so that their names do not count."""
    known, first, inverse = np.unique(cells.codes, return_index=True, return_inverse=True)
    if len(known) < 3:  # two groups may well agree by chance
        return b""
    ranks = np.empty(len(known), dtype=np.int32)
    ranks[np.argsort(first)] = np.arange(len(known), dtype=np.int32)
    return _digest(ranks[inverse])


def _correlated(positions: Sequence[int], columns: Sequence[FloatArray]) -> dict[int, tuple[int, str]]:
    if len(columns) < 2:
        return {}
    step = max(1, len(columns[0]) // COMPARED_ROWS)
    values = np.array([cells[::step] for cells in columns])
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    exponents = np.frexp(np.abs(filled).max(axis=1))[1]
    filled = np.ldexp(filled, -exponents[:, None])
    filled -= np.where(known, filled, 0.0).sum(axis=1, keepdims=True) / np.maximum(1, known.sum(axis=1))[:, None]
    filled[~known] = 0.0
    lengths = np.sqrt((filled**2).sum(axis=1))
    filled /= np.where(lengths > 0, lengths, 1.0)[:, None]
    few = np.array([len(np.unique(row[: FEW_ROWS * 5])) < 3 for row in filled])
    found: dict[int, tuple[int, str]] = {}
    likeness = np.abs(filled @ filled.T)
    alike = likeness * ((known.astype(np.float64) @ known.T) / np.maximum(1, known.sum(axis=1)) > 0.99)
    for b in range(1, len(positions)):
        a = int(np.argmax(alike[:b, b]))
        if alike[a, b] >= SAME and not few[b] and not few[a]:
            found[positions[b]] = (positions[a], f"correlation {likeness[a, b]:.4f}")
    return found


@dataclass(frozen=True)
class InspectedTable:
    """How each column is read, the cells of those that are used, and what stands in the way."""

    readings: tuple[ColumnReading, ...]
    cells: Mapping[int, Cells]
    problems: tuple[ColumnProblem, ...]

    @property
    def used(self) -> list[int]:
        """The positions of the columns that are used."""
        return [j for j, reading in enumerate(self.readings) if reading.used]


def inspect_columns(
    columns: Sequence[RawColumn],
    wishes: Mapping[str, Wish] | None = None,
    habits: Habits | None = None,
    *,
    inspect_numbers: bool = True,
) -> InspectedTable:
    """Find the kind of each column, and read those that are used.

    Parameters
    ----------
    columns : sequence of RawColumn
        The columns of a table.
    wishes : mapping of str to Wish or None, default=None
        What the user says about columns, by their names.
    habits : Habits or None, default=None
        How numbers and dates are written where columns do not show it.
    inspect_numbers : bool, default=True
        Whether numbers that are no quantities are looked for; if not, every column of numbers is used.

    Returns
    -------
    inspected : InspectedTable
    """
    drafts = [
        draft_column(raw, (wishes or {}).get(raw.name))
        if raw.is_text or inspect_numbers
        else Draft(raw, None, Verdict(NUMBER, "numbers", NUMBER))
        for raw in columns
    ]
    shown = _shown_styles(drafts)
    readings: list[ColumnReading] = []
    cells: dict[int, Cells] = {}
    problems: list[ColumnProblem] = []
    for j, draft in enumerate(drafts):
        reading, found = _finish(draft, shown, habits or Habits())
        problems += [_located(problem, draft.raw) for problem in found]
        if reading.used and not found:
            cells[j] = convert_column(draft.raw, reading)
        readings.append(reading)
    for j, (i, how) in near_duplicates(cells).items():
        note = f"It says the same as {columns[i].name!r} ({how}), and both are used."
        readings[j] = replace(
            readings[j], kind=NEAR_DUPLICATE, reason=f"{how} as {columns[i].name!r}", notes=(*readings[j].notes, note)
        )
    return InspectedTable(tuple(readings), cells, tuple(problems))


def _located(problem: ColumnProblem, raw: RawColumn) -> ColumnProblem:
    """Add the first row that has the cell which shows a problem."""
    if not problem.cell or not isinstance(raw.cells, CategoryColumn):
        return problem
    chosen = np.array([str(level) == problem.cell for level in raw.cells.levels], dtype=bool)
    return replace(problem, row=next(first_rows(raw.cells, chosen), None))


def _shown_styles(drafts: Sequence[Draft]) -> dict[str, set[str]]:
    """Collect the styles that columns show, of numbers and of dates."""
    shown: dict[str, set[str]] = {NUMBER: set(), DATE: set()}
    for draft in drafts:
        if draft.written is not None and draft.written.settled and not draft.written.problems:
            shown[draft.written.read_as].add(draft.written.settled)
        elif draft.raw.declared == "" and _has_fractions(draft.raw.cells):
            shown[NUMBER].add(DECIMAL_POINT)
    return shown


def _only(styles: set[str]) -> str:
    """Return the one style that columns show; "" if they show none, or several."""
    return next(iter(styles)) if len(styles) == 1 else ""


def _has_fractions(cells: Cells) -> bool:
    if isinstance(cells, CategoryColumn):
        return False
    some = cells[:1000]
    return bool((some[np.isfinite(some)] % 1 > 0).any())


def _finish(
    draft: Draft, shown: Mapping[str, set[str]], habits: Habits
) -> tuple[ColumnReading, tuple[ColumnProblem, ...]]:
    """Settle the style, and look at the numbers that it gives."""
    raw, written = draft.raw, draft.written
    if written is None:
        verdict = draft.verdict or Verdict(EMPTY, "it has no values")
        if verdict.read_as == NUMBER and not verdict.style:
            verdict = verdict._replace(style=DECIMAL_POINT if _has_fractions(raw.cells) else _only(shown[NUMBER]))
        return _reading(draft, verdict), draft.problems
    style, note = _style(draft, written, shown, habits)
    problems = written.problems
    if style is None:
        problems += (unclear_problem(raw.name, written),)
    elif written.settled and style != written.settled:
        text = f"it is written with a {written.settled}, not with a {style}: {quoted(raw.examples())}."
        problems += (ColumnProblem(raw.name, text, (ignoring(raw.name),)),)
    kind = NUMBER if written.read_as in (NUMBER, HOURS) else DATE
    plain = Verdict(kind, _describe(written, style), written.read_as, style or "")
    reading = replace(_reading(draft, plain), unit=written.unit, padded=written.padded, notes=written.notes + note)
    if problems or written.read_as != NUMBER:
        return reading, problems
    values = convert(raw.cells, reading)
    found = judge_numbers(raw.name, values) if isinstance(values, np.ndarray) else plain
    if found.kind == NUMBER or (found.kind != CONSTANT and (written.unit or draft.wish is not None)):
        return reading, ()
    if found.kind == YES_NO:  # 0 and 1
        return replace(reading, kind=YES_NO, reason=found.reason), ()
    if found.kind == DATE:
        return replace(_reading(draft, found), style="", notes=written.notes), ()
    return replace(_reading(draft, found), notes=() if found.kind in LEFT_OUT else draft.notes), ()


def _style(
    draft: Draft, written: WrittenColumn, shown: Mapping[str, set[str]], habits: Habits
) -> tuple[str | None, tuple[str, ...]]:
    """Return the style of a column, and a note if it comes from other columns."""
    given = draft.wish.style if draft.wish is not None and draft.wish.style else ""
    given = given or (habits.dates if written.read_as == DATE else habits.decimal)
    if given and (written.settled is None or (written.settled and written.read_as != DATE)):
        return given, ()
    if written.settled is not None:
        return written.settled or _only(shown[written.read_as]) if written.read_as == NUMBER else written.settled, ()
    others = shown[written.read_as]
    if len(others) == 1:
        style = next(iter(others))
        note = f"Cells like {written.shown!r} do not show it, but other columns do: they are read with the {style}."
        return style, (note,)
    if not others and habits.plain_points and written.read_as == NUMBER and "." in written.shown:
        return DECIMAL_POINT, ()
    return None, ()


def _describe(written: WrittenColumn, style: str | None) -> str:
    if written.read_as == HOURS:
        return "times of day, read as hours"
    if written.read_as == DATE:
        return "dates, read as days since 1970" + (f"; {style}" if style else "")
    details = [f"in {written.unit}" if written.unit else "", style if style and written.settled != "" else ""]
    return ", ".join(filter(None, ["numbers", *details]))


def _reading(draft: Draft, verdict: Verdict) -> ColumnReading:
    return ColumnReading(
        name=draft.raw.name,
        kind=verdict.kind,
        reason=verdict.reason,
        used=verdict.kind not in LEFT_OUT,
        read_as="" if verdict.kind in LEFT_OUT else verdict.read_as,
        style=verdict.style,
        order=draft.order,
        notes=draft.notes,
        examples=draft.raw.examples(),
    )
