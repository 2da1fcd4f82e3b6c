"""Tables from files: CSV, TSV, Parquet, Arrow and .npy, with the rows' names and a column of known classes."""

import os
import sys
from dataclasses import replace
from pathlib import Path

from clusterforests.cli.readers.columnar import read_arrow, read_npy
from clusterforests.cli.readers.delimited import read_delimited
from clusterforests.cli.readers.request import DataFile, Request

__all__ = ["FORMATS", "DataFile", "Request", "read_table"]

FORMATS = ("csv", "tsv", "parquet", "arrow", "npy")
_ENDINGS = {
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npy": "npy",
}


def format_of(path: str) -> str:
    """By the name's ending; CSV if it has none that is known."""
    return _ENDINGS.get(Path(path).suffix.lower(), "csv")


def read_table(path: str, request: Request, format: str | None = None) -> DataFile:
    """Read a table from a file, or from standard input if `path` is "-".

    Parameters
    ----------
    path : str
        Name of the file.
    request : Request
        Which columns are what.
    format : str or None, default=None
        One of FORMATS; None goes by the name's ending.

    Returns
    -------
    data : DataFile
    """
    kind = format or format_of(path)
    if kind == "tsv" and request.delimiter is None:
        request = replace(request, delimiter="\t")
    if path == "-":
        if kind in ("csv", "tsv"):
            return read_delimited("standard input", sys.stdin.buffer, request)
        contents = sys.stdin.buffer.read()
        if kind == "npy":
            return read_npy("standard input", contents, request)
        return read_arrow("standard input", contents, request, kind)
    if os.path.isdir(path):
        raise IsADirectoryError(f"{path} is a folder. Name a file in it.")
    with open(path, "rb") as stream:  # also to say early that there is none, or no permission
        if kind in ("csv", "tsv"):
            return read_delimited(path, stream, request, os.fstat(stream.fileno()).st_size)
    return read_npy(path, Path(path), request) if kind == "npy" else read_arrow(path, Path(path), request, kind)
