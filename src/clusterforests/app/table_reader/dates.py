"""Dates and times of day as people write them: ISO, day or month first, with the months' names, with a time.

A cell is taken apart first (`parse_date`). Whether 03/04/2021 is in April or in March is decided for the whole column.
"""

import re
from datetime import date
from typing import NamedTuple

from clusterforests.app.table_reader.columns import Style

EPOCH = date(1970, 1, 1).toordinal()
CENTURY = 69  # two-digit years from this one on are of the 20th century, as in POSIX

_MONTHS = (  # English, German, French, Spanish, Italian, Dutch, Portuguese: the first letters tell them apart
    ("jan", "jän", "janv", "ene", "gen"),
    ("feb", "fév", "fev", "febr"),
    ("mar", "mär", "mrz", "mars", "maa", "mrt"),
    ("apr", "avr", "abr"),
    ("may", "mai", "mag", "mei"),
    ("jun", "juin", "giu"),
    ("jul", "juil", "lug"),
    ("aug", "aoû", "aou", "ago"),
    ("sep", "set"),
    ("oct", "okt", "ott", "out"),
    ("nov",),
    ("dec", "dez", "déc", "dic"),
)
_TIME = (
    r"(?:[T ,]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:[.,]\d+)?))?\s*(?P<half>[aApP]\.?[mM]\.?)?"
    r"(?:\s*(?P<zone>Z|UTC|[+-]\d{2}:?\d{2}))?(?:\s*Uhr)?)?"
)
_PATTERNS = tuple(
    re.compile(pattern + _TIME)
    for pattern in (
        r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})",
        r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second_>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})",
        r"(?P<day>\d{1,2})[-. ]{1,2}(?:de )?(?P<name>[^\W\d_]{3,10})[-. ,]{0,2}(?:de )?(?P<year>\d{4}|\d{2})",
        r"(?P<name>[^\W\d_]{3,10})[. ]{1,2}(?P<day>\d{1,2})(?:st|nd|rd|th)?,? (?P<year>\d{4})",
        r"(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})",
        r"(?P<year>(?:19|20)\d{2})-(?P<month>\d{2})",
        r"(?P<name>[^\W\d_]{3,10})[-. ]{1,2}(?P<year>\d{4})",
        r"(?P<month>\d{2})/(?P<year>(?:19|20)\d{2})",
    )
)
_CLOCK = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:[.,]\d+)?))?\s*(?P<half>[aApP]\.?[mM]\.?)?"
)


class ParsedDate(NamedTuple):
    """A date as it is written: `first` and `second` are day and month, in an order that the column decides."""

    year: int
    first: int
    second: int
    order: str  # the order if the cell shows it: a style, otherwise "unclear"; "" where both are the same day
    time: float  # part of a day

    def days(self, style: str) -> float | None:
        """Return the days since 1970 in a style; None if there is no such day, or if the cell shows another style."""
        if self.order == "":
            style = Style.DAY_FIRST
        elif self.order not in ("unclear", style) or style not in (Style.DAY_FIRST, Style.MONTH_FIRST):
            return None
        day, month = (self.second, self.first) if style == Style.MONTH_FIRST else (self.first, self.second)
        try:
            return date(self.year, month, day).toordinal() - EPOCH + self.time
        except ValueError:
            return None


def parse_date(cell: str) -> ParsedDate | None:
    """Take a cell apart; None if it is no date in any order."""
    text = cell.strip()
    if len(text) < 6 or len(text) > 40:
        return None
    for pattern in _PATTERNS:
        found = pattern.fullmatch(text)
        if found is not None:
            return _parse_parts(found.groupdict())
    return None


def _parse_parts(parts: dict[str, str | None]) -> ParsedDate | None:
    year, time = int(parts["year"] or 0), _time(parts)
    if len(parts["year"] or "") == 2:
        year += 1900 if year >= CENTURY else 2000
    if time is None or not 1000 <= year <= 2999:
        return None
    if "first" not in parts:
        month = _month(parts["name"] or "") if "name" in parts else int(parts["month"] or 0)
        known = ParsedDate(year, int(parts.get("day") or 1), month, "", time)
        return None if known.days(Style.DAY_FIRST) is None else known
    first, second = int(parts["first"] or 0), int(parts["second_"] or 0)
    either = ParsedDate(year, first, second, "unclear", time)
    fitting = [style for style in (Style.DAY_FIRST, Style.MONTH_FIRST) if either.days(style) is not None]
    if parts["mark"] == ".":
        fitting = [style for style in fitting if style == Style.DAY_FIRST]
    if not fitting:
        return None
    if first == second and parts["mark"] != ".":
        return either._replace(order="")
    return either if len(fitting) == 2 else either._replace(order=fitting[0])


def _month(name: str) -> int:
    start = name.casefold()
    if start.startswith(("juin", "juil")):
        return 6 if start.startswith("juin") else 7
    for number, starts in enumerate(_MONTHS, 1):
        if start.startswith(starts):
            return number
    return 0


def _time(parts: dict[str, str | None]) -> float | None:
    """Return the part of the day, in UTC if the cell has a zone."""
    if parts.get("hour") is None:
        return 0.0
    hour, minute = int(parts["hour"] or 0), int(parts["minute"] or 0)
    second = float((parts["second"] or "0").replace(",", "."))
    if parts.get("half"):
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if (parts["half"] or "")[0] in "pP" else 0)
    if hour > 24 or minute > 59 or second >= 61:
        return None
    zone = parts.get("zone") or ""
    if zone[:1] in ("+", "-"):
        shift = 60 * int(zone[1:3]) + int(zone[-2:])
        minute += shift if zone[0] == "-" else -shift
    return (3600 * hour + 60 * minute + second) / 86400


def parse_hours(cell: str) -> float | None:
    """Read a time of day or a duration such as 7:45 or 07:45:30 as hours; None if it is no such thing."""
    found = _CLOCK.fullmatch(cell.strip())
    if found is None:
        return None
    parts = found.groupdict()
    if parts["half"] is None and int(parts["hour"]) > 24 and int(parts["minute"]) < 60:
        return int(parts["hour"]) + int(parts["minute"]) / 60 + float((parts["second"] or "0").replace(",", ".")) / 3600
    time = _time(parts)
    return None if time is None else 24 * time
