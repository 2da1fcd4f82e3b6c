"""Find what each column of a table holds, from all of its cells, and read it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clusterforests._base.typing import FloatArray
from clusterforests.tables.cell_conversion import Cells, convert
from clusterforests.tables.column_problems import ColumnProblem, Remedy, ignoring
from clusterforests.tables.column_reading import (
    CATEGORY,
    CONSTANT,
    DATE,
    DECIMAL_POINT,
    EMPTY,
    HOURS,
    IDENTIFIER,
    IGNORED,
    LEFT_OUT,
    NEAR_DUPLICATE,
    NUMBER,
    ORDERED,
    YES_NO,
    ColumnReading,
)
from clusterforests.tables.column_table import CategoryColumn
from clusterforests.tables.missing_marks import is_missing_sign, is_plain_mark
from clusterforests.tables.near_duplicates import near_duplicates
from clusterforests.tables.number_columns import Verdict, judge_numbers
from clusterforests.tables.raw_columns import MEASURED, DistinctTexts, RawColumn, distinct_texts, first_rows, quoted
from clusterforests.tables.remarks import MARK, remark
from clusterforests.tables.text_columns import MAX_LEVELS, judge_digits, judge_texts, judge_words
from clusterforests.tables.wishes import Habits, Wish
from clusterforests.tables.word_scales import order_of, yes_no
from clusterforests.tables.written_columns import WrittenColumn, find_dates, find_numbers, unclear_problem


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


@dataclass(frozen=True)
class _Draft:
    """A column as far as it can be read without the others."""

    raw: RawColumn
    wish: Wish | None
    verdict: Verdict | None = None
    written: WrittenColumn | None = None  # numbers or dates whose style the column may not show
    order: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[ColumnProblem, ...] = ()


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
        _draft(raw, (wishes or {}).get(raw.name))
        if raw.is_text or inspect_numbers
        else _Draft(raw, None, Verdict(NUMBER, "numbers", NUMBER))
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
            cells[j] = convert(draft.raw.cells, reading)
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


def _draft(raw: RawColumn, wish: Wish | None) -> _Draft:
    if wish is not None and wish.kind in (IDENTIFIER, IGNORED):
        return _Draft(raw, wish, Verdict(wish.kind, "as you say"))
    if not isinstance(raw.cells, CategoryColumn):
        return _draft_numbers(raw, raw.cells, wish)
    every = distinct_texts(raw.cells)
    signs = np.array([is_missing_sign(text) for text in every.texts], dtype=bool)
    texts = every.without(signs)
    if not len(texts):
        return _Draft(raw, wish, Verdict(EMPTY, "it has no values"))
    if len(texts) == 1 and (wish is None or wish.kind != CATEGORY):
        return _Draft(raw, wish, Verdict(CONSTANT, f"every cell with a value is {quoted(texts.texts)}"))
    drafted = _draft_wished(raw, texts, every, wish) if wish is not None else _draft_texts(raw, texts, every)
    if drafted.written is None and drafted.verdict is not None and drafted.verdict.kind not in LEFT_OUT:
        drafted = replace(drafted, notes=drafted.notes + _sign_notes(every, signs))
    return drafted


def _sign_notes(texts: DistinctTexts, signs: np.ndarray) -> tuple[str, ...]:
    marks = [text for text, sign in zip(texts.texts, signs, strict=True) if sign and not is_plain_mark(text)]
    return (remark(MARK, marks, int(texts.counts[signs].sum())),) if marks else ()


def _draft_numbers(raw: RawColumn, values: FloatArray, wish: Wish | None) -> _Draft:
    verdict = judge_numbers(raw.name, values)
    if verdict.kind in (EMPTY, CONSTANT):
        return _Draft(raw, wish, verdict)
    if wish is not None:
        return _wished_numbers(raw, verdict, wish)
    if raw.declared == MEASURED:
        return _Draft(raw, wish, Verdict(NUMBER, "numbers", NUMBER))
    if raw.declared == DATE:
        return _Draft(raw, wish, Verdict(DATE, "dates, read as days since 1970", DATE))
    if raw.declared == YES_NO:
        return _Draft(raw, wish, Verdict(YES_NO, "true and false", NUMBER))
    return _Draft(raw, wish, verdict)


def _wished_numbers(raw: RawColumn, verdict: Verdict, wish: Wish) -> _Draft:
    """Read numbers as the user says."""
    if wish.kind == DATE and not (verdict.kind == DATE or raw.declared == DATE):
        text = f"its numbers, such as {', '.join(raw.examples())}, are no dates."
        return _Draft(raw, wish, verdict, problems=(ColumnProblem(raw.name, text, (ignoring(raw.name),)),))
    if wish.kind == CATEGORY:
        return _Draft(raw, wish, Verdict(CATEGORY, "as you say", CATEGORY))
    if wish.kind == DATE:
        return _Draft(raw, wish, verdict._replace(reason="as you say"))
    return _Draft(raw, wish, Verdict(wish.kind, "as you say", NUMBER))


def _draft_texts(raw: RawColumn, texts: DistinctTexts, every: DistinctTexts) -> _Draft:
    """Find out what texts are when nobody says it."""
    if raw.declared == ORDERED:
        return _Draft(raw, None, Verdict(ORDERED, "an ordered type", ORDERED), order=every.texts)
    if raw.declared == CATEGORY:
        return _Draft(raw, None, _declared(judge_texts(raw.name, texts)))
    codes = judge_digits(raw.name, texts)
    if codes is not None:
        return _Draft(raw, None, codes)
    words = judge_words(raw.name, every) or judge_words(raw.name, texts)
    if words is not None:
        return _Draft(raw, None, words[0], order=words[1])
    written = find_dates(raw.name, texts) or find_numbers(raw.name, every)
    if written is not None:
        return _Draft(raw, None, written=written)
    return _Draft(raw, None, judge_texts(raw.name, texts))


def _declared(verdict: Verdict) -> Verdict:
    return verdict._replace(reason="a categorical type") if verdict.kind == CATEGORY else verdict


def _draft_wished(raw: RawColumn, texts: DistinctTexts, every: DistinctTexts, wish: Wish) -> _Draft:
    """Read texts as the user says."""
    if wish.kind in (NUMBER, DATE):
        find = find_numbers if wish.kind == NUMBER else find_dates
        written = find(raw.name, every if wish.kind == NUMBER else texts, wished=True)
        if written is not None:
            return _Draft(raw, wish, written=written)
    elif wish.kind == CATEGORY:
        if len(texts) <= MAX_LEVELS:
            return _Draft(raw, wish, Verdict(CATEGORY, "as you say", CATEGORY))
        text = f"it has {len(texts)} different texts; at most {MAX_LEVELS} are allowed. Join rare ones."
        return _refused(raw, wish, text)
    elif wish.kind == YES_NO:
        answer = yes_no(texts.by_frequency())
        if answer is not None:
            return _Draft(raw, wish, Verdict(YES_NO, "as you say", YES_NO), order=answer)
    else:
        order = wish.order or order_of(texts.by_frequency(), raw.name)
        if order is None:
            given = ",".join(texts.by_frequency()[:4])
            remedy = Remedy("--ordered", (f"{raw.name}={given}",), "", "with the levels from low to high")
            some = quoted(texts.by_frequency())
            text = f"the order of its levels is not known: {some}. Give the levels from low to high."
            return _refused(raw, wish, text, remedy)
        return _Draft(raw, wish, Verdict(ORDERED, f"as you say: {' < '.join(order)}", ORDERED), order=order)
    return _refused(raw, wish, f"its cells, such as {quoted(texts.by_frequency())}, cannot be read as {wish.kind}.")


def _refused(raw: RawColumn, wish: Wish, text: str, *remedies: Remedy) -> _Draft:
    problem = ColumnProblem(raw.name, text, (*remedies, ignoring(raw.name)))
    return _Draft(raw, wish, Verdict(wish.kind, "it cannot be read as you say"), problems=(problem,))


def _shown_styles(drafts: Sequence[_Draft]) -> dict[str, set[str]]:
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
    draft: _Draft, shown: Mapping[str, set[str]], habits: Habits
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
    reading = replace(_reading(draft, plain), unit=written.unit, notes=written.notes + note)
    if problems or written.read_as != NUMBER:
        return reading, problems
    values = convert(raw.cells, reading)
    found = judge_numbers(raw.name, values) if isinstance(values, np.ndarray) else plain
    if found.kind == NUMBER or (found.kind != CONSTANT and (written.unit or draft.wish is not None)):
        return reading, ()
    if found.kind == YES_NO:  # 0 and 1
        return replace(reading, kind=YES_NO, reason=found.reason), ()
    if found.kind == DATE:
        return replace(_reading(draft, found), style=""), ()
    return _reading(draft, found), ()


def _style(
    draft: _Draft, written: WrittenColumn, shown: Mapping[str, set[str]], habits: Habits
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


def _reading(draft: _Draft, verdict: Verdict) -> ColumnReading:
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
