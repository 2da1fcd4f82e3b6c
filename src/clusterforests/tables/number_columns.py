"""What the numbers of a column are: quantities, codes, identifiers, row numbers."""

from typing import NamedTuple

import numpy as np

from clusterforests._base.typing import FloatArray
from clusterforests.tables import name_hints
from clusterforests.tables.column_reading import (
    CATEGORY,
    CONSTANT,
    DATE,
    EMPTY,
    IDENTIFIER,
    NUMBER,
    RUNNING_NUMBER,
    YES_NO,
)
from clusterforests.tables.raw_columns import plain_number
from clusterforests.tables.written_dates import split_date

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
