"""What a single column is, before the others are known: by its cells, by its name, or by the user's word."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from clusterforests._utils.arrays import FloatArray
from clusterforests.table.reader import name_hints
from clusterforests.table.reader.column_problems import ColumnProblem, Remedy, ignoring
from clusterforests.table.reader.column_reading import (
    CATEGORY,
    CONSTANT,
    DATE,
    EMPTY,
    FREE_TEXT,
    IDENTIFIER,
    IGNORED,
    NUMBER,
    ORDERED,
    RUNNING_NUMBER,
    YES_NO,
)
from clusterforests.table.reader.dates import split_date
from clusterforests.table.reader.missing_marks import is_missing_sign, is_missing_word, is_no_answer
from clusterforests.table.reader.numbers import EXACT_DIGITS, untyped
from clusterforests.table.reader.overrides import Wish
from clusterforests.table.reader.raw_columns import (
    MEASURED,
    CategoryColumn,
    DistinctTexts,
    RawColumn,
    distinct_texts,
    plain_number,
    quoted,
)
from clusterforests.table.reader.word_scales import order_of, plain_word, ranks_of, yes_no
from clusterforests.table.reader.written_columns import WrittenColumn, find_dates, find_numbers, missing_notes

# What the numbers of a column are: quantities, codes, identifiers, row numbers.

FEW_ROWS = 10  # in fewer rows, nothing is concluded from numbers that count up
FEW_LEVELS = 20  # up to this many levels may nearly all be different
FEW_CODES = 50  # more codes than that, such as postal codes, are no groups to cluster by
LONG = 1e7  # numbers of eight digits and more
COMPACT_DATES = "yyyymmdd"


class Verdict(NamedTuple):
    """The kind of a column, why, and how it is read."""

    kind: str
    reason: str
    read_as: str = ""
    style: str = ""


def judge_numbers(name: str, values: FloatArray) -> Verdict:
    """Find the kind of a column of numbers, NaN where a cell is missing, by the numbers and by its name."""
    known = values[~np.isnan(values)]
    if not len(known):
        return Verdict(EMPTY, "it has no values")
    low, high = float(known.min()), float(known.max())
    if low == high:
        return Verdict(CONSTANT, f"every cell is {plain_number(low)}")
    if not _whole(known):
        return _fractions_of_a_key(name, known) or Verdict(NUMBER, "numbers", "number")
    if low == 0 and high == 1:
        return Verdict(YES_NO, "only 0 and 1", "number")
    distinct = np.unique(known)
    return (
        _named_codes(name, distinct, len(known))
        or _counting(name, values, known, distinct)
        or _long_numbers(known, distinct)
        or Verdict(NUMBER, "whole numbers", "number")
    )


def _fractions_of_a_key(name: str, known: FloatArray) -> Verdict | None:
    """Find keys that look like fractions, such as 279658724.670364868."""
    if len(known) < FEW_LEVELS or not name_hints.names_a_key(name) or len(np.unique(known)) < len(known):
        return None
    return Verdict(IDENTIFIER, "its name is that of a key, and every row has its own")


def _whole(known: FloatArray) -> bool:
    start = known[:1000]
    return bool((start == np.floor(start)).all() and (known == np.floor(known)).all() and np.isfinite(known).all())


def judge_codes(what: str, n_codes: int, n_rows: int) -> Verdict:
    """Take codes as groups if there are few, otherwise as identifiers."""
    if n_codes <= FEW_CODES and 2 * n_codes <= n_rows:
        return Verdict(CATEGORY, f"{what}: {n_codes} names of groups, not quantities", "category")
    return Verdict(IDENTIFIER, f"{what}: {n_codes} different ones in {n_rows} rows")


def _named_codes(name: str, distinct: FloatArray, n_rows: int) -> Verdict | None:
    """Judge by the name: postal codes, telephone numbers, keys and codes are no quantities."""
    m = len(distinct)
    if name_hints.names_postal_codes(name):
        return judge_codes("postal codes", m, n_rows)
    if name_hints.names_phones(name):
        return judge_codes("telephone numbers", m, n_rows)
    if name_hints.names_a_key(name):
        if m > max(FEW_LEVELS, n_rows // 20) or 2 * m > n_rows:
            return Verdict(IDENTIFIER, f"its name is that of a key, and it has {m} different values in {n_rows} rows")
        return Verdict(CATEGORY, f"its name is that of a key, and it has {m} values: names of groups", "category")
    if name_hints.names_codes(name) and m <= FEW_CODES and 5 * m <= n_rows:
        return Verdict(CATEGORY, f"its name says that its {m} numbers are codes of groups", "category")
    counts_up = m == n_rows and distinct[-1] - distinct[0] == n_rows - 1
    if name_hints.names_a_number_of_something(name) and n_rows >= FEW_ROWS and 2 * m > n_rows and not counts_up:
        return Verdict(IDENTIFIER, f"its name is that of numbers of things; {m} different ones in {n_rows} rows")
    return None


def _counting(name: str, values: FloatArray, known: FloatArray, distinct: FloatArray) -> Verdict | None:
    """Find numbers that count the rows, in their order or not."""
    n = len(values)
    if n < FEW_ROWS or len(distinct) < n or distinct[-1] - distinct[0] != n - 1 or name_hints.names_a_rank(name):
        return None
    span = f"{plain_number(float(distinct[0]))} to {plain_number(float(distinct[-1]))}"
    steps = np.diff(known)
    if (steps == 1).all() or (steps == -1).all():
        if name_hints.names_a_time(name) and distinct[0] > 1:
            return None
        return Verdict(RUNNING_NUMBER, f"it counts the rows, {span}")
    if distinct[0] in (0, 1) or name_hints.names_rows(name) or name_hints.names_a_number_of_something(name):
        return Verdict(RUNNING_NUMBER, f"each of the numbers {span} occurs once")
    return None


def _long_numbers(known: FloatArray, distinct: FloatArray) -> Verdict | None:
    """Find dates like 20210304, and long numbers of one length that are all different."""
    if distinct[0] < LONG:
        return None
    if distinct[0] >= 19000101 and distinct[-1] <= 21001231 and all(map(_is_compact_date, distinct.tolist())):
        return Verdict(DATE, "eight digits each: year, month and day", DATE, COMPACT_DATES)
    digits = {len(plain_number(value)) for value in (float(distinct[0]), float(distinct[-1]))}
    if len(digits) == 1 and len(distinct) == len(known) >= FEW_LEVELS:
        return Verdict(IDENTIFIER, f"{len(distinct)} different numbers of {digits.pop()} digits")
    return None


def _is_compact_date(value: float) -> bool:
    return split_date(plain_number(value)) is not None


# What the texts of a column are: groups, codes, identifiers, sentences; and those that have an order.

MAX_LEVELS = 1000
MOST_ORDERED = 30  # levels of a scale
SENTENCE = 4  # words, on average
LONG_TEXT = 40  # characters, on average

_CODE = re.compile(r"\d+")
_ADDRESS = re.compile(r"\S+@\S+\.\S+|https?://\S+|www\.\S+")
_PHONE = re.compile(r"(?:\+|00?)[\d ()/.-]{6,20}\d")


def judge_digits(name: str, texts: DistinctTexts) -> Verdict | None:
    """Find codes written in digits: with leading zeros, too long for numbers, or named as such; None for numbers."""
    digits = np.array([_CODE.fullmatch(text) is not None for text in texts.texts], dtype=bool)
    if texts.share(digits) < 0.5:
        return None
    codes = [text for text, is_code in zip(texts.texts, digits, strict=True) if is_code]
    padded = any(len(code) > 1 and code[0] == "0" for code in codes)
    m, n = len(texts), texts.n_rows
    if padded and (len({len(code) for code in codes}) == 1 or name_hints.names_postal_codes(name)):
        what = "postal codes" if name_hints.names_postal_codes(name) else "digits with leading zeros are codes"
        return judge_codes(what, m, n)
    if texts.share(np.array([len(text) > EXACT_DIGITS for text in texts.texts]) & digits) >= 0.5:
        return judge_codes("numbers of so many digits are codes", m, n)
    if name_hints.names_postal_codes(name):
        return judge_codes("postal codes", m, n)
    if name_hints.names_phones(name):
        return judge_codes("telephone numbers", m, n)
    return None


def judge_words(name: str, texts: DistinctTexts) -> tuple[Verdict, tuple[str, ...]] | None:
    """Find words that have an order, and return it; None if there is none."""
    if not 2 <= len(texts) <= MOST_ORDERED:
        return None
    answer = yes_no(texts.by_frequency())
    if answer is not None:
        return Verdict(YES_NO, f"{answer[1]!r} and {answer[0]!r}", YES_NO), answer
    order = order_of(texts.by_frequency(), name)
    if order is not None:
        return Verdict(ORDERED, f"words with an order: {' < '.join(order)}", ORDERED), order
    return None


def judge_texts(name: str, texts: DistinctTexts) -> Verdict:
    """Tell groups from identifiers and free text."""
    m, n = len(texts), texts.n_rows
    words = float(np.average([len(text.split()) for text in texts.texts], weights=texts.counts))
    length = float(np.average([len(text) for text in texts.texts], weights=texts.counts))
    many = f"{m} different texts in {n} rows"
    if name_hints.names_text(name) and words >= 2 and m > min(FEW_LEVELS // 2, n // 2):
        return Verdict(FREE_TEXT, f"{many}, of {words:.0f} words each")
    looks = _looks_like_an_address(texts)
    if looks and m > FEW_LEVELS:
        return Verdict(IDENTIFIER, f"{many}: {looks}")
    if name_hints.names_postal_codes(name) or name_hints.names_phones(name):
        return judge_codes("postal codes" if name_hints.names_postal_codes(name) else "telephone numbers", m, n)
    if name_hints.names_a_key(name) and m > max(FEW_LEVELS, n // 20):
        own = "every row has its own text" if m == n else f"its name is that of a key, and it has {many}"
        return Verdict(IDENTIFIER, own)
    if (words >= SENTENCE or length > LONG_TEXT) and m > max(FEW_LEVELS, n // 10):
        return Verdict(FREE_TEXT, f"{many}, of {words:.0f} words each")
    if m > max(FEW_LEVELS, n // 2) or (m == n >= FEW_ROWS):
        return Verdict(IDENTIFIER, f"{many}: nearly every row has its own" if m < n else "every row has its own text")
    if name_hints.names_people_or_places(name) and m > max(FEW_LEVELS, n // 4):
        return Verdict(IDENTIFIER, many)
    if m > MAX_LEVELS:
        return Verdict(IDENTIFIER, f"{many}: too many to be groups")
    return Verdict(CATEGORY, f"{m} different texts", "category")


def _looks_like_an_address(texts: DistinctTexts) -> str:
    for pattern, what in ((_ADDRESS, "addresses of mail or web"), (_PHONE, "telephone numbers")):
        found = np.array([pattern.fullmatch(text) is not None for text in texts.texts], dtype=bool)
        if texts.share(found) > 0.8:
            return what
    return ""


MOST_MARKS = 10  # words for missing values beside the levels of a scale


@dataclass(frozen=True)
class Draft:
    """A column as far as it can be read without the others."""

    raw: RawColumn
    wish: Wish | None
    verdict: Verdict | None = None
    written: WrittenColumn | None = None  # numbers or dates whose style the column may not show
    order: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    problems: tuple[ColumnProblem, ...] = ()


def draft_column(raw: RawColumn, wish: Wish | None) -> Draft:
    """Find out what a column is, or read it as the user says.

    Parameters
    ----------
    raw : RawColumn
        The column.
    wish : Wish or None
        What the user says about it.

    Returns
    -------
    draft : Draft
    """
    if wish is not None and wish.kind in (IDENTIFIER, IGNORED):
        return Draft(raw, wish, Verdict(wish.kind, "as you say"))
    if not isinstance(raw.cells, CategoryColumn):
        return _draft_numbers(raw, raw.cells, wish)
    every = distinct_texts(raw.cells)
    signs = np.array([is_missing_sign(text) for text in every.texts], dtype=bool)
    texts = every.without(signs)
    if not len(texts):
        return Draft(raw, wish, Verdict(EMPTY, "it has no values"))
    if len(texts) == 1 and (wish is None or wish.kind != CATEGORY):
        return Draft(raw, wish, Verdict(CONSTANT, f"every cell with a value is {quoted(texts.texts)}"))
    drafted = _draft_wished(raw, texts, every, wish) if wish is not None else _draft_texts(raw, texts, every)
    if drafted.verdict is None or drafted.verdict.kind == CATEGORY:  # numbers may be found to be codes of groups
        drafted = replace(drafted, notes=drafted.notes + missing_notes(every, signs))
    return drafted


def _draft_numbers(raw: RawColumn, values: FloatArray, wish: Wish | None) -> Draft:
    verdict = judge_numbers(raw.name, values)
    if verdict.kind in (EMPTY, CONSTANT):
        return Draft(raw, wish, verdict)
    if wish is not None:
        return _wished_numbers(raw, verdict, wish, values)
    if raw.declared == MEASURED:
        return Draft(raw, wish, Verdict(NUMBER, "numbers", NUMBER))
    if raw.declared == DATE:
        return Draft(raw, wish, Verdict(DATE, "dates, read as days since 1970", DATE))
    if raw.declared == YES_NO:
        return Draft(raw, wish, Verdict(YES_NO, "true and false", NUMBER))
    return Draft(raw, wish, verdict)


def _wished_numbers(raw: RawColumn, verdict: Verdict, wish: Wish, values: FloatArray) -> Draft:
    """Read numbers as the user says."""
    if wish.order and not _is_their_order(wish.order, values):
        text = (
            f"its cells are numbers, which have an order of their own, and {', '.join(wish.order)} are not all of them "
            "in that order. Say that it is ordered without naming levels, or write words into its cells."
        )
        return _refused(raw, wish, text)
    if wish.kind == DATE and not (verdict.kind == DATE or raw.declared == DATE):
        text = f"its numbers, such as {', '.join(raw.examples())}, are no dates."
        return Draft(raw, wish, verdict, problems=(ColumnProblem(raw.name, text, (ignoring(raw.name),)),))
    if wish.kind == CATEGORY:
        return Draft(raw, wish, Verdict(CATEGORY, "as you say", CATEGORY))
    if wish.kind == DATE:
        return Draft(raw, wish, verdict._replace(reason="as you say"))
    return Draft(raw, wish, Verdict(wish.kind, "as you say", NUMBER))


def _is_their_order(order: Sequence[str], values: FloatArray) -> bool:
    """Tell whether levels are all of the values, ascending."""
    try:
        levels = [float(level) for level in order]
    except ValueError:
        return False
    return all(low < high for low, high in pairwise(levels)) and set(values[~np.isnan(values)].tolist()) <= set(levels)


def _draft_texts(raw: RawColumn, texts: DistinctTexts, every: DistinctTexts) -> Draft:
    """Find out what texts are when nobody says it."""
    if raw.declared == ORDERED:
        return Draft(raw, None, Verdict(ORDERED, "an ordered type", ORDERED), order=every.texts)
    if raw.declared == CATEGORY:
        return Draft(raw, None, _declared(judge_texts(raw.name, texts)))
    codes = judge_digits(raw.name, texts)
    if codes is not None:
        return Draft(raw, None, codes)
    ordered = _find_order(raw, texts, every)
    if ordered is not None:
        return ordered
    written = find_dates(raw.name, every) or find_numbers(raw.name, every)
    if written is not None:
        return Draft(raw, None, written=written)
    return Draft(raw, None, judge_texts(raw.name, texts))


def _find_order(raw: RawColumn, texts: DistinctTexts, every: DistinctTexts) -> Draft | None:
    """Find words with an order, or yes and no; answers such as "Don't know" are missing."""
    if len(texts) > MOST_ORDERED + MOST_MARKS:
        return None
    for judged in (_without(every, is_no_answer), _without(texts, is_no_answer), _without(texts, is_missing_word)):
        words = judge_words(raw.name, judged)
        if words is not None:
            return Draft(raw, None, words[0], order=words[1], notes=_notes_without(every, judged.texts))
    return None


def _without(texts: DistinctTexts, is_mark: Callable[[str], bool]) -> DistinctTexts:
    return texts.without(np.array([is_mark(text) for text in texts.texts], dtype=bool))


def _notes_without(texts: DistinctTexts, kept: Sequence[str]) -> tuple[str, ...]:
    """Say which words count as missing, because they are none of those with an order."""
    return missing_notes(texts, np.array([text not in kept for text in texts.texts], dtype=bool))


def _declared(verdict: Verdict) -> Verdict:
    return verdict._replace(reason="a categorical type") if verdict.kind == CATEGORY else verdict


def _draft_wished(raw: RawColumn, texts: DistinctTexts, every: DistinctTexts, wish: Wish) -> Draft:
    """Read texts as the user says."""
    if wish.kind in (NUMBER, DATE):
        find = find_numbers if wish.kind == NUMBER else find_dates
        written = find(raw.name, every, wished=True)
        if written is not None:
            return Draft(raw, wish, written=written)
    elif wish.kind == CATEGORY:
        if len(texts) <= MAX_LEVELS:
            return Draft(raw, wish, Verdict(CATEGORY, "as you say", CATEGORY))
        text = f"it has {len(texts)} different texts; at most {MAX_LEVELS} are allowed. Join rare ones."
        return _refused(raw, wish, text)
    elif wish.kind == YES_NO:
        answers = _without(texts, is_missing_word)
        answer = yes_no(answers.by_frequency())
        if answer is not None:
            notes = _notes_without(every, answers.texts)
            return Draft(raw, wish, Verdict(YES_NO, "as you say", YES_NO), order=answer, notes=notes)
    else:
        return _draft_ordered(raw, texts, every, wish)
    return _refused(raw, wish, f"its cells, such as {quoted(texts.by_frequency())}, cannot be read as {wish.kind}.")


def _draft_ordered(raw: RawColumn, texts: DistinctTexts, every: DistinctTexts, wish: Wish) -> Draft:
    """Order the levels as the user says, or as a scale does."""
    found = _find_order(raw, texts, texts)
    order = wish.order or (found.order if found is not None and len(found.order) > 1 else None)
    if order is None:
        some = list(dict.fromkeys(map(untyped, texts.by_frequency())))
        remedy = Remedy("--ordered", (f"{raw.name}={','.join(some[:4])}",), "", "with the levels from low to high")
        text = f"the order of its levels is not known: {quoted(some)}. Give the levels from low to high."
        return _refused(raw, wish, text, remedy)
    ranks = ranks_of(order, raw.name)
    known = [text for text in every.texts if untyped(text) in order or plain_word(text) in ranks]
    strange = [text for text in texts.texts if text not in known and not is_missing_word(text)]
    if strange:
        return _refused(raw, wish, f"{quoted(strange)} is none of the levels that you give: {', '.join(order)}.")
    verdict = Verdict(ORDERED, f"as you say: {' < '.join(order)}", ORDERED)
    return Draft(raw, wish, verdict, order=tuple(order), notes=_notes_without(every, known))


def _refused(raw: RawColumn, wish: Wish, text: str, *remedies: Remedy) -> Draft:
    problem = ColumnProblem(raw.name, text, (*remedies, ignoring(raw.name)))
    return Draft(raw, wish, Verdict(wish.kind, "it cannot be read as you say"), problems=(problem,))
