"""What to read of a file, and what came of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clusterforests._base.typing import AnyArray
from clusterforests.tables.column_table import CategoryColumn, ColumnTable

Progress = Callable[[int, int], None]  # (bytes read, bytes to read; 0 if that is unknown)

FEW_LEVELS = 20  # so many may be nearly all different


@dataclass(frozen=True)
class Request:
    """Which columns are what. Column names are those of the file's first line."""

    id: str | None = None
    label: str | None = None
    ignore: Sequence[str] = ()
    categories: Sequence[str] = ()
    wanted: Sequence[str] | None = None  # the features, in this order; None means all that are nothing else
    levels: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of wanted categories, by their text
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str = "utf-8"
    header: bool = True
    progress: Progress | None = None


@dataclass(frozen=True)
class DataFile:
    """A file's contents: the features, and what goes with the rows."""

    table: ColumnTable | AnyArray
    ids: list[str] | None = None
    id_name: str | None = None
    truth: list[str | None] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """What each column of a file is for: "feature", "id", "label" or None."""

    names: list[str]
    uses: list[str | None]
    notes: tuple[str, ...] = ()

    @property
    def features(self) -> list[int]:
        return [j for j, use in enumerate(self.uses) if use == "feature"]


def plan(file: str, names: list[str], request: Request) -> Plan:
    """Check the names against what was asked for."""
    seen: dict[str, int] = {}
    for j, name in enumerate(names, 1):
        if name in seen:
            raise ValueError(
                f"{file}, line 1: columns {seen[name]} and {j} are both called {name!r}. Give every column a name of "
                "its own."
            )
        seen[name] = j
    notes = []
    request_id = request.id
    if names[0] == "" and len(names) > 1 and request_id is None:
        request_id = ""
        notes.append("The first column has no name and is taken as the names of the rows.")
    for j, name in enumerate(names, 1):
        if name == "" and not (j == 1 and request_id == ""):
            raise ValueError(f"{file}, line 1: column {j} has no name. Give it one, or remove the column.")
    for option, given in (("--id", [request.id]), ("--label", [request.label]), ("--ignore", request.ignore)):
        _check_given(file, option, given, seen)
    _check_given(file, "--category", request.categories, seen)
    if request.wanted is not None:
        missing = [name for name in request.wanted if name not in seen]
        if missing:
            raise ValueError(
                f"{file} has no column {missing[0]!r}, which the model was fitted on"
                + (f", nor {len(missing) - 1} others" if len(missing) > 1 else "")
                + f". Its columns are {_some(names)}."
            )
    uses = [_use(name, request, request_id) for name in names]
    if "feature" not in uses:
        raise ValueError(f"{file} has no column left to cluster by: its columns are {_some(names)}.")
    return Plan(names, uses, tuple(notes))


def _use(name: str, request: Request, request_id: str | None) -> str | None:
    if name == request_id:
        return "id"
    if name == request.label:
        return "label"
    if request.wanted is not None:
        return "feature" if name in request.wanted else None
    return None if name in request.ignore else "feature"


def _check_given(file: str, option: str, given: Sequence[str | None], seen: Mapping[str, int]) -> None:
    for name in given:
        if name is not None and name not in seen:
            raise ValueError(
                f"{file} has no column {name!r}, which {option} names. Its columns are {_some(list(seen))}."
            )


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def assemble(file: str, planned: Plan, columns: Mapping[int, Any], request: Request, lines: Sequence[int]) -> DataFile:
    """The columns that were read, put where they belong and checked. `lines` are the rows' lines in the file."""
    names = [planned.names[j] for j in planned.features]
    cells = [columns[j] for j in planned.features]
    if request.wanted is not None:
        order = [names.index(name) for name in request.wanted]
        names, cells = [names[j] for j in order], [cells[j] for j in order]
        cells = [known_levels(c, request.levels.get(name)) for name, c in zip(names, cells, strict=True)]
    else:
        _check_columns(file, names, cells)
    _check_rows(file, cells, lines)
    ids = truth = None
    id_name = None
    for j, use in enumerate(planned.uses):
        if use == "id":
            ids, id_name = ["" if cell is None else str(cell) for cell in columns[j].cells()], planned.names[j] or "id"
        elif use == "label":
            truth = columns[j].cells().tolist()
    return DataFile(ColumnTable(names, cells), ids, id_name, truth, planned.notes)


def known_levels(cells: Any, levels: Mapping[str, Any] | None) -> Any:
    """Text as the levels that a model has: its 1 is no "1" elsewhere."""
    if levels is None or not isinstance(cells, CategoryColumn):
        return cells
    return CategoryColumn(cells.codes, tuple(levels.get(level, level) for level in cells.levels))


def _check_columns(file: str, names: Sequence[str], columns: Sequence[Any]) -> None:
    for name, cells in zip(names, columns, strict=True):
        if isinstance(cells, CategoryColumn):
            known = int((cells.codes >= 0).sum())
            if len(cells.levels) > max(FEW_LEVELS, known // 2):
                some = ", ".join(map(repr, cells.levels[:3]))
                raise ValueError(
                    f"{file}, column {name!r} has {len(cells.levels)} different texts in {known} rows, such as {some}: "
                    "it is probably an identifier. Pass --id or --ignore with its name."
                )
        elif np.isnan(cells).all():
            raise ValueError(f"{file}, column {name!r} has no value at all. Pass --ignore with its name.")


def _check_rows(file: str, columns: Sequence[Any], lines: Sequence[int]) -> None:
    empty = np.ones(len(lines), dtype=bool)
    for cells in columns:
        empty &= (cells.codes < 0) if isinstance(cells, CategoryColumn) else np.isnan(cells)
        if not empty.any():
            return
    line = lines[int(np.flatnonzero(empty)[0])]
    raise ValueError(f"{file}, line {line} has no value in any column to cluster by. Remove the line, or fill it.")
