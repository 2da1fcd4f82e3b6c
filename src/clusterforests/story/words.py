"""Numbers and columns in plain English."""

import math
import re
from collections.abc import Sequence

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
