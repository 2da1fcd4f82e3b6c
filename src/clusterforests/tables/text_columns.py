"""What the texts of a column are: groups, codes, identifiers, sentences; and those that have an order."""

import re

import numpy as np

from clusterforests.tables import name_hints
from clusterforests.tables.column_reading import CATEGORY, FREE_TEXT, IDENTIFIER, ORDERED, YES_NO
from clusterforests.tables.number_columns import FEW_LEVELS, FEW_ROWS, Verdict, judge_codes
from clusterforests.tables.raw_columns import DistinctTexts
from clusterforests.tables.word_scales import order_of, yes_no
from clusterforests.tables.written_numbers import EXACT_DIGITS

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
