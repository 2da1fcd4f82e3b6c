"""Text files: CSV and its relatives, read once from beginning to end, a block of rows at a time.

Reading is strict, because a table that is read wrongly is clustered wrongly: what is odd is refused with its line.
Nothing is guessed about texts. Plain numbers become float64 block by block, so that a large file of numbers never
stands in memory as text.
"""

import codecs
import csv
import datetime
import io
import itertools
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from clusterforests._utils.arrays import AnyArray
from clusterforests.app.files.file_table import FileOptions, FileTable, check_names
from clusterforests.app.table_reader.missing_marks import MISSING

Record = tuple[int, Sequence[Any]]  # a line number and its cells

BLOCK = 16384  # lines at a time
SNIFFED_LINES = 25  # lines from which the delimiter is detected
MAX_LINE = 2**26  # characters
DELIMITERS = (",", ";", "\t", "|")
SHOWN = 40  # characters of a cell in a message
_BREAKS = str.maketrans("\r\n", "  ")

FOREIGN = {
    b"PK\x03\x04": "is a zip file. Unpack it",
    b"\xd0\xcf\x11\xe0": "is an old Excel workbook. Pass --format xls, or save the table as CSV",
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


def shown(cell: str) -> str:
    """Quote a cell in a message, shortened if it is long."""
    return repr(cell if len(cell) <= SHOWN else cell[: SHOWN - 1] + "…")


# Lines: bytes decoded, and refused where they are no text.


def text_lines(file: str, stream: Any, encoding: str) -> Iterator[str]:
    """Yield the lines of a binary stream, which is not closed, with their ends."""
    head = stream.peek(16)[:16] if hasattr(stream, "peek") else b""
    _refuse_foreign(file, head, encoding)
    try:
        utf8 = codecs.lookup(encoding).name == "utf-8"
    except LookupError as error:
        raise ValueError(f"--encoding {encoding} is unknown. Pass utf-8, latin-1 or utf-16.") from error
    # Bytes that are not UTF-8 pass here, so that they are found with their line below.
    name, errors = ("utf-8-sig", "surrogateescape") if utf8 else (encoding, "strict")
    text = io.TextIOWrapper(stream, encoding=name, errors=errors, newline="")
    number = 0
    try:
        for line in iter(partial(text.readline, MAX_LINE), ""):
            number += 1
            if number == 1:
                line = line.removeprefix("\ufeff")  # a mark that utf-16-le and its like take for text
            if "\0" in line:
                raise ValueError(
                    f"{file}, line {number} has a zero byte: it is not a text file, it is damaged, or its encoding is "
                    "another. Pass --encoding utf-16-le if it is from Windows, or save the table as CSV again."
                )
            if len(line) == MAX_LINE:
                raise ValueError(f"{file}, line {number} is longer than {MAX_LINE} characters: this is not a table.")
            if not line.isascii():
                line.encode()
            yield line
    except UnicodeEncodeError as error:
        byte = ord(error.object[error.start]) - 0xDC00
        raise ValueError(
            f"{file}, line {number} has the byte 0x{byte:02X}, which is not UTF-8. Pass --encoding cp1252 if the file "
            "comes from Excel on Windows or an older program, or save it as UTF-8."
        ) from None
    except UnicodeError as error:
        raise ValueError(
            f"{file}, after line {number}: the text is not in the encoding {encoding}. Pass another --encoding, such "
            "as utf-8 or latin-1."
        ) from error
    finally:
        with suppress(ValueError):  # it was closed in the meantime
            text.detach()


def _refuse_foreign(file: str, head: bytes, encoding: str) -> None:
    """Refuse files of other formats, and text whose first bytes name an encoding that nobody asked for."""
    for start, what in FOREIGN.items():
        if head.startswith(start):
            if b"\xff" in start and ("32" if len(start) == 4 else "16") in encoding:
                return
            raise ValueError(f"{file} {what}.")


# Records: lines taken apart into cells.


class TextRows:
    """The rows of a text file: an iterator of the lines on which they begin, and their cells.

    Parameters
    ----------
    file : str
        Its name in messages.
    stream : binary stream
    options : FileOptions
    expected : int or None, default=None
        Number of cells in a row, if it is known. The delimiter, where it is not given, is the one that splits most
        lines into so many cells, or into as many as the first line has.
    """

    def __init__(self, file: str, stream: Any, options: FileOptions, expected: int | None = None) -> None:
        lines = text_lines(file, stream, options.encoding)
        head = list(itertools.islice(lines, SNIFFED_LINES))
        if not any(line.strip() for line in head):
            raise ValueError(f"{file} is empty. A table needs a line of column names and at least one row.")

        def agreeing(delimiter: str) -> tuple[int, int, int]:
            try:
                rows = [row for row in csv.reader(head, delimiter=delimiter) if row]
            except csv.Error:
                return 0, 0, 0
            cells = len(rows[0]) if rows else 0
            wanted = sum(len(row) == expected for row in rows)
            return (wanted, sum(len(row) == cells for row in rows), cells) if cells > 1 else (0, 0, 0)

        self.delimiter = options.delimiter or max(DELIMITERS, key=agreeing)
        self.line = 0  # the last one that was read
        self._file = file
        self._lines = itertools.chain(head, lines)

    def __iter__(self) -> Iterator[Record]:
        while chunk := self.take():
            yield from self.split(chunk)

    def take(self) -> list[str]:
        """Return the next lines as they are."""
        chunk = list(itertools.islice(self._lines, BLOCK))
        self.line += len(chunk)
        return chunk

    def split(self, chunk: Sequence[str]) -> list[Record]:
        """Split lines into cells, and those that follow where a quoted cell goes on. Empty lines are skipped."""
        before = self.line - len(chunk)
        reader = csv.reader(itertools.chain(chunk, self._lines), delimiter=self.delimiter, strict=True)
        rows: list[Record] = []
        while reader.line_num < len(chunk):
            start = before + reader.line_num + 1
            try:
                row = next(reader)
            except csv.Error as error:
                raise ValueError(f"{self._file}, line {start}: {_explain(error)}") from error
            if row:
                rows.append((start, row))
        self.line = before + reader.line_num
        return rows


def _explain(error: csv.Error) -> str:
    text = str(error)
    if "unexpected end" in text:
        return "a quote is opened but never closed. Close it, or remove it."
    if "field limit" in text:
        limit = csv.field_size_limit()
        return f"a cell has more than {limit} characters. Close its quote if it has one; otherwise remove the column."
    return "text follows a closing quote. Double the quotes inside a cell."


# Columns: cells of one column collected over the blocks, as numbers while they are plain numbers.

EXACT = 2.0**53  # float64 holds all integers up to it
BREAK = "\0"  # between the cells of a block that is kept as text: no cell has it

# A number that shows that its point is a decimal one: 1.234 may be German for 1234.
_DECIMAL_POINT = re.compile(r"(?:^|\0)\s*[+-]?(?:0?\.\d|\d+\.\d{0,2}\s*(?:\0|$)|\d{4,}\.\d|\d+\.\d{4,}|\d*\.\d*[eE])")
_PADDED = re.compile(r"(?:^|\0)\s*[+-]?0\d")  # a code, such as a postal code


class TextColumn:
    """Collects the cells of a column: float64 if all are plain numbers or missing, otherwise texts.

    Parameters
    ----------
    text : bool, default=False
        Keep every cell as text.
    verbatim : bool, default=False
        Keep every cell to the letter: spaces around it, and what otherwise stands for a missing value.
    points : bool or None, default=None
        Whether points in numbers are decimal points; None waits for a number that shows it.
    """

    def __init__(self, *, text: bool = False, verbatim: bool = False, points: bool | None = None) -> None:
        self._text = text or verbatim
        self._verbatim = verbatim
        self._points = points
        self._blocks: list[AnyArray | str] = []

    @property
    def likely(self) -> type:
        """What the next cells are likely to be: numbers, whole numbers, or texts."""
        if self._text or (self._blocks and isinstance(self._blocks[-1], str)):
            return str
        return np.float64 if self._points else np.int64

    def add(self, cells: Sequence[str]) -> None:
        """Take the cells of the next block."""
        joined = BREAK.join(cells)
        numbers = None if self._text else self._plain_numbers(cells, joined)
        self._blocks.append(joined if numbers is None else numbers)

    def add_numbers(self, numbers: AnyArray) -> None:
        """Take the cells of the next block, which are plain numbers."""
        self._blocks.append(numbers.astype(np.float64))

    def finish(self) -> AnyArray:
        """Return the whole column."""
        numbers = [block for block in self._blocks if not isinstance(block, str)]
        if len(numbers) == len(self._blocks):
            return np.concatenate([np.empty(0), *numbers])
        cells = itertools.chain.from_iterable(
            block.split(BREAK)
            if isinstance(block, str)
            else ("" if cell != cell else cell_text(cell) for cell in block.tolist())
            for block in self._blocks
        )
        # Equal cells share one text.
        seen: dict[str, str | None] = {}
        column = [seen[cell] if cell in seen else seen.setdefault(cell, self._cell(cell)) for cell in cells]
        found = np.empty(len(column), dtype=object)
        found[:] = column
        return found

    def _cell(self, cell: str) -> str | None:
        return cell if self._verbatim else None if cell.strip() in MISSING else cell.strip()

    def _plain_numbers(self, cells: Sequence[str], joined: str) -> AnyArray | None:
        """Read cells that nobody could read in another way; None if any could be."""
        try:
            read = array("d", map(float, cells))
        except ValueError:
            try:
                read = array("d", [np.nan if cell.strip() in MISSING else float(cell) for cell in cells])
            except ValueError:
                return None
        if "." in joined and not self._points:
            if self._points is False or _DECIMAL_POINT.search(joined) is None:
                return None
            self._points = True
        numbers = np.frombuffer(read)
        return numbers if exact(numbers) and "_" not in joined and _PADDED.search(joined) is None else None


def exact(numbers: AnyArray) -> bool:
    """Tell whether float64 holds numbers as they are written; infinite ones are none."""
    return bool(np.nanmax(np.abs(numbers), initial=0) < EXACT)


def add_plain_block(chunk: Sequence[str], delimiter: str, width: int, columns: Mapping[int, TextColumn]) -> bool:
    """Let pandas read lines without quotes and padded numbers, ten times as fast; return False if these are not such.

    Columns that are likely to be numbers are read as these, the others as text.
    """
    text = "".join(chunk)
    padded = re.compile(rf"[{re.escape(delimiter)}\r\n][ \t]*[+-]?0\d")
    whole = all(line.count(delimiter) == width - 1 and not line.isspace() for line in chunk)
    if not whole or '"' in text or padded.search("\n" + text):
        return False
    likely = {j: column.likely for j, column in columns.items()}
    for integers in (np.int64, str):  # whole numbers may have gone over into others
        kinds = {j: integers if kind is np.int64 else kind for j, kind in likely.items()}
        numbers = [j for j, kind in kinds.items() if kind is not str]
        try:
            frame = pd.read_csv(
                io.StringIO(text),
                sep=delimiter,
                header=None,
                names=range(width),
                index_col=False,
                usecols=list(columns),
                dtype=kinds,
                keep_default_na=False,
                na_values={j: sorted(MISSING) for j in numbers if kinds[j] is np.float64},
                float_precision="round_trip",
                quoting=csv.QUOTE_NONE,
                skip_blank_lines=False,
            )
        except (ValueError, OverflowError):
            continue
        if len(frame) != len(chunk) or not all(exact(frame[j].to_numpy()) for j in numbers):
            return False
        for j, column in columns.items():
            if kinds[j] is str:
                column.add(frame[j].tolist())
            else:
                column.add_numbers(frame[j].to_numpy())
        return True
    return False


# Tables.


def read_text(file: str, stream: Any, options: FileOptions, report: Callable[[], None]) -> FileTable:
    """Read a table from a binary stream; `report` is called after each block."""
    rows = TextRows(file, stream, options)
    # Where a semicolon separates cells, the comma is often the decimal sign and the point that of thousands.
    style = "text" if rows.delimiter == ";" else "comma-separated"
    points = {",": False, ".": True}.get(options.decimal or "")
    turned = None
    if options.transpose:
        file, turned, options = transpose(file, rows, options)
    names, left = split_names(file, turned or iter(rows.split(rows.take())), options)
    row_names, notes = check_names(file, names, options)
    options = replace(options, row_names=row_names)
    columns = {
        j: TextColumn(text=options.is_text(name), verbatim=name == row_names, points=points)
        for j, name in enumerate(names)
        if options.wants(name)
    }
    lines = array("q")
    block = list(left)
    while block or not lines:
        cells = list(zip(*(row for _, row in check_rows(file, block, len(names))), strict=True))
        for j, column in columns.items():
            column.add(cells[j])
        lines.extend(line for line, _ in block)
        report()
        # Blocks of plain lines need not be split into cells here.
        while (chunk := rows.take()) and add_plain_block(chunk, rows.delimiter, len(names), columns):
            lines.extend(range(rows.line - len(chunk) + 1, rows.line + 1))
            report()
        block = rows.split(chunk) if chunk else []
    frame = pd.DataFrame({names[j]: columns.pop(j).finish() for j in list(columns)}, copy=False)
    return FileTable(file, frame, np.frombuffer(lines, np.int64), row_names, style, notes=notes)


def split_names(file: str, records: Iterator[Record], options: FileOptions) -> tuple[list[str], Iterator[Record]]:
    """Take the names of the columns off the rows."""
    start, first = next(records, (0, ()))
    if not first:
        raise ValueError(f"{file} is empty. A table needs a line of column names and at least one row.")
    if not options.header:
        return [f"column{j}" for j in range(1, len(first) + 1)], itertools.chain([(start, first)], records)
    if all(is_number(name) for name in first):
        raise ValueError(
            f"{file}, line {start} holds only numbers where column names are expected. Add a line of names, or pass "
            "--no-header."
        )
    return [cell_text(name).strip().translate(_BREAKS) for name in first], records


def is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def cell_text(cell: Any) -> str:
    """Write a cell as a text file has it: 80331 rather than 80331.0, and the day without the hour of midnight."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT:
        return str(int(cell))
    return str(cell).removesuffix(" 00:00:00") if isinstance(cell, datetime.datetime) else str(cell)


def check_rows(file: str, block: Sequence[Record], width: int) -> Sequence[Record]:
    """Refuse rows with fewer or more cells than there are names, and tables without rows."""
    if not block:
        raise ValueError(f"{file} has column names but no rows below them.")
    if {len(row) for _, row in block} == {width}:
        return block
    line, row = next((line, row) for line, row in block if len(row) != width)
    advice = "Correct the line; a cell that holds the separator needs quotes around it."
    if all(len(row) == width + 1 for _, row in block):
        advice = "If the first column holds row names, give it a name too."
    raise ValueError(
        f"{file}, line {line} has {len(row)} cell{'' if len(row) == 1 else 's'} but the line of names has {width} (the "
        f"first is {shown(str(row[0]))}). {advice}"
    )


def transpose(file: str, records: Iterable[Record], options: FileOptions) -> tuple[str, Iterator[Record], FileOptions]:
    """Make columns of rows. The first cell of each row becomes a column's name, the first row the rows' names."""
    rows = [list(row) for _, row in records]
    if len(rows) > 1 and options.header and len(rows[0]) == len(rows[1]) - 1:
        rows[0].insert(0, "")  # as R writes it: nothing above the names of the rows
    short = next((i for i, row in enumerate(rows) if len(row) != len(rows[0])), None)
    if short is not None:
        raise ValueError(
            f"{file}, row {short + 1} has {len(rows[short])} cells but the first has {len(rows[0])}. Correct it."
        )
    turned = list(zip(*rows, strict=True))
    if options.header and options.row_names is None and turned and str(turned[0][0]).strip():
        options = replace(options, row_names=str(turned[0][0]).strip())
    return f"{file} (transposed)", iter(list(enumerate(turned, 1))), options
