"""The labels of the rows as a file, in the format that its name says."""

import csv
import gzip
import importlib.util
import io
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from clusterforests._base.files import replacing
from clusterforests._base.typing import AnyArray, FloatArray
from clusterforests.cli.formats import compression_of, format_of
from clusterforests.cli.outputs import STDOUT
from clusterforests.cli.readers import DataFile

TEXT = ("csv", "tsv", "jsonl")
NOT_WRITTEN = (".xls", ".ods", ".json", ".zip", ".bz2", ".xz", ".7z", ".html", ".pdf", ".npz", ".rds", ".h5", ".h5ad")
MOST_EXCEL_ROWS = 2**20
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
    if suffix in NOT_WRITTEN or (compression is not None and kind not in TEXT):
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
    writer = csv.writer(out, delimiter="\t" if kind == "tsv" else ",", lineterminator="\n")
    writer.writerow([title, "cluster", "membership"])
    writer.writerows(zip(names, labels.tolist(), shown, strict=True))


def _write_workbook(path: Path, columns: tuple[str, Any, Any, Any]) -> None:
    import openpyxl

    title, names, labels, membership = columns
    if len(labels) >= MOST_EXCEL_ROWS:
        raise ValueError(
            f"A sheet of Excel has {MOST_EXCEL_ROWS} rows, but there are {len(labels)}. Write CSV instead."
        )
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("clusters")
    sheet.append([title, "cluster", "membership"])
    for name, label, own in zip(names, labels.tolist(), membership.tolist(), strict=True):
        sheet.append([_text_cell(sheet, name), label, round(own, 4)])
    with replacing(path, "wb") as out:
        book.save(out)


def _text_cell(sheet: Any, name: Any) -> Any:
    """Keep a name that begins like a formula from being one."""
    if not isinstance(name, str):
        return name
    import openpyxl.cell

    cell = openpyxl.cell.WriteOnlyCell(sheet, name)
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
