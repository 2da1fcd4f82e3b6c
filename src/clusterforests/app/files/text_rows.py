"""Rows of text from other formats, handed to the reader of text files: cells are understood in one place."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from clusterforests.app.files.request import DataFile, Request
from clusterforests.app.files.text_files import read_records

_SPACES = str.maketrans("\r\n", "  ")


def read_rows(file: str, rows: Iterable[Sequence[str]], request: Request) -> DataFile:
    """Read rows of text as the lines of a text file. The numbers of lines in messages are those of the rows."""
    if request.transpose:
        rows, request = transpose(file, list(rows), request)
        file = f"{file} (transposed)"
    return read_records(file, _records(file, rows, request), request, plain_points=request.delimiter != ";")


def _records(file: str, rows: Iterable[Sequence[str]], request: Request) -> Iterator[tuple[int, list[str]]]:
    """Number the rows from 1 and skip those without cells. Names of columns that are broken into lines get spaces."""
    names_follow = request.header and request.names is None
    for number, row in enumerate(rows, 1):
        if any("\0" in cell for cell in row):
            raise ValueError(f"{file}, line {number} has a zero byte, which no text has. Correct the cell.")
        if row:
            yield number, [cell.translate(_SPACES) for cell in row] if names_follow else list(row)
            names_follow = False


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
