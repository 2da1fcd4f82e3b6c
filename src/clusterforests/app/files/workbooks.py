"""Excel workbooks, read with openpyxl."""

import datetime
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from clusterforests.app.files.request import DataFile, Request
from clusterforests.app.files.text_rows import read_rows
from clusterforests.table.reader.numbers import typed

INSTALL = "pip install clusterforests[excel]"
_ESCAPED = re.compile("_x(?![Dd][89A-Fa-f])([0-9A-Fa-f]{4})_")  # what XML cannot hold; half of a pair is no character


def read_workbook(file: str, contents: Any, request: Request) -> DataFile:
    """Read a sheet: numbers and dates as they are stored, whatever they look like in Excel."""
    try:
        import openpyxl
    except ImportError as error:
        raise ImportError(f"{file}: reading Excel workbooks needs openpyxl ({INSTALL}).") from error
    try:
        book = openpyxl.load_workbook(io.BytesIO(contents.read()), read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, EOFError) as error:
        raise ValueError(
            f"{file} is not a complete Excel workbook (.xlsx). Save it again, or save it as CSV."
        ) from error
    sheet = _choose_sheet(file, book, request.sheet)
    errors: list[str] = []
    data = read_rows(file, _rows(sheet, errors), request)
    if errors:
        count = f"{len(errors)} cells that hold errors" if len(errors) > 1 else "1 cell that holds an error"
        data = replace(data, notes=(*data.notes, f"Taken as missing: {count} of Excel, such as {errors[0]}."))
    return data


def _choose_sheet(file: str, book: Any, wanted: str | None) -> Any:
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    listed = ", ".join(map(repr, sheets))
    if wanted is None:
        filled = [sheet for sheet in sheets.values() if any(_rows(sheet, []))]
        if len(filled) > 1:
            raise ValueError(f"{file} has {len(filled)} sheets with cells. Pass --sheet with one of {listed}.")
        if not filled:
            raise ValueError(f"{file} is empty. A table needs a row of column names and at least one row.")
        return filled[0]
    if wanted in sheets:
        return sheets[wanted]
    if wanted.isdigit() and 1 <= int(wanted) <= len(sheets):
        return book.worksheets[int(wanted) - 1]
    raise ValueError(f"{file} has no sheet {wanted!r}. Its sheets are {listed}.")


def _rows(sheet: Any, errors: list[str]) -> Iterator[list[str]]:
    """Yield the rows as text, each as wide as the first that is not empty; empty ones are empty lists."""
    width = 0
    for row in sheet.iter_rows():
        cells = [_text(cell, errors) for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        width = width or len(cells)
        yield cells + [""] * (width - len(cells)) if cells else []


def _text(cell: Any, errors: list[str]) -> str:
    value = cell.value
    if value is None:
        return ""
    if cell.data_type == "e":
        errors.append(str(value))
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ")
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 2**53 else typed(repr(value))
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), str(value))
