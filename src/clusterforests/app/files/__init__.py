"""Tables from files of many formats, compressed or not, with row names and a column of known classes."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from clusterforests.app.files.anndata_files import read_h5ad
from clusterforests.app.files.arrow_files import read_arrow
from clusterforests.app.files.formats import format_of
from clusterforests.app.files.json_lines import read_json_lines
from clusterforests.app.files.npy_files import read_npy
from clusterforests.app.files.request import DataFile, ReadProgress, Request
from clusterforests.app.files.row_pairs import RowPairs, read_pairs, row_name
from clusterforests.app.files.text_files import read_text, split_text, unpack
from clusterforests.app.files.text_rows import read_rows
from clusterforests.app.files.workbooks import read_workbook

__all__ = ["DataFile", "ReadProgress", "Request", "RowPairs", "read_pairs", "read_table", "row_name"]


def read_table(path: str, request: Request, format: str | None = None) -> DataFile:
    """Read a table from a file, or from standard input if `path` is "-".

    Parameters
    ----------
    path : str
        Name of the file.
    request : Request
        What to read.
    format : str or None, default=None
        One of `formats.FORMATS`; None goes by the file's extension.

    Returns
    -------
    data : DataFile
    """
    kind = format or format_of(path)
    if kind == "tsv" and request.delimiter is None:
        request = replace(request, delimiter="\t")
    if request.sheet is not None and kind != "xlsx":
        raise ValueError(f"--sheet {request.sheet} is for Excel workbooks, which {path} is not.")
    if path == "-":
        return _read("standard input", None, sys.stdin.buffer, request, kind)
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder. Name a file in it.")
    with open(path, "rb") as stream:  # for every format, so that a file that cannot be opened is reported early
        return _read(path, Path(path), stream, request, kind, os.fstat(stream.fileno()).st_size)


def _read(file: str, place: Path | None, packed: Any, request: Request, kind: str, size: int = 0) -> DataFile:
    """Read a stream; from its place instead where the format allows that, and it is not compressed."""
    stream = unpack(file, packed)
    if kind in ("csv", "tsv"):
        if request.transpose:
            records, delimiter = split_text(file, stream, request)
            return read_rows(file, [row for _, row in records], replace(request, delimiter=delimiter))
        return read_text(file, stream, request, size)
    if kind == "jsonl":
        return read_json_lines(file, stream, request, size)
    if kind == "xlsx":
        return read_workbook(file, stream, request)
    source = place if place is not None and stream is packed else stream.read()
    if kind == "npy":
        return read_npy(file, source, request)
    if request.transpose:
        raise ValueError(f"{file}: --transpose is for CSV, TSV, Excel and .npy. Turn the table before it is saved.")
    return read_h5ad(file, source, request) if kind == "h5ad" else read_arrow(file, source, request, kind)
