"""A table for a saved model: its columns found by their names, its categories read as the model knows them."""

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from clusterforests.app.command_line.guidance import request_of
from clusterforests.app.command_line.screen import Screen, reading_file
from clusterforests.app.files import DataFile, read_table
from clusterforests.forest_view import ForestView
from clusterforests.table.reader.raw_columns import ColumnTable


def read_for_model(view: ForestView, given: argparse.Namespace, screen: Screen) -> DataFile:
    """Read the columns that a model was fitted on."""
    names = view.feature_names
    levels = {} if names is None else {names[j]: _by_text(known) for j, known in view.levels.items()}
    for name in given.category:
        if name not in levels:
            known = f"Its categories are {', '.join(map(repr, levels))}." if levels else "It has no categories."
            raise ValueError(f"--category {name}: {given.model} was fitted on no category of that name. {known}")
    readings = {reading.name: reading for reading in view.readings if reading.feature >= 0}
    left_out = {name for name, reading in readings.items() if not reading.used}
    wanted = None if names is None else [name for name in names if name not in left_out]
    request = request_of(given, screen.bar.loaded, wanted=wanted, readings=readings, levels=levels)
    with reading_file(given.data):
        data = read_table(given.data, request, given.format)
    if left_out and names is not None and isinstance(data.table, ColumnTable):
        data = replace(data, table=_with_stand_ins(data.table, names))
    screen.bar.clear()
    for note in data.notes:
        screen.note(note)
    if data.table.shape[1] != view.n_features:
        raise ValueError(
            f"{given.data} has {data.table.shape[1]} columns but the model was fitted on {view.n_features}. Pass a "
            "table with the same columns."
        )
    if isinstance(data.table, np.ndarray) and names is not None:
        columns = [np.array(data.table[:, j], dtype=np.float64) for j in range(len(names))]
        return DataFile(ColumnTable(names, columns))
    return data


def _with_stand_ins(table: ColumnTable, names: list[str]) -> ColumnTable:
    """Put zeros where the model expects a column that it does not use."""
    cells = dict(zip(table.columns, table.cells, strict=True))
    return ColumnTable(names, [cells.get(name, np.zeros(len(table))) for name in names])


def _by_text(levels: tuple[Any, ...]) -> Mapping[str, Any]:
    """Find a model's levels by how a file writes them: 2.0 may also be written 2, and True true or TRUE."""
    by_text: dict[str, Any] = {}
    for level in levels:
        text = str(level)
        if text.lower() in ("true", "false"):
            by_text |= dict.fromkeys((text.lower(), text.capitalize(), text.upper()), level)
        elif isinstance(level, int):
            by_text[f"{level}.0"] = level
        elif isinstance(level, float) and level.is_integer():
            by_text[str(int(level))] = level
    return by_text | {str(level): level for level in levels}
