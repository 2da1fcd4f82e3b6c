"""Numbers as people write them: percent, currencies, units, separators of thousands, decimal commas, limits.

A cell is taken apart first (`parse_number`); which sign is the decimal one is decided for the whole column
(`decimal_evidence`), and only then the cells become numbers (`ParsedNumber.value`).
"""

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

from clusterforests.app.table_reader.columns import Style

EXACT_DIGITS = 15  # that float64 always holds; longer numbers without a sign are codes
MANY = 50  # numbers of which some would end in fewer than three decimals if their sign were the decimal one

TYPED = "e0"  # behind a number that its file holds as one, not as text: its point is a decimal point

_CURRENCY = (
    r"US\$|R\$|[€$£¥₹₽₩₺₪₫฿]|kr\.?|zł|Kč|Ft|lei|Fr\.|SFr\.?|Rs\.?|EUR|USD|CHF|GBP|JPY|CNY|SEK|NOK|DKK|PLN|CZK|HUF|INR|AUD|"
    r"CAD|NZD|BRL|MXN|ZAR|TRY|RUB"
)
_UNIT = r"[^\W\d_][\w/²³·.^°%µ -]{0,19}|[%‰°€$£¥₹₽₩₺₪₫฿][\w/]{0,10}|/[^\W\d]\w{0,9}"
_CELL = re.compile(
    rf"(?P<open>\()?\s*(?P<limit>[<>≤≥]=?)?\s*(?P<sign>[+-])?\s*(?P<before>{_CURRENCY})?\s*(?P<inner>[+-])?"
    rf"(?P<body>\d[\d.,'  ]*\d|\d|[.,]\d+)(?P<round>[.,]-{{1,2}}|[.,](?=\s*(?:{_CURRENCY})?$))?"
    rf"(?P<exponent>[eE][+-]?\d+)?(?P<after>-)?\s*(?P<unit>{_UNIT})?\s*(?P<close>\))?"
)
_MONEY = re.compile(_CURRENCY)
_SPACES = dict.fromkeys(map(ord, "\u00a0\u202f\u2009\u2007"), " ")
_SIGNS = _SPACES | {0x2212: "-", 0x2013: "-", 0x2014: "-", 0x2019: "'", 0x02BC: "'", 0xFF0B: "+"}  # dashes, apostrophes
_GROUPED = {mark: re.compile(rf"[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+") for mark in ".,' "}
_INDIAN = re.compile(r"[1-9]\d?(?:,\d{2})+,\d{3}")
_UNCLEAR = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_TYPED = re.compile(rf"-?\d+\.\d+{TYPED}")
_SHORT = re.compile(r"0|[1-9]\d{0,2}")
_LONG = re.compile(r"[1-9]\d{3,}")


def typed(text: str) -> str:
    """Mark a number that its file holds as one, such as 5.073, which as text might be thousands."""
    return text + TYPED if "." in text and "e" not in text.lower() else text


def untyped(text: str) -> str:
    """Show a marked number as its file has it."""
    return text.removesuffix(TYPED) if _TYPED.fullmatch(text) else text


class ParsedNumber(NamedTuple):
    """A number as it is written, taken apart."""

    negative: bool
    limit: str  # "<" or ">" before it, or ""
    unit: str  # a currency before it or a unit after it, or ""
    body: str  # digits and separators
    exponent: str

    @property
    def plain_unit(self) -> str:
        """The unit, whatever its case."""
        return self.unit.casefold().rstrip(".")

    @property
    def padded(self) -> bool:
        """Whether it has leading zeros, as codes have."""
        return self.body[0] == "0" and self.body[1:2].isdigit()

    def value(self, style: str) -> float | None:
        """Return the number in a style; None if the separators do not fit it."""
        point = style != Style.DECIMAL_COMMA or (self.exponent == TYPED and "," not in self.body)
        digits = _digits(self.body, "." if point else ",")
        if digits is None:
            return None
        size = float(digits + self.exponent)
        return -size if self.negative else size


def parse_number(cell: str, *, padded: bool = False) -> ParsedNumber | None:
    """Take a cell apart; None if it is no number in any style, or a code such as 01067 unless it may be `padded`."""
    found = _CELL.fullmatch(cell.translate(_SIGNS).strip())
    if found is None or (found["open"] is None) != (found["close"] is None):
        return None
    signs = [found[name] for name in ("sign", "inner", "after") if found[name]]
    if len(signs) > 1 or (signs and found["open"]):
        return None
    before, after = found["before"] or "", (found["unit"] or "").strip()
    if before and after and before != after:
        after = f"{before} {after}"
    body: str = found["body"]
    if found["round"] and "." in body:
        return None
    digits, exponent = _digits(body, ".") or _digits(body, ","), found["exponent"] or ""
    if digits is None or math.isinf(float(digits + exponent)) or (body.isdigit() and len(body) > EXACT_DIGITS):
        return None
    negative = bool(found["open"]) or "-" in signs
    number = ParsedNumber(negative, (found["limit"] or "")[:1], after or before, body, exponent)
    return number if padded or not number.padded else None


def _digits(body: str, decimal: str) -> str | None:
    """Write a body as Python does, if it is one with this decimal sign."""
    if body.isdigit():
        return body
    whole, _, fraction = body.partition(decimal) if body.count(decimal) == 1 else (body, "", "")
    if decimal in whole or (fraction and not fraction.isdigit()):
        return None
    if whole.isdigit() or (not whole and fraction):
        return f"{whole or '0'}.{fraction or '0'}"
    other = "," if decimal == "." else "."
    for mark in (other, "'", " "):
        if _GROUPED[mark].fullmatch(whole) or (mark == "," and _INDIAN.fullmatch(whole)):
            return f"{whole.replace(mark, '')}.{fraction or '0'}"
    return None


def decimal_evidence(number: ParsedNumber) -> str:
    """Say which style a single number shows: a style, "unclear" as in 1,234, or "" where it has no such sign."""
    body = number.body
    if ("." not in body and "," not in body) or number.exponent == TYPED:
        return ""
    if _UNCLEAR.fullmatch(body):
        return (Style.DECIMAL_COMMA if "," in body else Style.DECIMAL_POINT) if number.exponent else "unclear"
    point, comma = _digits(body, "."), _digits(body, ",")
    if point is not None and comma is not None:
        return ""  # the sign is no decimal one in either
    return Style.DECIMAL_POINT if point is not None else Style.DECIMAL_COMMA


class StyleEvidence(NamedTuple):
    """What the numbers of a column show about their decimal sign."""

    styles: dict[str, str]  # each style that some cell shows, with one such body
    unclear: str  # a body like 1,234, or ""
    thousands: bool  # numbers like 1,234 are thousands: see `style_evidence`

    def settled(self) -> str | None:
        """Return the style that the column itself shows; "" if any will do, None if it is unclear."""
        if len(self.styles) == 1:
            return next(iter(self.styles))
        if self.unclear and self.thousands:
            return Style.DECIMAL_POINT if "," in self.unclear else Style.DECIMAL_COMMA
        return None if self.unclear else ""


def style_evidence(numbers: Iterable[ParsedNumber]) -> StyleEvidence:
    """Look at all numbers of a column.

    Numbers like 1,234 are thousands if many stand beside smaller ones without a sign (of decimals, some would end in
    fewer than three), or if they are amounts of money like 12,345 (money has two decimals, prices per litre three).
    """
    styles: dict[str, str] = {}
    unclear: list[str] = []
    short = long = money = False
    for number in numbers:
        body, shown = number.body, decimal_evidence(number)
        if shown == "unclear":
            unclear.append(body)
            money = money or (len(body) > 5 and _MONEY.fullmatch(number.unit) is not None)
        elif shown:
            styles.setdefault(shown, body)
        elif not short or not long:
            short = short or _SHORT.fullmatch(body) is not None
            long = long or _LONG.fullmatch(body) is not None
    marks = {"," if "," in body else "." for body in unclear}
    if len(marks) > 1 and not styles:  # 1,234 beside 1.234
        styles = {
            Style.DECIMAL_POINT: next(b for b in unclear if "." in b),
            Style.DECIMAL_COMMA: next(b for b in unclear if "," in b),
        }
    grouped = money or (len(unclear) >= MANY and short and not long)
    return StyleEvidence(styles, unclear[0] if unclear else "", grouped)
