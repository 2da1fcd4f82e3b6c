"""What each column of a file is for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clusterforests.cli.readers.request import Request
from clusterforests.tables.column_reading import CATEGORY, DATE, IGNORED, NUMBER, ORDERED
from clusterforests.tables.wishes import Wish

ANSWERS = ("--ignore", "--category", "--number", "--date", "--ordered")  # to what a column is: one for each


@dataclass(frozen=True)
class ColumnRoles:
    """The use of each column of a file: "feature", "id", "label", "known" or None."""

    names: list[str]
    uses: list[str | None]
    notes: tuple[str, ...] = ()

    @property
    def features(self) -> list[int]:
        return [j for j, use in enumerate(self.uses) if use == "feature"]


def assign_roles(file: str, names: list[str], request: Request) -> ColumnRoles:
    """Find the use of each column, and check the names against the request."""
    seen: dict[str, int] = {}
    for j, name in enumerate(names, 1):
        if name in seen:
            raise ValueError(
                f"{file}, line 1: columns {seen[name]} and {j} are both called {name!r}. Give each column its own name."
            )
        seen[name] = j
    notes = []
    id_column = request.id
    if names[0] == "" and len(names) > 1 and id_column is None:
        id_column = ""
        notes.append("The first column has no name and is taken as row names.")
    for j, name in enumerate(names, 1):
        if name == "" and not (j == 1 and id_column == ""):
            raise ValueError(f"{file}, line 1: column {j} has no name. Give it one, or remove the column.")
    for option, given in _named(request, names):
        _check_given(file, option, given, seen)
    _check_kinds(request, names)
    if request.wanted is not None:
        missing = [name for name in request.wanted if name not in seen]
        if missing:
            raise ValueError(
                f"{file} has no column {missing[0]!r}, which the model was fitted on"
                + (f", nor {len(missing) - 1} others" if len(missing) > 1 else "")
                + f". Its columns are {_some(names)}."
            )
    uses = [_use(name, request, id_column) for name in names]
    if "feature" not in uses:
        raise ValueError(f"{file} has no column to cluster by: its columns are {_some(names)}.")
    return ColumnRoles(names, uses, tuple(notes))


def _use(name: str, request: Request, id_column: str | None) -> str | None:
    if name == id_column:
        return "id"
    if name == request.label:
        return "label"
    if name == request.known:
        return "known"
    if request.wanted is not None:
        return "feature" if name in request.wanted else None
    return None if name in request.ignore else "feature"


def _named(request: Request, names: Sequence[str]) -> list[tuple[str, Sequence[str | None]]]:
    """List the columns that options name."""
    return [
        ("--id", [request.id]),
        ("--label", [request.label]),
        ("--known-labels", [request.known]),
        ("--ignore", request.ignore),
        ("--category", request.categories),
        ("--number", request.numbers),
        ("--date", request.dates),
        ("--ordered", [_split_order(given, names)[0] for given in request.ordered]),
    ]


def wishes_of(request: Request, names: Sequence[str]) -> dict[str, Wish]:
    """Collect what the options say about columns."""
    kinds = (
        (CATEGORY, request.categories),
        (NUMBER, request.numbers),
        (DATE, request.dates),
        (IGNORED, request.ignore),
    )
    wishes = {name: Wish(kind) for kind, given in kinds for name in given}
    for given in request.ordered:
        name, levels = _split_order(given, names)
        wishes[name] = Wish(ORDERED, order=levels)
    return wishes


def _split_order(given: str, names: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Split size=small,medium,large into the name and its levels from low to high."""
    if given in names:
        return given, ()
    name, _, levels = given.partition("=")
    return name, tuple(level.strip() for level in levels.split(",") if level.strip())


def _check_given(file: str, option: str, given: Sequence[str | None], seen: Mapping[str, int]) -> None:
    for name in given:
        if name is not None and name not in seen:
            raise ValueError(
                f"{file} has no column {name!r}, which {option} names. Its columns are {_some(list(seen))}."
            )


def _check_kinds(request: Request, names: Sequence[str]) -> None:
    """Refuse two answers to what a column is, of which one would be forgotten, and orders of levels that are none."""
    kinds: dict[str | None, str] = {}
    for option, given in _named(request, names):
        for name in dict.fromkeys(given if option in ANSWERS else ()):
            if name in kinds:
                raise ValueError(f"{kinds[name]} and {option} both name column {name!r}. Leave it out of one of them.")
            kinds[name] = option
    for given in request.ordered:
        name, levels = _split_order(given, names)
        if given not in names and (len(levels) < 2 or len(set(levels)) < len(levels)):
            raise ValueError(
                f"--ordered {given} does not name two different levels or more. Pass all levels from low to high, such "
                "as --ordered size=small,medium,large."
            )


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
