"""What each column of a file is for, and the columns put together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests.cli.readers.request import DataFile, Request
from clusterforests.tables.column_table import CategoryColumn, ColumnTable

FEW_LEVELS = 20  # up to this many, texts may be nearly all different


@dataclass(frozen=True)
class ColumnRoles:
    """The use of each column of a file: "feature", "id", "label" or None."""

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
    uses = [_use(name, request, id_column) for name in names]
    if "feature" not in uses:
        raise ValueError(f"{file} has no column to cluster by: its columns are {_some(names)}.")
    return ColumnRoles(names, uses, tuple(notes))


def _use(name: str, request: Request, id_column: str | None) -> str | None:
    if name == id_column:
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


def assemble(
    file: str, roles: ColumnRoles, columns: Mapping[int, Any], request: Request, lines: Sequence[int]
) -> DataFile:
    """Check the columns that were read and put each to its use. `lines` are the line numbers of the rows."""
    names = [roles.names[j] for j in roles.features]
    cells = [columns[j] for j in roles.features]
    if request.wanted is not None:
        order = [names.index(name) for name in request.wanted]
        names, cells = [names[j] for j in order], [cells[j] for j in order]
        cells = [_known_levels(c, request.levels.get(name)) for name, c in zip(names, cells, strict=True)]
    else:
        _check_columns(file, names, cells)
    _check_rows(file, cells, lines)
    ids = truth = None
    id_name = None
    for j, use in enumerate(roles.uses):
        if use == "id":
            ids, id_name = ["" if cell is None else str(cell) for cell in columns[j].cells()], roles.names[j] or "id"
        elif use == "label":
            truth = columns[j].cells().tolist()
    return DataFile(ColumnTable(names, cells), ids, id_name, truth, roles.notes)


def _known_levels(cells: Any, levels: Mapping[str, Any] | None) -> Any:
    """Replace texts by a model's levels, such as "1" by the number 1."""
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
            raise ValueError(f"{file}, column {name!r} has no values. Pass --ignore with its name.")


def _check_rows(file: str, columns: Sequence[Any], lines: Sequence[int]) -> None:
    empty = np.ones(len(lines), dtype=bool)
    for cells in columns:
        empty &= (cells.codes < 0) if isinstance(cells, CategoryColumn) else np.isnan(cells)
        if not empty.any():
            return
    line = lines[int(np.flatnonzero(empty)[0])]
    raise ValueError(f"{file}, line {line} has no value in any column to cluster by. Remove the line, or fill it in.")
