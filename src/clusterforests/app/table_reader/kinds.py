"""What a single column is, before the others are known: by its cells, by its name, or by the user's word."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from clusterforests.app.table_reader.columns import Kind, Style
from clusterforests.app.table_reader.dates import parse_date
from clusterforests.app.table_reader.missing_marks import is_missing_sign, is_missing_word, is_no_answer
from clusterforests.app.table_reader.names import hints_of
from clusterforests.app.table_reader.notes import IGNORING, ColumnProblem, Remedy
from clusterforests.app.table_reader.numbers import EXACT_DIGITS, untyped
from clusterforests.app.table_reader.overrides import Override
from clusterforests.app.table_reader.parsing import (
    Counts,
    ParsedColumn,
    mask,
    missing_notes,
    parse_dates,
    parse_numbers,
    share,
)
from clusterforests.app.table_reader.raw_columns import Floats, RawColumn, Texts, plain_number, quoted
from clusterforests.app.table_reader.word_scales import order_of, plain_word, ranks_of, yes_no

AS_SAID = "as you say"


class Verdict(NamedTuple):
    """The kind of a column, why, and how it is read."""

    kind: str
    reason: str
    read_as: str = ""
    style: str = ""


# What numbers are: quantities, codes, identifiers, row numbers.

FEW_ROWS = 10  # in fewer rows, nothing is concluded from numbers that count up
FEW_LEVELS = 20  # up to this many levels may nearly all be different
FEW_CODES = 50  # more codes than that, such as postal codes, are no groups to cluster by
LONG = 1e7  # numbers of eight digits and more


def judge_numbers(name: str, values: Floats) -> Verdict:
    """Find the kind of a column of numbers, NaN where a cell is missing, by the numbers and by its name."""
    known = values[~np.isnan(values)]
    if not len(known):
        return Verdict(Kind.EMPTY, "it has no values")
    low, high = float(known.min()), float(known.max())
    if low == high:
        return Verdict(Kind.CONSTANT, f"every cell is {plain_number(low)}")
    start = known[:1000]  # most columns of fractions show it at once
    if not (np.all(start == np.floor(start)) and np.all(known == np.floor(known)) and np.isfinite(known).all()):
        # Keys may look like fractions, such as 279658724.670364868.
        if len(known) >= FEW_LEVELS and "key" in hints_of(name) and len(np.unique(known)) == len(known):
            return Verdict(Kind.IDENTIFIER, "its name is that of a key, and every row has its own")
        return Verdict(Kind.NUMBER, "numbers", Kind.NUMBER)
    if low == 0 and high == 1:
        return Verdict(Kind.YES_NO, "only 0 and 1", Kind.NUMBER)
    distinct = np.unique(known)
    return (
        _named_codes(name, distinct, len(known))
        or _row_numbers(name, values, known, distinct)
        or _long_numbers(known, distinct)
        or Verdict(Kind.NUMBER, "whole numbers", Kind.NUMBER)
    )


def judge_codes(what: str, n_codes: int, n_rows: int) -> Verdict:
    """Take codes as groups if there are few, otherwise as identifiers."""
    if n_codes <= FEW_CODES and 2 * n_codes <= n_rows:
        return Verdict(Kind.CATEGORY, f"{what}: {n_codes} names of groups, not quantities", Kind.CATEGORY)
    return Verdict(Kind.IDENTIFIER, f"{what}: {n_codes} different ones in {n_rows} rows")


def _codes_by_name(hints: frozenset[str]) -> str:
    return next((what for what in ("postal codes", "telephone numbers") if what in hints), "")


def _named_codes(name: str, distinct: Floats, n_rows: int) -> Verdict | None:
    """Judge by the name: postal codes, telephone numbers, keys and codes are no quantities."""
    m, hints = len(distinct), hints_of(name)
    if _codes_by_name(hints):
        return judge_codes(_codes_by_name(hints), m, n_rows)
    if "key" in hints:
        if m > max(FEW_LEVELS, n_rows // 20) or 2 * m > n_rows:
            return Verdict(
                Kind.IDENTIFIER, f"its name is that of a key, and it has {m} different values in {n_rows} rows"
            )
        return Verdict(
            Kind.CATEGORY, f"its name is that of a key, and it has {m} values: names of groups", Kind.CATEGORY
        )
    if "codes" in hints and m <= FEW_CODES and 5 * m <= n_rows:
        return Verdict(Kind.CATEGORY, f"its name says that its {m} numbers are codes of groups", Kind.CATEGORY)
    counts_up = m == n_rows and distinct[-1] - distinct[0] == n_rows - 1
    if "number of things" in hints and n_rows >= FEW_ROWS and 2 * m > n_rows and not counts_up:
        return Verdict(Kind.IDENTIFIER, f"its name is that of numbers of things; {m} different ones in {n_rows} rows")
    return None


def _row_numbers(name: str, values: Floats, known: Floats, distinct: Floats) -> Verdict | None:
    """Find numbers that count the rows, in their order or not."""
    n, hints = len(values), hints_of(name)
    if n < FEW_ROWS or len(distinct) < n or distinct[-1] - distinct[0] != n - 1 or "rank" in hints:
        return None
    span = f"{plain_number(float(distinct[0]))} to {plain_number(float(distinct[-1]))}"
    steps = np.diff(known)
    if (steps == 1).all() or (steps == -1).all():
        if "time" in hints and distinct[0] > 1:
            return None
        return Verdict(Kind.RUNNING_NUMBER, f"it counts the rows, {span}")
    if distinct[0] in (0, 1) or hints & {"row numbers", "number of things"}:
        return Verdict(Kind.RUNNING_NUMBER, f"each of the numbers {span} occurs once")
    return None


def _long_numbers(known: Floats, distinct: Floats) -> Verdict | None:
    """Find dates like 20210304, and long numbers of one length that are all different."""
    if distinct[0] < LONG:
        return None
    if distinct[0] >= 19000101 and distinct[-1] <= 21001231 and all(parse_date(f"{v:.0f}") for v in distinct.tolist()):
        return Verdict(Kind.DATE, "eight digits each: year, month and day", Kind.DATE, Style.COMPACT_DATES)
    digits = {len(plain_number(value)) for value in (float(distinct[0]), float(distinct[-1]))}
    if len(digits) == 1 and len(distinct) == len(known) >= FEW_LEVELS:
        return Verdict(Kind.IDENTIFIER, f"{len(distinct)} different numbers of {digits.pop()} digits")
    return None


# What texts are: groups, codes, identifiers, sentences; and those that have an order.

MAX_LEVELS = 1000
MOST_ORDERED = 30  # levels of a scale
MOST_MARKS = 10  # words for missing values beside the levels of a scale
SENTENCE = 4  # words, on average
LONG_TEXT = 40  # characters, on average

_CODE = re.compile(r"\d+")
_ADDRESSES = {
    "addresses of mail or web": re.compile(r"\S+@\S+\.\S+|https?://\S+|www\.\S+"),
    "telephone numbers": re.compile(r"(?:\+|00?)[\d ()/.-]{6,20}\d"),
}


def judge_digits(name: str, counts: Counts) -> Verdict | None:
    """Find codes written in digits: with leading zeros, too long for numbers, or named as such; None for numbers."""
    digits = mask(counts, lambda text: _CODE.fullmatch(text) is not None)
    if share(counts, digits) < 0.5:
        return None
    codes = list(counts.index[digits])
    named = _codes_by_name(hints_of(name))
    padded = any(len(code) > 1 and code[0] == "0" for code in codes)
    m, n = len(counts), int(counts.sum())
    if padded and named != "postal codes" and len(set(map(len, codes))) == 1:
        return judge_codes("digits with leading zeros are codes", m, n)
    long = digits & mask(counts, lambda text: len(text) > EXACT_DIGITS)
    if share(counts, long) >= 0.5 and not (padded and named == "postal codes"):
        return judge_codes("numbers of so many digits are codes", m, n)
    return judge_codes(named, m, n) if named else None


def judge_texts(name: str, counts: Counts) -> Verdict:
    """Tell groups from identifiers and free text."""
    m, n, hints = len(counts), int(counts.sum()), hints_of(name)
    words = float(np.average([len(text.split()) for text in counts.index], weights=counts))
    length = float(np.average([len(text) for text in counts.index], weights=counts))
    many = f"{m} different texts in {n} rows"
    if "text" in hints and words >= 2 and m > min(FEW_LEVELS // 2, n // 2):
        return Verdict(Kind.FREE_TEXT, f"{many}, of {words:.0f} words each")
    for what, pattern in _ADDRESSES.items():
        if m > FEW_LEVELS and share(counts, mask(counts, lambda text: bool(pattern.fullmatch(text)))) > 0.8:  # noqa: B023
            return Verdict(Kind.IDENTIFIER, f"{many}: {what}")
    if _codes_by_name(hints):
        return judge_codes(_codes_by_name(hints), m, n)
    if "key" in hints and m > max(FEW_LEVELS, n // 20):
        own = "every row has its own text" if m == n else f"its name is that of a key, and it has {many}"
        return Verdict(Kind.IDENTIFIER, own)
    if (words >= SENTENCE or length > LONG_TEXT) and m > max(FEW_LEVELS, n // 10):
        return Verdict(Kind.FREE_TEXT, f"{many}, of {words:.0f} words each")
    if m > max(FEW_LEVELS, n // 2) or (m == n >= FEW_ROWS):
        return Verdict(
            Kind.IDENTIFIER, f"{many}: nearly every row has its own" if m < n else "every row has its own text"
        )
    if "people or places" in hints and m > max(FEW_LEVELS, n // 4):
        return Verdict(Kind.IDENTIFIER, many)
    if m > MAX_LEVELS:
        return Verdict(Kind.IDENTIFIER, f"{many}: too many to be groups")
    return Verdict(Kind.CATEGORY, f"{m} different texts", Kind.CATEGORY)


def by_frequency(counts: Counts) -> list[str]:
    """List texts, the most frequent first, and those of one frequency by the alphabet."""
    return sorted(counts.index, key=lambda text: (-counts[text], text))


def _judge_order(name: str, counts: Counts) -> tuple[Verdict, tuple[str, ...]] | None:
    """Find words that have an order, and return it; None if there is none."""
    if not 2 <= len(counts) <= MOST_ORDERED:
        return None
    answer = yes_no(by_frequency(counts))
    if answer is not None:
        return Verdict(Kind.YES_NO, f"{answer[1]!r} and {answer[0]!r}", Kind.YES_NO), answer
    order = order_of(by_frequency(counts), name)
    if order is not None:
        return Verdict(Kind.ORDERED, f"words with an order: {' < '.join(order)}", Kind.ORDERED), order
    return None


# A column by itself: its kind, or numbers and dates whose style other columns may have to show.


@dataclass(frozen=True)
class ColumnKind:
    """What a column is, as far as it shows by itself."""

    raw: RawColumn
    override: Override | None
    verdict: Verdict | None = None
    parsed: ParsedColumn | None = None  # numbers or dates whose style the column may not show
    levels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[ColumnProblem, ...] = ()


def find_kind(raw: RawColumn, override: Override | None) -> ColumnKind:
    """Find out what a column is, or read it as the user says.

    Parameters
    ----------
    raw : RawColumn
        The column.
    override : Override or None
        What the user says about it.

    Returns
    -------
    kind : ColumnKind
    """
    if override is not None and override.kind in (Kind.IDENTIFIER, Kind.IGNORED):
        return ColumnKind(raw, override, Verdict(override.kind, AS_SAID))
    if not isinstance(raw.cells, Texts):
        return _kind_of_numbers(raw, raw.cells, override)
    every = raw.cells.counts()
    signs = mask(every, is_missing_sign)
    counts = every[~signs]
    if not len(counts):
        return ColumnKind(raw, override, Verdict(Kind.EMPTY, "it has no values"))
    if len(counts) == 1 and (override is None or override.kind != Kind.CATEGORY):
        return ColumnKind(raw, override, Verdict(Kind.CONSTANT, f"every cell with a value is {quoted(counts.index)}"))
    found = _kind_of_texts(raw, counts, every, override)
    if found.verdict is None or found.verdict.kind == Kind.CATEGORY:  # numbers may be found to be codes of groups
        found = replace(found, notes=found.notes + missing_notes(every, signs))
    return found


def _kind_of_numbers(raw: RawColumn, values: Floats, override: Override | None) -> ColumnKind:
    verdict = judge_numbers(raw.name, values)
    levels: tuple[str, ...] = ()
    problem = ""
    if verdict.kind not in (Kind.EMPTY, Kind.CONSTANT) and override is not None:
        if override.order and not _is_their_order(override.order, values):
            problem = (
                f"its cells are numbers, which have an order of their own, and {', '.join(override.order)} are not all "
                "of them in that order. Say that it is ordered without naming levels, or write words into its cells."
            )
        elif override.kind == Kind.DATE and not (verdict.kind == Kind.DATE or raw.declared == Kind.DATE):
            problem = f"its numbers, such as {', '.join(raw.examples())}, are no dates."
        elif override.kind == Kind.DATE and verdict.kind == Kind.DATE:
            verdict = verdict._replace(reason=AS_SAID)
        else:
            as_category = override.kind == Kind.CATEGORY
            read_as = Kind.DATE if override.kind == Kind.DATE else Kind.CATEGORY if as_category else Kind.NUMBER
            verdict = Verdict(override.kind, AS_SAID, read_as)
    elif verdict.kind not in (Kind.EMPTY, Kind.CONSTANT) and raw.declared == Kind.DATE:
        verdict = Verdict(Kind.DATE, "dates", Kind.DATE)
    elif verdict.kind not in (Kind.EMPTY, Kind.CONSTANT) and raw.declared == Kind.YES_NO:
        verdict, levels = Verdict(Kind.YES_NO, "true and false", Kind.NUMBER), ("False", "True")
    problems = (ColumnProblem(raw.name, problem, (IGNORING,)),) if problem else ()
    return ColumnKind(raw, override, verdict, levels=levels, problems=problems)


def _is_their_order(order: Sequence[str], values: Floats) -> bool:
    """Tell whether levels are all of the values, ascending."""
    try:
        levels = [float(level) for level in order]
    except ValueError:
        return False
    return all(low < high for low, high in pairwise(levels)) and set(values[~np.isnan(values)].tolist()) <= set(levels)


def _kind_of_texts(raw: RawColumn, counts: Counts, every: Counts, override: Override | None) -> ColumnKind:
    """Find out what texts are, or read them as the user says."""
    if override is not None:
        return _overridden_texts(raw, counts, every, override)
    if raw.declared == Kind.ORDERED:
        return ColumnKind(raw, None, Verdict(Kind.ORDERED, "an ordered type", Kind.ORDERED), levels=tuple(every.index))
    if raw.declared == Kind.CATEGORY:
        verdict = judge_texts(raw.name, counts)
        typed = verdict.kind == Kind.CATEGORY
        return ColumnKind(raw, None, verdict._replace(reason="a categorical type") if typed else verdict)
    codes = judge_digits(raw.name, counts)
    if codes is not None:
        return ColumnKind(raw, None, codes)
    ordered = _find_order(raw, counts, every)
    if ordered is not None:
        return ordered
    parsed = parse_dates(raw.name, every) or parse_numbers(raw.name, every)
    if parsed is not None:
        return ColumnKind(raw, None, parsed=parsed)
    return ColumnKind(raw, None, judge_texts(raw.name, counts))


def _find_order(raw: RawColumn, counts: Counts, every: Counts) -> ColumnKind | None:
    """Find words with an order, or yes and no; answers such as "Don't know" are missing."""
    if len(counts) > MOST_ORDERED + MOST_MARKS:
        return None
    for some in (_without(every, is_no_answer), _without(counts, is_no_answer), _without(counts, is_missing_word)):
        found = _judge_order(raw.name, some)
        if found is not None:
            return ColumnKind(raw, None, found[0], levels=found[1], notes=_notes_without(every, some.index))
    return None


def _without(counts: Counts, is_mark: Callable[[str], bool]) -> Counts:
    return counts[~mask(counts, is_mark)]


def _notes_without(counts: Counts, kept: Sequence[str]) -> tuple[str, ...]:
    """Say which words count as missing, because they are none of those with an order."""
    return missing_notes(counts, ~np.isin(counts.index, list(kept)))


def _overridden_texts(raw: RawColumn, counts: Counts, every: Counts, override: Override) -> ColumnKind:
    """Read texts as the user says."""
    if override.kind in (Kind.NUMBER, Kind.DATE):
        parsed = (parse_numbers if override.kind == Kind.NUMBER else parse_dates)(raw.name, every, wanted=True)
        if parsed is not None:
            return ColumnKind(raw, override, parsed=parsed)
    elif override.kind == Kind.CATEGORY:
        if len(counts) <= MAX_LEVELS:
            return ColumnKind(raw, override, Verdict(Kind.CATEGORY, AS_SAID, Kind.CATEGORY))
        text = f"it has {len(counts)} different texts; at most {MAX_LEVELS} are allowed. Join rare ones."
        return _refused(raw, override, text)
    elif override.kind == Kind.YES_NO:
        answers = _without(counts, is_missing_word)
        answer = yes_no(by_frequency(answers))
        if answer is not None:
            notes = _notes_without(every, answers.index)
            return ColumnKind(raw, override, Verdict(Kind.YES_NO, AS_SAID, Kind.YES_NO), levels=answer, notes=notes)
    else:
        return _overridden_order(raw, counts, every, override)
    cells = quoted(by_frequency(counts))
    return _refused(raw, override, f"its cells, such as {cells}, cannot be read as {override.kind}.")


def _overridden_order(raw: RawColumn, counts: Counts, every: Counts, override: Override) -> ColumnKind:
    """Order the levels as the user says, or as a scale does."""
    found = _find_order(raw, counts, counts)
    order = override.order or (found.levels if found is not None and len(found.levels) > 1 else None)
    if order is None:
        some = list(dict.fromkeys(map(untyped, by_frequency(counts))))
        text = f"the order of its levels is not known: {quoted(some)}. Give the levels from low to high."
        return _refused(raw, override, text, Remedy(tuple(some[:4]), "with the levels from low to high"))
    ranks = ranks_of(order, raw.name)
    known = [text for text in every.index if untyped(text) in order or plain_word(text) in ranks]
    strange = [text for text in counts.index if text not in known and not is_missing_word(text)]
    if strange:
        return _refused(raw, override, f"{quoted(strange)} is none of the levels that you give: {', '.join(order)}.")
    verdict = Verdict(Kind.ORDERED, f"{AS_SAID}: {' < '.join(order)}", Kind.ORDERED)
    return ColumnKind(raw, override, verdict, levels=tuple(order), notes=_notes_without(every, known))


def _refused(raw: RawColumn, override: Override, text: str, *remedies: Remedy) -> ColumnKind:
    problem = ColumnProblem(raw.name, text, (*remedies, IGNORING))
    verdict = Verdict(override.kind, "it cannot be read as you say")
    return ColumnKind(raw, override, verdict, problems=(problem,))
