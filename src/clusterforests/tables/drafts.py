"""What a single column is, before the others are known: by its cells, by its name, or by the user's word."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from clusterforests._base.typing import FloatArray
from clusterforests.tables.column_problems import ColumnProblem, Remedy, ignoring
from clusterforests.tables.column_reading import (
    CATEGORY,
    CONSTANT,
    DATE,
    EMPTY,
    IDENTIFIER,
    IGNORED,
    NUMBER,
    ORDERED,
    YES_NO,
)
from clusterforests.tables.column_table import CategoryColumn
from clusterforests.tables.missing_marks import is_missing_sign, is_missing_word, is_no_answer
from clusterforests.tables.number_columns import Verdict, judge_numbers
from clusterforests.tables.raw_columns import MEASURED, DistinctTexts, RawColumn, distinct_texts, quoted
from clusterforests.tables.text_columns import MAX_LEVELS, MOST_ORDERED, judge_digits, judge_texts, judge_words
from clusterforests.tables.wishes import Wish
from clusterforests.tables.word_scales import plain_word, ranks_of, yes_no
from clusterforests.tables.written_columns import WrittenColumn, find_dates, find_numbers, missing_notes
from clusterforests.tables.written_numbers import untyped

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
