"""JSON lines: an object on each line, whose keys are the columns."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clusterforests.app.command_line.problems import LocatedProblem
from clusterforests.app.files.assembling import read_the_others
from clusterforests.app.files.request import DataFile, Request
from clusterforests.app.files.text_files import TextLines
from clusterforests.app.files.text_rows import read_rows
from clusterforests.table.reader.column_problems import ColumnProblem, ignoring
from clusterforests.table.reader.numbers import typed

WORDS = {True: "true", False: "false", None: ""}


def read_json_lines(file: str, stream: Any, request: Request, size: int = 0) -> DataFile:
    """Read an object from each line. A key that a line lacks is a missing cell there."""
    if request.transpose:
        raise ValueError(f"{file}: --transpose is for tables with rows and columns, which JSON lines do not have.")
    lines = TextLines(file, stream, request.encoding, size)
    columns: dict[str, int] = {}
    rows: list[list[str]] = []
    nested: dict[str, LocatedProblem] = {}
    try:
        for number, line in enumerate(lines, 1):
            if line.strip():
                rows.append(_cells(file, number, line, columns, nested))
            else:
                rows.append([])
            if request.progress is not None and not number % 4096:
                request.progress(lines.read(), size)
    finally:
        lines.detach()
    if not columns:
        raise ValueError(f"{file} is empty. It needs a JSON object on each line.")
    full = [row + [""] * (len(columns) - len(row)) if row else [] for row in rows]
    return _read_flat(file, full, replace(request, names=list(columns)), nested)


def _read_flat(file: str, rows: list[list[str]], request: Request, nested: Mapping[str, LocatedProblem]) -> DataFile:
    """Read the columns that are not nested, and list the others with the problems of these."""
    asked = set(request.names or ()) if request.wanted is None else set(request.wanted)
    problems = tuple(nested[key] for key in nested if key in asked and key not in request.ignore)
    return read_the_others(file, request, problems, lambda rest: read_rows(file, rows, rest))


def _cells(file: str, number: int, line: str, columns: dict[str, int], nested: dict[str, LocatedProblem]) -> list[str]:
    """Read a line as text, in the order of the columns, to which new keys are added; `nested` gets what is no cell."""
    try:
        # Numbers stay as they are written: the reader of text takes them from there, told that they are numbers.
        found = json.loads(line, parse_int=str, parse_float=typed, parse_constant=str)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}, line {number} is not JSON: {error}. Each line must hold one object.") from error
    if not isinstance(found, dict):
        raise ValueError(f"{file}, line {number} is not a JSON object, such as {{'age': 41}} with double quotes.")
    cells = [""] * len(columns)
    for key, value in found.items():
        if isinstance(value, (list, dict)):
            what = "list" if isinstance(value, list) else "nested object"
            problem = ColumnProblem(key, f"it holds a {what}. Make it columns of its own.", (ignoring(key),))
            nested.setdefault(key, LocatedProblem(problem, number))
            value = None
        if key not in columns:
            columns[key] = len(columns)
            cells.append("")
        cells[columns[key]] = value if isinstance(value, str) else WORDS[value]
    return cells
