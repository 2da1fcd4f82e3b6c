"""Rows of text from other formats, handed to the reader of text files: cells are understood in one place."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import replace

from clusterforests.cli.readers.request import DataFile, Request
from clusterforests.cli.readers.text_files import read_text

SEPARATOR = "\x1f"  # is in no cell
_SPACES = str.maketrans("\r\n\x00\x1f", "    ")


def read_rows(file: str, rows: Iterable[Sequence[str]], request: Request) -> DataFile:
    """Read rows of text as the lines of a text file. The numbers of lines in messages are those of the rows."""
    if request.transpose:
        rows, request = transpose(file, list(rows), request)
        file = f"{file} (transposed)"
    text = io.StringIO()
    separator = request.delimiter or SEPARATOR
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerows([cell.translate(_SPACES) for cell in row] for row in rows)
    contents = io.BytesIO(text.getvalue().encode())
    return read_text(file, contents, replace(request, delimiter=separator, encoding="utf-8"))


def transpose(file: str, rows: list[Sequence[str]], request: Request) -> tuple[list[Sequence[str]], Request]:
    """Make columns of rows. The first cell of each row becomes a column's name, the first row the rows' names."""
    rows = [row for row in rows if row]
    if len(rows) > 1 and request.header and len(rows[0]) == len(rows[1]) - 1:
        rows[0] = ["", *rows[0]]  # as R writes it: nothing above the names of the rows
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        short = next(i for i, row in enumerate(rows) if len(row) != len(rows[0]))
        raise ValueError(
            f"{file}, row {short + 1} has {len(rows[short])} cells but the first has {len(rows[0])}. Correct it."
        )
    turned: list[Sequence[str]] = list(zip(*rows, strict=True))
    if request.header and request.id is None and turned:
        request = replace(request, id=turned[0][0].strip() or None)
    return turned, request
