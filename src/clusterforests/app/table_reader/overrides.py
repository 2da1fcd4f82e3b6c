"""What the user says about columns: their kinds, their styles, and the order of levels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clusterforests.app.table_reader.columns import Kind, Style

STYLES = {Kind.NUMBER: (Style.DECIMAL_POINT, Style.DECIMAL_COMMA), Kind.DATE: (Style.DAY_FIRST, Style.MONTH_FIRST)}
KINDS = {"id": Kind.IDENTIFIER, "ignore": Kind.IGNORED} | {
    kind: kind for kind in (Kind.NUMBER, Kind.ORDERED, Kind.CATEGORY, Kind.YES_NO, Kind.DATE)
}
ALLOWED = [*KINDS, *(f"{kind}, {style}" for kind, styles in STYLES.items() for style in styles)]
MOST_LEVELS = 10_000  # of a column; a range in a damaged model may claim any number


@dataclass(frozen=True)
class Override:
    """The kind that a column is to have; its style and the order of its levels if they are given."""

    kind: str
    style: str = ""
    order: tuple[str, ...] = ()


@dataclass(frozen=True)
class FileStyle:
    """How the writer of a table writes, as far as it is known from outside; used where cells do not show it.

    `decimal` and `dates` are styles that the user gave. `from_text` says that columns of numbers were text, so that
    their decimal points show how the others are written; `plain_points`, that 1.234 has a decimal point where nothing
    speaks against it, as in a file whose cells are separated by commas.
    """

    decimal: str = ""
    dates: str = ""
    from_text: bool = False
    plain_points: bool = False


def parse_override(value: Any) -> Override | None:
    """Understand an override: a kind, a kind with a style, or levels from low to high; None if it is none."""
    if isinstance(value, str):
        kind, _, style = (part.strip() for part in value.partition(","))
        if kind not in KINDS or (style and style not in STYLES.get(kind, ())):
            return None
        return Override(KINDS[kind], style)
    # A slice tells how long a range is even where len() cannot.
    if isinstance(value, Sequence) and not value[MOST_LEVELS : MOST_LEVELS + 1]:
        order = tuple(map(str, value))
        return Override(Kind.ORDERED, order=order) if len(order) > 1 and len(set(order)) == len(order) else None
    return None


def parse_overrides(overrides: Any, names: Sequence[str]) -> dict[str, Override]:
    """Understand the overrides of a `TableReader`; refuse those that are none, and names that the table lacks."""
    given = {} if overrides is None else overrides
    parsed = {str(name): parse_override(value) for name, value in given.items()} if isinstance(given, Mapping) else {}
    known = {name: override for name, override in parsed.items() if override is not None}
    if not isinstance(given, Mapping) or len(known) < len(given):
        raise ValueError(
            f"overrides={overrides!r} is not allowed: it must be None or a dictionary from names of columns to one of "
            f"{', '.join(map(repr, ALLOWED))}, or to a list of levels from low to high, at most {MOST_LEVELS:,}."
        )
    unknown = [name for name in known if name not in names]
    if unknown:
        raise ValueError(f"overrides={overrides!r} names {unknown[0]!r}, but X has no such column.")
    return known
