"""What the user says about columns: their kinds, their styles, and the order of levels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clusterforests._utils.validation import Rule, either, none
from clusterforests.table.frames import column_names
from clusterforests.table.reader.column_reading import (
    CATEGORY,
    DATE,
    DAY_FIRST,
    DECIMAL_COMMA,
    DECIMAL_POINT,
    IDENTIFIER,
    IGNORED,
    MONTH_FIRST,
    NUMBER,
    ORDERED,
    YES_NO,
)

STYLES = {NUMBER: (DECIMAL_POINT, DECIMAL_COMMA), DATE: (DAY_FIRST, MONTH_FIRST)}
WORDS = {"id": IDENTIFIER, "ignore": IGNORED} | {kind: kind for kind in (NUMBER, ORDERED, CATEGORY, YES_NO, DATE)}
ALLOWED = [*WORDS, *(f"{kind}, {style}" for kind, styles in STYLES.items() for style in styles)]


@dataclass(frozen=True)
class Wish:
    """The kind that a column is to have; its style and the order of its levels if they are given."""

    kind: str
    style: str = ""
    order: tuple[str, ...] = ()


@dataclass(frozen=True)
class Habits:
    """How the writer of a table writes, as far as it is known from outside; used where cells do not show it.

    `decimal` and `dates` are styles that the user gave. `plain_points` says that 1.234 is a decimal point where nothing
    speaks against it, as in a file whose cells are separated by commas.
    """

    decimal: str = ""
    dates: str = ""
    plain_points: bool = False


MOST_LEVELS = 10_000  # of a column; a range in a damaged model may claim any number


def parse_wish(value: Any) -> Wish | None:
    """Understand an entry of `columns`: a kind, a kind with a style, or levels from low to high; None if it is none."""
    if isinstance(value, str):
        kind, _, style = (part.strip() for part in value.partition(","))
        if kind not in WORDS or (style and style not in STYLES.get(kind, ())):
            return None
        return Wish(WORDS[kind], style)
    # A slice tells how long a range is even where len() cannot.
    if isinstance(value, Sequence) and not value[MOST_LEVELS : MOST_LEVELS + 1]:
        order = tuple(map(str, value))
        return Wish(ORDERED, order=order) if len(order) > 1 and len(set(order)) == len(order) else None
    return None


def require_names(columns: Mapping[Any, Any], X: Any) -> None:
    """Refuse to be told what columns are that have no names."""
    if column_names(X) is None:
        raise ValueError(
            f"columns={dict(columns)!r} says what columns of a frame hold, but X is of type {type(X).__name__}, whose "
            "columns have no names and are all taken as they are. Pass a frame, such as pandas.DataFrame(X)."
        )


def parse_wishes(columns: Mapping[Any, Any] | None, names: Sequence[str]) -> dict[str, Wish]:
    """Understand the `columns` of a forest, and refuse names that the table does not have."""
    unknown = [name for name in columns or {} if str(name) not in names]
    if unknown:
        raise ValueError(f"columns={columns!r} names {unknown[0]!r}, but X has no such column.")
    return {str(name): wish for name, value in (columns or {}).items() if (wish := parse_wish(value)) is not None}


COLUMNS_RULE = either(
    none(),
    Rule(
        lambda value: isinstance(value, Mapping) and all(parse_wish(wish) is not None for wish in value.values()),
        f"a dictionary from names of columns to one of {', '.join(map(repr, ALLOWED))}, or to a list of levels from "
        f"low to high, at most {MOST_LEVELS:,}",
    ),
)
