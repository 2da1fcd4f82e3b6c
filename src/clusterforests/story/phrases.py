"""One difference between a cluster and the rest as a phrase and as a short name, by the kind of the column."""

import datetime
import re

from clusterforests.story.column_words import ABSENT, PRESENT, ColumnWords
from clusterforests.story.words import WORDS, comparative, number_pair, percent, quoted
from clusterforests.tables.column_reading import DATE, ORDERED

NEARLY = 0.9
YES = ("yes", "true", "y", "1", "ja", "oui", "si", "sí", "sim")
NO = ("no", "false", "n", "0", "nein", "non", "não")
DAYS = 2  # between two moments from which on they are told by their dates
EPOCH = datetime.datetime(1970, 1, 1)
SIGNS = ("$", "£", "€", "¥")
SHORT = 24  # characters of a column or level in a name


def number_phrase(column: ColumnWords, inside: float, outside: float, statistic: str) -> tuple[str, str]:
    """Say that a column is higher or lower, or a date later or earlier: "younger (28 against 40)"."""
    up = inside > outside
    numbers = _joined(column, inside, outside, statistic, " against ")
    how = "on average " if statistic == "mean" else ""
    if column.kind == DATE:
        more, name = f"{'later' if up else 'earlier'} {quoted(column.title)}", f"{'late' if up else 'early'} "
        return f"{more} ({how}{numbers})", name + _short(column.title)
    more = comparative(column.title, 1 if up else -1)
    known = column.title.strip().lower() in WORDS
    name = more if known else f"{'high' if up else 'low'} {_short(column.title)}"
    return f"{more} ({how}{numbers})", name


def share_phrase(column: ColumnWords, level: str, inside: float, outside: float) -> tuple[str, str]:
    """Say that a level is more or less frequent: "channel mostly app (82 % against 15 %)"."""
    if inside > outside:
        often = "always" if inside == 1 else "nearly always" if inside >= NEARLY else "mostly"
        often = often if inside >= 0.5 else "more often"
    else:
        often = "never" if inside == 0 else "rarely" if inside <= 1 - NEARLY else "less often"
    text = f"{quoted(column.title)} {often} {quoted(level)} ({percent(inside)} against {percent(outside)})"
    return text, _level_name(column, level, more=inside > outside)


def _level_name(column: ColumnWords, level: str, *, more: bool) -> str:
    """Name a level: by itself if it speaks, otherwise with its column."""
    if level in (PRESENT, ABSENT):
        return f"{'' if (level == PRESENT) == more else 'no '}{_short(column.title)}"
    word = level.strip().lower()
    if word in YES or word in NO:
        return f"{'' if (word in YES) == more else 'no '}{_short(column.title)}"
    speaks = re.search(r"[^\W\d_]{3}", level) is not None
    name = _short(level) if speaks else f"{_short(column.title)} {_short(level)}"
    return name if more else f"not {name}"


def interval_phrase(column: ColumnWords, low: float, high: float, inside: float, outside: float) -> tuple[str, str]:
    """Say that a column is in the middle: "income mostly from 31 to 39 (83 % against 12 %)"."""
    often = "always" if inside == 1 else "mostly"
    ends = f"from {_joined(column, low, high, 'median', ' to ')}"
    between = f"{often} {ends if low < high else ends.split(' to ')[-1]}"
    text = f"{quoted(column.title)} {between} ({percent(inside)} against {percent(outside)})"
    return text, f"medium {_short(column.title)}"


def shown_pair(column: ColumnWords, a: float, b: float, statistic: str) -> tuple[str, str]:
    """Write two values of a column in its own units."""
    if column.kind in (DATE, ORDERED) or column.unit in SIGNS or not column.unit:
        return _pair(column, a, b, statistic)
    first, second = number_pair(a, b)
    return f"{first} {column.unit}", f"{second} {column.unit}"


def _joined(column: ColumnWords, a: float, b: float, statistic: str, word: str) -> str:
    """Write two values with a word between them, and a unit that follows numbers once."""
    unit = f" {column.unit}" if column.unit and column.unit not in SIGNS else ""
    return word.join(_pair(column, a, b, statistic)) + unit


def _pair(column: ColumnWords, a: float, b: float, statistic: str) -> tuple[str, str]:
    if column.kind == ORDERED and statistic == "median" and a.is_integer() and b.is_integer():
        return quoted(column.order[int(a)]), quoted(column.order[int(b)])
    if column.kind == DATE:
        by_day = abs(a - b) >= DAYS
        return _moment(a, by_day=by_day), _moment(b, by_day=by_day)
    first, second = number_pair(a, b)
    return (_signed(first, column.unit), _signed(second, column.unit)) if column.unit in SIGNS else (first, second)


def _signed(number: str, sign: str) -> str:
    return f"-{sign}{number[1:]}" if number.startswith("-") else sign + number


def _moment(days: float, *, by_day: bool) -> str:
    """Write days since 1970 as a date, with the time of day where two moments are close together."""
    moment = EPOCH + datetime.timedelta(days=days)
    return f"{moment:%Y-%m-%d}" if by_day else f"{moment:%Y-%m-%d %H:%M}"


def _short(name: str) -> str:
    plain = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    return plain if len(plain) <= SHORT else plain[: SHORT - 1].rstrip() + "\u2026"
