"""`clusterforests inspect`: show how each column of a table is read."""

import argparse
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from clusterforests.app.command_line.guidance import request_of
from clusterforests.app.command_line.outputs import Outputs
from clusterforests.app.command_line.problems import SUGGESTION, suggest
from clusterforests.app.command_line.screen import Screen
from clusterforests.app.command_line.summary import as_json
from clusterforests.app.files import DataFile, read_table
from clusterforests.table.reader.column_reading import ColumnReading
from clusterforests.table.reader.overview import overview_lines


def run_inspect(given: argparse.Namespace) -> int:
    """Read the table and show its columns."""
    Outputs({"DATA": given.data}, {})  # it may be where standard output goes
    return show_columns(given, Screen(given), given.words)


def show_columns(given: argparse.Namespace, screen: Screen, command: Sequence[str]) -> int:
    """Print how each column is read, and the problems; the exit code is 1 if there are any."""
    data = read_table(given.data, request_of(given, screen.bar.loaded, only_inspect=True), given.format)
    screen.bar.clear()
    name = "standard input" if given.data == "-" else given.data
    fit = ["clusterforests", "fit", *command[1:]]
    if given.json:
        print(as_json(_facts(name, data, fit)), flush=True)
    else:
        screen.tell(_lines(name, data, fit))
    return 1 if data.problems else 0


def _facts(name: str, data: DataFile, command: Sequence[str]) -> dict[str, Any]:
    problems = [
        {
            "column": located.problem.column,
            "line": located.line,
            "text": located.problem.text,
            "remedies": [asdict(remedy) for remedy in located.problem.remedies],
        }
        for located in data.problems
    ]
    return {
        "data": name,
        "rows": data.table.shape[0],
        "columns": column_facts(data.readings),
        "notes": data.notes,
        "problems": problems,
        "command": suggest(command, data.problems),
    }


def column_facts(readings: Sequence[ColumnReading]) -> list[dict[str, Any]]:
    """List how columns were read, for JSON."""
    return [asdict(reading) for reading in readings]


def _lines(name: str, data: DataFile, command: Sequence[str]) -> list[str]:
    rows, columns = data.table.shape
    if not data.readings:
        return [f"{name}: {rows} rows, {columns} columns of numbers without names, all of them used"]
    used = data.table.shape[1]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    lines = [f"{name}: {rows} rows, {len(data.readings)} columns, {used} of them used", ""]
    lines += overview_lines(data.readings, [located.problem for located in data.problems], width)
    notes = [f"{reading.name!r}: {note}" for reading in data.readings for note in reading.notes]
    if notes:
        lines += ["", "notes:", *(f"  {note}" for note in notes)]
    if data.problems:
        listed = [f"  {number}. {problem.sentence()}" for number, problem in enumerate(data.problems, 1)]
        lines += ["", "problems:", *listed, "", SUGGESTION, f"  {suggest(command, data.problems)}"]
    return lines
