"""The labels of the rows as a file, in the format that its name says."""

import csv
import gzip
import importlib.util
import io
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from clusterforests._utils.arrays import AnyArray, FloatArray
from clusterforests._utils.files import replacing
from clusterforests.app.command_line.outputs import STDOUT
from clusterforests.app.files import DataFile
from clusterforests.app.files.formats import compression_of, format_of
from clusterforests.table.reader.raw_columns import shorten

TEXT = ("csv", "tsv", "jsonl")
CSV_NAMES = ("", ".csv", ".txt", ".dat")
READ_ONLY = (".xlsm", ".h5ad")
MOST_EXCEL_ROWS = 2**20
MOST_EXCEL_CHARACTERS = 2**15 - 1  # of a cell
FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠")  # noqa: RUF001 (wide signs, which Excel takes too)
_NOT_IN_XML = re.compile("_x(?=[0-9A-Fa-f]{4}_)|[\x00-\x08\x0b-\x1f\ufffe\uffff]")
NEEDS = {"parquet": ("pyarrow", "files"), "arrow": ("pyarrow", "files"), "xlsx": ("openpyxl", "excel")}


class LabelsFormat(NamedTuple):
    """How labels are written: the format and, for text, the compression."""

    kind: str
    compression: str | None = None


def labels_format(path: Path | None) -> LabelsFormat:
    """Choose the format by the file's name, before the work begins; standard output is CSV."""
    if path is None or path == STDOUT:
        return LabelsFormat("csv")
    kind, compression = format_of(str(path)), compression_of(str(path))
    suffix = (path.with_suffix("") if compression else path).suffix.lower()
    other = suffix in READ_ONLY or (kind == "csv" and suffix not in CSV_NAMES)
    if other or (compression is not None and kind not in TEXT):
        raise ValueError(
            f"--out {path}: labels are written as .csv, .tsv or .jsonl (also .gz and .zst), .xlsx, .parquet, .arrow or "
            ".npy. Give the file one of these names."
        )
    package, extra = NEEDS.get(kind, (None, None)) if compression != "zstd" else NEEDS["arrow"]
    if package is not None and importlib.util.find_spec(package) is None:
        raise ImportError(f"--out {path}: writing it needs {package} (pip install clusterforests[{extra}]).")
    return LabelsFormat(kind, compression)


def write_labels(path: Path, data: DataFile, labels: AnyArray, membership: FloatArray, form: LabelsFormat) -> None:
    """Write a line for each row: its name or number, its cluster, and its membership in it."""
    if form.kind == "npy":
        with replacing(path, "wb") as out:
            np.save(out, labels, allow_pickle=False)
        return
    names: Any = range(1, len(labels) + 1) if data.ids is None else data.ids
    title = "row" if data.ids is None else str(data.id_name)
    title = f"{title}_" if title in ("cluster", "membership") else title
    if form.kind in ("parquet", "arrow"):
        _write_arrow(path, {title: list(names), "cluster": labels, "membership": membership}, form.kind)
    elif form.kind == "xlsx":
        _write_workbook(path, (title, names, labels, membership))
    elif path == STDOUT:
        _write_rows(sys.stdout, (title, names, labels, membership), form.kind)
        sys.stdout.flush()
    else:
        with replacing(path, "wb") as out, _packed(out, form.compression) as text:
            _write_rows(text, (title, names, labels, membership), form.kind)


def formula_notes(path: Path | None, data: DataFile) -> tuple[str, ...]:
    """Warn of names of rows that a spreadsheet program would compute. They are written as they are all the same."""
    if path is None or labels_format(path).kind not in ("csv", "tsv"):
        return ()
    formulas = [name for name in (str(data.id_name), *(data.ids or ())) if _begins_a_formula(name)]
    if not formulas:
        return ()
    few = f"{len(formulas)} names of rows, such as {shorten(formulas[0])!r}, begin"
    one = f"The name of a row, {shorten(formulas[0])!r}, begins"
    return (
        f"{one if len(formulas) == 1 else few} as a formula does. The labels hold the names unchanged, and Excel would "
        "compute them: write the labels as .xlsx, where they are text, if you did not choose the names.",
    )


def _begins_a_formula(name: str) -> bool:
    if not name.startswith(FORMULA_STARTS):
        return False
    try:
        float(name)
    except ValueError:
        return True
    return False  # a negative number


def membership_column(own: FloatArray, labels: AnyArray) -> FloatArray:
    """Take each row's membership in its cluster, 0 for a row that has none."""
    return np.where(labels < 0, 0.0, own)


@contextmanager
def _packed(out: IO[bytes], compression: str | None) -> Iterator[IO[str]]:
    """Open a binary file for text, compressed or not. The same labels give the same bytes."""
    packed: Any = out
    if compression == "gzip":
        packed = gzip.GzipFile(filename="", fileobj=out, mode="wb", mtime=0)
    elif compression == "zstd":
        import pyarrow

        twin = os.fdopen(os.dup(out.fileno()), "wb")  # which is closed with the compression, unlike `out`
        packed = pyarrow.CompressedOutputStream(pyarrow.PythonFile(twin, mode="w"), "zstd")
    text = io.TextIOWrapper(packed, encoding="utf-8", newline="")
    yield text
    text.flush()
    text.detach()
    if packed is not out:
        packed.close()


def _write_rows(out: IO[str], columns: tuple[str, Any, Any, Any], kind: str) -> None:
    title, names, labels, membership = columns
    shown = (f"{value:.4f}" for value in membership.tolist())
    if kind == "jsonl":
        for name, label, own in zip(names, labels.tolist(), shown, strict=True):
            row = {title: name, "cluster": label, "membership": float(own)}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
        return
    writer = csv.writer(_UnixLines(out), delimiter="\t" if kind == "tsv" else ",", lineterminator="\r\n")
    writer.writerow([title, "cluster", "membership"])
    writer.writerows(zip(names, labels.tolist(), shown, strict=True))


class _UnixLines:
    """Takes lines that end in CR LF, so that Python quotes both wherever they are in a cell, and ends them in LF."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out

    def write(self, line: str) -> int:
        return self._out.write(line.removesuffix("\r\n") + "\n")


def _write_workbook(path: Path, columns: tuple[str, Any, Any, Any]) -> None:
    import openpyxl

    title, names, labels, membership = columns
    if len(labels) >= MOST_EXCEL_ROWS:
        raise ValueError(
            f"A sheet of Excel has {MOST_EXCEL_ROWS} rows, but there are {len(labels)}. Write CSV instead."
        )
    texts = [_excel_text(name) for name in (title, *names)]
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("clusters")
    sheet.append([_text_cell(sheet, texts[0]), "cluster", "membership"])
    for text, label, own in zip(texts[1:], labels.tolist(), membership.tolist(), strict=True):
        sheet.append([_text_cell(sheet, text), label, round(own, 4)])
    with replacing(path, "wb") as out:
        book.save(out)


def _excel_text(name: Any) -> Any:
    """Escape the characters of a name that a workbook cannot hold; row numbers stay numbers."""
    if not isinstance(name, str):
        return name
    text = _NOT_IN_XML.sub(lambda found: f"_x{ord(found[0][0]):04X}_{found[0][1:]}", name)
    if len(text) > MOST_EXCEL_CHARACTERS:
        raise ValueError(
            f"A cell of Excel holds {MOST_EXCEL_CHARACTERS} characters, but the name {shorten(name)!r} has "
            f"{len(text)}. Write CSV instead."
        )
    return text


def _text_cell(sheet: Any, text: Any) -> Any:
    """Keep a name that begins as a formula does from being one."""
    if not isinstance(text, str):
        return text
    import openpyxl.cell

    cell = openpyxl.cell.WriteOnlyCell(sheet, text)
    cell.data_type = "s"
    return cell


def _write_arrow(path: Path, columns: Mapping[str, Any], kind: str) -> None:
    import pyarrow
    import pyarrow.feather
    import pyarrow.parquet

    table = pyarrow.table(dict(columns))
    with replacing(path, "wb") as out:
        if kind == "parquet":
            pyarrow.parquet.write_table(table, out)
        else:
            pyarrow.feather.write_feather(table, out)
