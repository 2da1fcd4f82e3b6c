"""Tables from files: CSV, TSV, Parquet, Arrow and .npy, with row names and a column of known classes."""

import os
import sys
from dataclasses import replace
from pathlib import Path

from clusterforests.cli.formats import format_of
from clusterforests.cli.readers.arrow_files import read_arrow
from clusterforests.cli.readers.npy_files import read_npy
from clusterforests.cli.readers.request import DataFile, ReadProgress, Request
from clusterforests.cli.readers.text_files import read_text

__all__ = ["DataFile", "ReadProgress", "Request", "read_table"]


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
    if path == "-":
        if kind in ("csv", "tsv"):
            return read_text("standard input", sys.stdin.buffer, request)
        contents = sys.stdin.buffer.read()
        if kind == "npy":
            return read_npy("standard input", contents, request)
        return read_arrow("standard input", contents, request, kind)
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder. Name a file in it.")
    with open(path, "rb") as stream:  # for every format, so that a file that cannot be opened is reported early
        if kind in ("csv", "tsv"):
            return read_text(path, stream, request, os.fstat(stream.fileno()).st_size)
    return read_npy(path, Path(path), request) if kind == "npy" else read_arrow(path, Path(path), request, kind)
