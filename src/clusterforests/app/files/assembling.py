"""The columns of a file inspected, read and put to their uses."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clusterforests.app.command_line.problems import FileProblems, LocatedProblem
from clusterforests.app.files.request import DataFile, Request
from clusterforests.table.reader.cells import CellError, Cells, convert
from clusterforests.table.reader.column_problems import ColumnProblem, Remedy, column_notes, describe_left_out, stand_in
from clusterforests.table.reader.column_reading import (
    CATEGORY,
    CONSTANT,
    DATE,
    DAY_FIRST,
    DECIMAL_COMMA,
    DECIMAL_POINT,
    IDENTIFIER,
    IGNORED,
    MONTH_FIRST,
    NUMBER,
    ORDERED,
    ColumnReading,
)
from clusterforests.table.reader.inspection import inspect_columns
from clusterforests.table.reader.new_columns import read_like
from clusterforests.table.reader.numbers import split_number, untyped
from clusterforests.table.reader.overrides import Habits, Wish
from clusterforests.table.reader.raw_columns import CategoryColumn, ColumnTable, RawColumn
from clusterforests.table.reader.remarks import NewCells

# What each column of a file is for.

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


# Tables that look turned: genes as rows and samples as columns.

MORE_ROWS = 4  # times as many rows as columns
FEW_STEMS = 4  # columns for each stem of their names: sample1, sample2, ... have one
MOST = 0.8  # of the names
GENE = re.compile(
    r"(ENS[A-Z]*[GTP]\d{6,}(\.\d+)?|[A-Z][A-Z0-9]{1,9}([-.][A-Z0-9]+)*|[A-Z][a-z]{1,8}\d+[a-z0-9]*|\d{3,}(_[a-z])*_at"
    r"|cg\d{8}|hsa-[a-z]+-\S+)"
)


def orientation_notes(rows: Sequence[str], columns: Sequence[str], n_rows: int) -> tuple[str, ...]:
    """Return a hint if the rows are named like genes and the columns like samples, of which there are far fewer."""
    if n_rows < MORE_ROWS * len(columns) or len(columns) < 2 * FEW_STEMS:
        return ()
    genes = sum(GENE.fullmatch(name.strip('"')) is not None for name in rows)
    stems = {re.sub(r"\d+", "", name) for name in columns}
    if genes < MOST * n_rows or len(stems) > len(columns) / FEW_STEMS:
        return ()
    return (
        f"The rows look like genes ({rows[0]}, ...) and the columns like samples ({columns[0]}, ...): the genes are "
        "clustered. To cluster the samples, pass --transpose.",
    )


DECIMALS = {".": DECIMAL_POINT, ",": DECIMAL_COMMA, None: ""}


def assemble(
    file: str,
    roles: ColumnRoles,
    columns: Mapping[int, Any],
    request: Request,
    lines: Sequence[int],
    *,
    plain_points: bool = False,
) -> DataFile:
    """Find out what the columns are and put each to its use.

    Parameters
    ----------
    file : str
        Its name in messages.
    roles : ColumnRoles
        What each column is for.
    columns : mapping of int to ndarray, CategoryColumn or RawColumn
        The columns that have a use, by their position; those that are no features hold texts.
    request : Request
        What to read.
    lines : sequence of int
        The line numbers of the rows.
    plain_points : bool, default=False
        See `Habits`.

    Returns
    -------
    data : DataFile
    """
    habits = Habits(DECIMALS[request.decimal], request.date_order, plain_points)
    raws = {j: _raw(roles.names[j], columns[j], request.missing) for j in roles.features}
    readings: tuple[ColumnReading, ...] = ()
    found: tuple[LocatedProblem, ...] = ()
    new = NewCells()
    if request.wanted is not None:
        table = _as_model(file, raws, request, habits, lines, new)
    else:
        table, readings, found = _inspected(file, roles, raws, request, habits, lines)
    if not found:
        _check_rows(file, table.cells, lines)
    ids = truth = known = None
    id_name = None
    for j, use in enumerate(roles.uses):
        if use == "id":
            ids, id_name = (
                ["" if cell is None else untyped(str(cell)) for cell in columns[j].cells()],
                roles.names[j] or "id",
            )
        elif use == "label":
            truth = columns[j].cells().tolist()
        elif use == "known":
            known = [None if cell is None else untyped(str(cell)) for cell in _texts(columns[j], request.missing)]
    hint = orientation_notes(ids or _left_out_names(columns, readings), table.columns, len(lines))
    notes = (*roles.notes, *column_notes(readings), *hint, *new.notes())
    return DataFile(table, ids, id_name, truth, known, notes, readings, found)


def read_the_others(
    file: str, request: Request, unread: Sequence[LocatedProblem], read: Callable[[Request], DataFile]
) -> DataFile:
    """Read the columns that can be read, and list those that cannot with the problems of these."""
    if not unread:
        return read(request)
    columns = [problem.problem.column for problem in unread]
    if request.wanted is not None or not {request.id, request.label, request.known}.isdisjoint(columns):
        raise FileProblems(file, unread)
    try:
        data = read(replace(request, ignore=(*request.ignore, *columns), only_inspect=True))
    except ValueError as error:  # no column is left
        raise FileProblems(file, unread) from error
    problems = (*unread, *data.problems)
    if not request.only_inspect:
        raise FileProblems(file, problems)
    return replace(data, problems=problems)


def _left_out_names(columns: Mapping[int, Any], readings: Sequence[ColumnReading]) -> list[str]:
    """Return the texts of a first column that is left out as an identifier."""
    first = columns.get(0)
    cells = first.cells if isinstance(first, RawColumn) else first
    named = bool(readings) and readings[0].kind == IDENTIFIER and isinstance(cells, CategoryColumn)
    return list(map(str, cells.levels)) if named else []  # type: ignore[union-attr]


def _raw(name: str, cells: Any, missing: Sequence[str]) -> RawColumn:
    raw = cells if isinstance(cells, RawColumn) else RawColumn(name, cells)
    if not missing or not isinstance(raw.cells, CategoryColumn):
        return raw
    given = [text in missing or untyped(str(text)) in missing for text in raw.cells.levels]
    codes = np.array([*(-1 if mark else code for code, mark in enumerate(given)), -1], np.int32)
    kept = CategoryColumn(codes[raw.cells.codes], raw.cells.levels)
    return replace(raw, cells=_without_unused(kept))


def _texts(cells: Any, missing: Sequence[str]) -> list[Any]:
    """Return the cells of a column of texts, None for those that are missing."""
    raw: Any = _raw("", cells, missing).cells
    return list(raw.cells())


def _without_unused(cells: CategoryColumn) -> CategoryColumn:
    used = np.unique(cells.codes[cells.codes >= 0])
    codes = np.full(len(cells.levels) + 1, -1, dtype=np.int32)
    codes[used] = np.arange(len(used), dtype=np.int32)
    return CategoryColumn(codes[cells.codes], tuple(cells.levels[code] for code in used.tolist()))


def _inspected(
    file: str,
    roles: ColumnRoles,
    raws: Mapping[int, RawColumn],
    request: Request,
    habits: Habits,
    lines: Sequence[int],
) -> tuple[ColumnTable, tuple[ColumnReading, ...], tuple[LocatedProblem, ...]]:
    """Inspect the columns of a table to fit; raise its problems unless they are asked for."""
    positions = list(raws)
    found = inspect_columns(list(raws.values()), wishes_of(request, roles.names), habits)
    readings = {j: _of_role(roles, j) for j in range(len(roles.names)) if j not in raws}
    used = [i for i in found.used if i in found.cells]
    for i, reading in enumerate(found.readings):
        readings[positions[i]] = replace(reading, feature=used.index(i) if i in found.cells else -1)
    ordered = tuple(readings[j] for j in sorted(readings))
    problems = tuple(LocatedProblem(p, None if p.row is None else lines[p.row]) for p in found.problems)
    if problems and not request.only_inspect:
        raise FileProblems(file, problems)
    if not used and not problems:
        used = [i for i, reading in enumerate(found.readings) if reading.kind == CONSTANT]
        if not used and not request.only_inspect:
            raise ValueError(f"{file} has no column to cluster by: {describe_left_out(ordered)}")
    cells = [found.cells[i] if i in found.cells else stand_in(raws[positions[i]]) for i in used]
    return ColumnTable([found.readings[i].name for i in used], cells, ordered), ordered, problems


def _of_role(roles: ColumnRoles, j: int) -> ColumnReading:
    """Describe a column that is no feature."""
    name, use = roles.names[j], roles.uses[j]
    if use == "id":
        return ColumnReading(name, IDENTIFIER, "as you say", used=False)
    return ColumnReading(name, IGNORED, "known classes" if use in ("label", "known") else "as you say", used=False)


def _as_model(
    file: str,
    raws: Mapping[int, RawColumn],
    request: Request,
    habits: Habits,
    lines: Sequence[int],
    new: NewCells,
) -> ColumnTable:
    """Read the columns as a model reads them, in its order."""
    by_name = {raw.name: raw for raw in raws.values()}
    problems: list[LocatedProblem] = []
    cells: list[Cells] = []
    for name in request.wanted or ():
        try:
            cells.append(_as_fitted(by_name[name], request, habits, new))
        except CellError as error:
            problem = ColumnProblem(
                name, f"{error.text}. Correct it.", error.remedies or _missing(by_name[name], error)
            )
            problems.append(LocatedProblem(problem, lines[error.row]))
    if problems:
        raise FileProblems(file, problems)
    return ColumnTable(list(request.wanted or ()), cells)


def _missing(raw: RawColumn, error: CellError) -> tuple[Remedy, ...]:
    """Offer to take a text that is no number as missing."""
    text = raw.cells.levels[raw.cells.codes[error.row]] if isinstance(raw.cells, CategoryColumn) else ""
    if not text or split_number(str(text)) is not None:
        return ()
    return (Remedy("--missing", (str(text),), "", "if that stands for a missing value"),)


def _as_fitted(raw: RawColumn, request: Request, habits: Habits, new: NewCells) -> Cells:
    reading = request.readings.get(raw.name)
    if reading is None and raw.name not in request.levels:  # a model that does not say how it read the column
        found = inspect_columns([raw], {raw.name: Wish(NUMBER)}, habits)
        if found.problems:
            row = found.problems[0].row
            raise CellError(row or 0, found.problems[0].text.rstrip("."))
        reading = found.readings[0]
        if not reading.used:
            return _constant(raw)
    cells = raw.cells if reading is None else read_like(raw, _in_style(raw, reading, habits), new)
    levels = request.levels.get(raw.name)
    if levels is None or not isinstance(cells, CategoryColumn):
        return cells
    return CategoryColumn(cells.codes, tuple(levels.get(str(level), level) for level in cells.levels))


def _in_style(raw: RawColumn, reading: ColumnReading, habits: Habits) -> ColumnReading:
    """Take the style that the user gives; where the model knows none, the one that the kind of file suggests."""
    if reading.read_as == NUMBER:
        points = habits.plain_points and not any("," in str(level) for level in getattr(raw.cells, "levels", ()))
        return replace(reading, style=habits.decimal or reading.style or (DECIMAL_POINT if points else ""))
    if reading.read_as == DATE and habits.dates and reading.style in ("", DAY_FIRST, MONTH_FIRST):
        return replace(reading, style=habits.dates)
    return reading


def _constant(raw: RawColumn) -> Cells:
    """Read numbers that are all alike, or all missing."""
    if not isinstance(raw.cells, CategoryColumn):
        return raw.cells
    return convert(raw.cells, ColumnReading(raw.name, NUMBER, "", used=True, read_as=NUMBER, style=DECIMAL_POINT))


def _check_rows(file: str, columns: Sequence[Any], lines: Sequence[int]) -> None:
    empty = np.ones(len(lines), dtype=bool)
    for cells in columns:
        empty &= (cells.codes < 0) if isinstance(cells, CategoryColumn) else np.isnan(cells)
        if not empty.any():
            return
    line = lines[int(np.flatnonzero(empty)[0])]
    raise ValueError(f"{file}, line {line} has no value in any column to cluster by. Remove the line, or fill it in.")
