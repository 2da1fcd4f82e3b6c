"""CSV and similar text files, read once from beginning to end, a block of rows at a time.

Reading is strict, because a table that is read wrongly is clustered wrongly: anything odd is refused, with its line
and column.
"""

import codecs
import csv
import gzip
import io
import itertools
import re
import zlib
from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray
from clusterforests.app.files.assembling import ColumnRoles, assemble, assign_roles
from clusterforests.app.files.request import DataFile, Request
from clusterforests.table.reader.column_reading import DECIMAL_COMMA, NUMBER
from clusterforests.table.reader.missing_marks import is_missing_text
from clusterforests.table.reader.raw_columns import CategoryColumn, number_texts, plain_number, shorten, text_column

# The columns of a text file as they are read, a block of rows at a time.
#
# What a column holds is decided when all of it was seen. Until then, blocks of plain numbers are kept as numbers, and
# other blocks as they are written, in one string each.

EXACT = 2.0**53  # float64 holds all integers up to it
BREAK = "\0"  # no cell has it: files with zero bytes are refused

# A number that shows that its point is a decimal one: 1.234 may be German for 1234.
_DECIMAL_POINT = re.compile(r"(?:^|\0)\s*[+-]?(?:0?\.\d|\d+\.\d{0,2}\s*(?:\0|$)|\d{4,}\.\d|\d+\.\d{4,}|\d*\.\d*[eE])")
_PADDED = re.compile(r"(?:^|\0)\s*[+-]?0\d")  # a code, such as a postal code


def shown(cell: str) -> str:
    """Quote a cell in a message, shortened if it is long."""
    return repr(shorten(cell))


class ColumnCollector:
    """Collects a column.

    Parameters
    ----------
    text : bool, default=False
        Keep every cell as it is written.
    verbatim : bool, default=False
        Keep every cell to the letter: spaces around it, and words that otherwise stand for a missing value.
    points : bool, default=True
        Whether decimal points are plain; if not, numbers that have one are kept as they are written.
    """

    def __init__(self, *, text: bool = False, verbatim: bool = False, points: bool = True) -> None:
        self._text = text or verbatim
        self._verbatim = verbatim
        self._points = points
        self._shows_points = False
        self._blocks: list[array[float] | str] = []

    def add(self, cells: Sequence[str]) -> None:
        """Take the cells of the next block."""
        numbers = None if self._text else self._plain_numbers(cells)
        self._blocks.append(BREAK.join(cells) if numbers is None else numbers)

    def finish(self) -> FloatArray | CategoryColumn:
        """Return the whole column: numbers if all cells are plain ones or missing, otherwise the texts."""
        numbers = [np.frombuffer(block) for block in self._blocks if not isinstance(block, str)]
        if len(numbers) == len(self._blocks):
            return np.concatenate([np.empty(0), *numbers])
        cells: list[str] = []
        for block in self._blocks:
            cells += block.split(BREAK) if isinstance(block, str) else map(_as_text, block)
        return number_texts(cells) if self._verbatim else text_column(cells, is_missing_text)

    def _plain_numbers(self, cells: Sequence[str]) -> "array[float] | None":
        """Read cells that nobody could read in another way; None if any could be."""
        try:
            numbers = array("d", map(float, cells))
        except ValueError:
            try:
                numbers = array("d", [np.nan if is_missing_text(cell) else float(cell) for cell in cells])
            except ValueError:
                return None
        joined = BREAK.join(cells)
        if "." in joined and not self._shows_points:
            self._shows_points = self._points and _DECIMAL_POINT.search(joined) is not None
            if not self._shows_points:
                return None
        small = np.nanmax(np.abs(np.frombuffer(numbers)), initial=0.0) < EXACT
        return numbers if small and "_" not in joined and _PADDED.search(joined) is None else None


def _as_text(value: float) -> str:
    return "" if value != value else plain_number(value)


BLOCK = 4096  # rows at a time
SNIFFED_LINES = 25  # lines from which the separator is detected
MAX_LINE = 2**26  # characters
DELIMITERS = (",", ";", "\t", "|")

FOREIGN = {
    b"PK\x03\x04": "is a zip file, such as an Excel workbook. Pass --format xlsx if it is one, otherwise unpack it",
    b"\xd0\xcf\x11\xe0": "is an old Excel workbook. Save the table as .xlsx or CSV",
    b"\x89HDF": "is an HDF5 file. Pass --format h5ad if it is one of AnnData, otherwise save the table as CSV",
    b"PAR1": "is a Parquet file. Pass --format parquet",
    b"ARROW1": "is an Arrow file. Pass --format arrow",
    b"\x93NUMPY": "is a NumPy file. Pass --format npy",
    b"%PDF": "is a PDF. Save the table as CSV",
    b"\xff\xfe\0\0": "is encoded as UTF-32. Pass --encoding utf-32",
    b"\0\0\xfe\xff": "is encoded as UTF-32. Pass --encoding utf-32",
    b"\xff\xfe": "is encoded as UTF-16. Pass --encoding utf-16",
    b"\xfe\xff": "is encoded as UTF-16. Pass --encoding utf-16",
}


class TextLines:
    """The lines of a stream, decoded and checked; knows how many bytes were read."""

    def __init__(self, file: str, stream: Any, encoding: str, size: int) -> None:
        self.file = file
        self.size = size
        self._stream = stream
        _refuse_foreign(file, stream.peek(16)[:16] if hasattr(stream, "peek") else b"", encoding)
        try:
            utf8 = codecs.lookup(encoding).name == "utf-8"
        except LookupError as error:
            raise ValueError(f"--encoding {encoding} is unknown. Pass utf-8, latin-1 or utf-16.") from error
        # Bytes that are not UTF-8 pass here, so that they are found with their line below.
        name, errors = ("utf-8-sig", "surrogateescape") if utf8 else (encoding, "strict")
        self._text = io.TextIOWrapper(stream, encoding=name, errors=errors, newline="")
        self._encoding = encoding

    def __iter__(self) -> Iterator[str]:
        number = 0
        try:
            for line in iter(partial(self._text.readline, MAX_LINE), ""):
                number += 1
                if number == 1:
                    line = line.removeprefix("\ufeff")  # a mark that utf-16-le and its like take for text
                if "\0" in line:
                    raise ValueError(
                        f"{self.file}, line {number} has a zero byte: it is not a text file, or it is damaged. Save "
                        "the table as CSV again."
                    )
                if len(line) == MAX_LINE:
                    raise ValueError(
                        f"{self.file}, line {number} is longer than {MAX_LINE} characters: this is not a table."
                    )
                if not line.isascii():
                    line.encode()
                yield line
        except UnicodeEncodeError as error:
            byte = ord(error.object[error.start]) - 0xDC00
            raise ValueError(
                f"{self.file}, line {number} has the byte 0x{byte:02X}, which is not UTF-8. Pass --encoding cp1252 if "
                "the file comes from Excel on Windows or an older program, or save it as UTF-8."
            ) from None
        except UnicodeError as error:
            raise ValueError(
                f"{self.file}, after line {number}: the text is not in the encoding {self._encoding}. Pass another "
                "--encoding, such as utf-8 or latin-1."
            ) from error

    def read(self) -> int:
        """Return about how many bytes were read so far."""
        try:
            return max(0, int(self._stream.tell()))
        except (OSError, ValueError):
            return 0

    def detach(self) -> None:
        """Let go of the stream without closing it."""
        self._text.detach()


def read_text(file: str, stream: Any, request: Request, size: int = 0) -> DataFile:
    """Read a table from a binary stream. `file` is its name in messages, `size` its number of bytes if known."""
    lines = TextLines(file, stream, request.encoding, size)
    try:
        return _read(file, lines, request)
    finally:
        lines.detach()


def split_text(
    file: str, stream: Any, request: Request, cells: int | None = None
) -> tuple[list[tuple[int, list[str]]], str]:
    """Read all rows as text, without understanding them: the line of each and its cells. Return the separator too.

    It is one that gives lines so many cells, if any does and their number is known.
    """
    lines = TextLines(file, stream, request.encoding, 0)
    try:
        source = iter(lines)
        head = list(itertools.islice(source, SNIFFED_LINES))
        delimiter = request.delimiter or _sniff(head, cells)
        return list(_records(file, itertools.chain(head, source), delimiter)), delimiter
    finally:
        lines.detach()


def _refuse_foreign(file: str, head: bytes, encoding: str) -> None:
    for start, what in FOREIGN.items():
        if head.startswith(start):
            if b"\xff" in start and ("32" if len(start) == 4 else "16") in encoding:
                return
            raise ValueError(f"{file} {what}.")
    wide = _unmarked_encoding(head)
    if wide is not None and "16" not in encoding and "32" not in encoding:
        raise ValueError(f"{file} is encoded as {wide.upper()}, without a mark that says so. Pass --encoding {wide}.")


def _unmarked_encoding(head: bytes) -> str | None:
    """Tell UTF-16 and UTF-32 from text of single bytes: letters of ASCII have zero bytes before or after them."""
    zero = [head[i::4].count(0) for i in range(4)]
    some = len(head) // 8
    if not some:
        return None
    if zero[0] == 0 and zero[1] >= some and zero[2] == zero[3] == len(head) // 4:
        return "utf-32-le"
    if zero[3] == 0 and zero[2] >= some and zero[0] == zero[1] == len(head) // 4:
        return "utf-32-be"
    if zero[0] == zero[2] == 0 and zero[1] + zero[3] >= 2 * some:
        return "utf-16-le"
    if zero[1] == zero[3] == 0 and zero[0] + zero[2] >= 2 * some:
        return "utf-16-be"
    return None


def _read(file: str, lines: TextLines, request: Request) -> DataFile:
    source = iter(lines)
    head = list(itertools.islice(source, SNIFFED_LINES))
    if not any(line.strip() for line in head):
        raise ValueError(f"{file} is empty. A table needs a line of column names and at least one row.")
    delimiter = request.delimiter or _sniff(head)
    records = _records(file, itertools.chain(head, source), delimiter)
    # Where a semicolon separates cells, the comma is often the decimal sign and the point that of thousands.
    return read_records(file, records, request, plain_points=delimiter != ";", lines=lines)


def read_records(
    file: str,
    records: Iterator[tuple[int, list[str]]],
    request: Request,
    *,
    plain_points: bool = True,
    lines: TextLines | None = None,
) -> DataFile:
    """Read rows of text, each with the number of its line; the first holds the names unless the request has them."""
    start, first = next(records, (0, []))
    if not first:
        raise ValueError(f"{file} is empty. A table needs a line of column names and at least one row.")
    if request.names is not None:
        names = list(request.names)
        records = itertools.chain([(start, first)], records)
    elif request.header:
        names = [name.strip() for name in first]
        if all(is_number(name) for name in names):
            raise ValueError(
                f"{file}, line {start} holds only numbers where column names are expected. Add a line of names, or "
                "pass --no-header."
            )
    else:
        names = [f"column{j}" for j in range(1, len(first) + 1)]
        records = itertools.chain([(start, first)], records)
    roles = assign_roles(file, names, request)
    columns, numbers = _collect(file, records, roles, request, lines)
    if not len(numbers):
        raise ValueError(f"{file} has column names but no rows below them.")
    return assemble(file, roles, columns, request, numbers, plain_points=plain_points)


def _sniff(head: list[str], expected: int | None = None) -> str:
    """Find the separator: the one that splits most lines into as many cells as the first line, or as are expected."""

    def agreeing(delimiter: str) -> tuple[int, int, int]:
        try:
            rows = [row for row in csv.reader(head, delimiter=delimiter) if row]
        except csv.Error:
            return 0, 0, 0
        cells = len(rows[0]) if rows else 0
        wanted = sum(len(row) == expected for row in rows)
        return (wanted, sum(len(row) == cells for row in rows), cells) if cells > 1 else (0, 0, 0)

    return max(DELIMITERS, key=agreeing)


def _records(file: str, lines: Iterator[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each row begins, and its cells. Empty lines are skipped."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ValueError(f"{file}, line {start}: {_explain(error)}") from error
        if row:
            yield start, row


def _explain(error: csv.Error) -> str:
    text = str(error)
    if "unexpected end" in text:
        return "a quote is opened but never closed. Close it, or remove it."
    if "field limit" in text:
        limit = csv.field_size_limit()
        return f"a cell has more than {limit} characters. Close its quote if it has one; otherwise remove the column."
    return "text follows a closing quote. Double the quotes inside a cell."


def is_number(text: str) -> bool:
    """Tell whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _collect(
    file: str, records: Iterator[tuple[int, list[str]]], roles: ColumnRoles, request: Request, lines: TextLines | None
) -> tuple[dict[int, Any], Sequence[int]]:
    collectors = {j: _collector(roles, j, request) for j, use in enumerate(roles.uses) if use is not None}
    numbers = array("q")
    while block := list(itertools.islice(records, BLOCK)):
        starts = [start for start, _ in block]
        rows = [row for _, row in block]
        _check_widths(file, starts, rows, len(roles.names))
        cells = list(zip(*rows, strict=True))
        for j, collector in collectors.items():
            collector.add(cells[j])
        numbers.extend(starts)
        if request.progress is not None and lines is not None:
            request.progress(lines.read(), lines.size)
    return {j: collectors.pop(j).finish() for j in list(collectors)}, numbers


def _collector(roles: ColumnRoles, j: int, request: Request) -> ColumnCollector:
    """Keep the text of columns that are no numbers, or whose numbers are written in a way of their own."""
    name = roles.names[j]
    if roles.uses[j] == "id":
        return ColumnCollector(verbatim=True)
    text = roles.uses[j] != "feature" or name in request.categories or name in request.levels
    reading = request.readings.get(name)
    if reading is not None:
        text = text or reading.read_as != NUMBER or reading.style == DECIMAL_COMMA
    return ColumnCollector(text=text, points=request.decimal != ",")


def _check_widths(file: str, starts: list[int], rows: list[list[str]], width: int) -> None:
    if set(map(len, rows)) == {width}:
        return
    start, row = next((start, row) for start, row in zip(starts, rows, strict=True) if len(row) != width)
    advice = "Correct the line; a cell that holds the separator needs quotes around it."
    if all(len(row) == width + 1 for row in rows):
        advice = "If the first column holds row names, give it a name too."
    cells = "cell" if len(row) == 1 else "cells"
    raise ValueError(
        f"{file}, line {start} has {len(row)} {cells} but the line of names has {width} (the first is "
        f"{shown(row[0])}). {advice}"
    )


# Compressed files, unpacked while they are read. They are recognised by their first bytes, not by their names.

MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


def unpack(file: str, stream: Any) -> Any:
    """Return a stream of the contents of a compressed one; any other stream as it is."""
    head = stream.peek(4)[:4] if hasattr(stream, "peek") else b""
    kind = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), None)
    return stream if kind is None else io.BufferedReader(_Unpacked(file, stream, kind), 2**16)


class _Unpacked(io.RawIOBase):
    """The contents of a compressed stream. Its position is that of the compressed one, for the sake of progress."""

    def __init__(self, file: str, packed: Any, kind: str) -> None:
        self._file, self._packed, self._kind = file, packed, kind
        self._contents: Any = gzip.GzipFile(fileobj=packed) if kind == "gzip" else _open_zstd(file, packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._contents.read(len(buffer))
        except (OSError, EOFError, zlib.error) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ValueError(
                f"{self._file} is compressed ({self._kind}) but damaged or cut short. Copy it again, or pack it again."
            ) from error
        buffer[: len(piece)] = piece
        return len(piece)

    def tell(self) -> int:
        return int(self._packed.tell())


def _open_zstd(file: str, packed: Any) -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            f"{file} is compressed with zstd: reading it needs pyarrow (pip install clusterforests[files])."
        ) from error
    return pyarrow.CompressedInputStream(pyarrow.PythonFile(packed, mode="r"), "zstd")
