"""Numbers and columns in plain English."""

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from clusterforests.app.table_reader.columns import Kind

WORDS = {  # for columns of exactly this name: more of it, less of it
    "age": ("older", "younger"),
    "duration": ("longer", "shorter"),
    "height": ("taller", "shorter"),
    "length": ("longer", "shorter"),
    "price": ("dearer", "cheaper"),
    "size": ("larger", "smaller"),
    "temperature": ("warmer", "colder"),
    "weight": ("heavier", "lighter"),
    "width": ("wider", "narrower"),
}
LONGEST = 60  # characters of a name in a sentence
PLAIN = 1e9  # numbers from here on have an exponent
MOST_DECIMALS = 6


def listed(parts: Sequence[str]) -> str:
    """Join parts as in a sentence."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def counted(number: int, what: str) -> str:
    """Write a number of things."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def capitalised(text: str) -> str:
    """Begin a sentence; a first word that is not all in lower case, such as pH, stays as it is."""
    first = re.match(r"\w+", text)
    return text[0].upper() + text[1:] if first is not None and first[0].islower() else text


def quoted(name: str) -> str:
    """Show a name in a sentence: in quotes if it could be taken for more than one word of the sentence."""
    plain = "".join(c if c.isprintable() else " " for c in name)
    short = plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + "\u2026"
    return f'"{short}"' if not short.strip() or re.search(r"[,;:()\"]|^\s|\s$", short) else short


def comparative(name: str, direction: int) -> str:
    """Say that there is more (direction 1) or less of something: "older", "higher income"."""
    known = WORDS.get(name.strip().lower())
    if known is not None:
        return known[direction < 0]
    return f"{'higher' if direction > 0 else 'lower'} {quoted(name)}"


def percent(share: float) -> str:
    """Write a share as a percentage that is 0 or 100 only where the share is 0 or 1."""
    if 0 < share < 0.005:
        return "< 1 %"
    if 0.995 <= share < 1:
        return "> 99 %"
    return f"{100 * share:.0f} %"


def number_pair(a: float, b: float) -> tuple[str, str]:
    """Write two different numbers with as many digits as it takes to see how they differ."""
    if max(abs(a), abs(b)) >= PLAIN:
        return _with_exponent(a, b)
    decimals = _decimals(a, b)
    if decimals > MOST_DECIMALS:
        return _with_exponent(a, b)
    return _decimal(a, decimals), _decimal(b, decimals)


def round_outward(low: float, high: float) -> tuple[float, float]:
    """Round the ends of an interval to two digits of its width, so that it holds no less."""
    if low == high or max(abs(low), abs(high)) >= PLAIN:
        return low, high
    digits = 1 - math.floor(math.log10(high - low))  # after the point; before it if negative
    if digits > MOST_DECIMALS or (digits >= 0 and _whole(low) and _whole(high)):
        return low, high
    steps, unit = 10 ** max(digits, 0), 10 ** max(-digits, 0)
    return math.floor(low * steps / unit) * unit / steps, math.ceil(high * steps / unit) * unit / steps


def _decimals(a: float, b: float) -> int:
    """Say how many decimals show the difference of two numbers to two digits."""
    return 0 if a == b or (_whole(a) and _whole(b)) else max(0, 1 - math.floor(math.log10(abs(a - b))))


def _decimal(value: float, decimals: int) -> str:
    text = f"{value:,.{decimals}f}"
    return text.lstrip("-") if float(text.replace(",", "")) == 0 else text


def _whole(value: float) -> bool:
    return value == math.floor(value)


def _with_exponent(a: float, b: float) -> tuple[str, str]:
    digits = next((d for d in range(3, 17) if f"{a:.{d}g}" != f"{b:.{d}g}"), 17)
    return f"{a:.{digits}g}", f"{b:.{digits}g}"


# What is said of each column: a number in its unit, the share of a level, a level of an order, or a date.

SHARE = "share"  # of a level
PRESENT, ABSENT = "present", "absent"  # cells of a sparse table


@dataclass(frozen=True)
class ColumnWords:
    """How a column of the table of numbers is put into words."""

    feature: int
    name: str
    kind: str  # NUMBER, SHARE, DATE or ORDERED
    level: str | None = None  # whose share it is
    other: str | None = None  # the only other level, if there are two
    order: tuple[str, ...] = ()  # levels of an ordered column, from the lowest, which is 0
    unit: str = ""
    marks: str | None = None  # the level of a category that the column marks by 1; None for a feature that is a number
    title: str = ""  # the name without the unit, if it has one: "petal length" of "petal length (cm)"

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", self.title or self.name)


# One difference between a cluster and the rest as a phrase and as a short name, by the kind of the column.

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
    if column.kind == Kind.DATE:
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
    if column.kind in (Kind.DATE, Kind.ORDERED) or column.unit in SIGNS or not column.unit:
        return _pair(column, a, b, statistic)
    first, second = number_pair(a, b)
    return f"{first} {column.unit}", f"{second} {column.unit}"


def _joined(column: ColumnWords, a: float, b: float, statistic: str, word: str) -> str:
    """Write two values with a word between them, and a unit that follows numbers once."""
    unit = f" {column.unit}" if column.unit and column.unit not in SIGNS else ""
    return word.join(_pair(column, a, b, statistic)) + unit


def _pair(column: ColumnWords, a: float, b: float, statistic: str) -> tuple[str, str]:
    if column.kind == Kind.ORDERED and statistic == "median" and a.is_integer() and b.is_integer():
        return quoted(column.order[int(a)]), quoted(column.order[int(b)])
    if column.kind == Kind.DATE:
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
