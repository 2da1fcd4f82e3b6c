"""A file, or standard input, opened by its format and unpacked if it is compressed."""

import bz2
import errno
import gzip
import io
import lzma
import os
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from clusterforests.app.files.extensions import WORKBOOKS, format_of
from clusterforests.app.files.file_table import FileOptions, FileTable
from clusterforests.app.files.formats import read_arrow, read_h5ad, read_json, read_npy, read_workbook
from clusterforests.app.files.text import read_text

MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}


def read_file(path: str, options: FileOptions | None = None) -> FileTable:
    """Read the columns of a file as they are written.

    Parameters
    ----------
    path : str
        Name of the file; "-" is standard input.
    options : FileOptions or None, default=None
        How it is read.

    Returns
    -------
    table : FileTable
    """
    options = options or FileOptions()
    kind = options.format or format_of(path)
    if options.sheet is not None and kind not in WORKBOOKS:
        raise ValueError(f"--sheet {options.sheet} is for workbooks, which {path} is not.")
    if kind == "tsv" and options.delimiter is None:
        options = replace(options, delimiter="\t")
    try:
        if path == "-":
            return _read("standard input", None, sys.stdin.buffer, options, kind)
        if os.path.isdir(path):
            raise IsADirectoryError(f"{path} is a folder. Name a file in it.")
        with open(path, "rb") as stream:  # for every format, so that a file that cannot be opened is reported early
            return _read(path, Path(path), stream, options, kind, os.fstat(stream.fileno()).st_size)
    except (MemoryError, OSError) as error:
        if isinstance(error, MemoryError) or error.errno == errno.ENOMEM:  # a .npy file is mapped, which may fail too
            raise _too_large(path) from error
        if path == "-" and error.errno is not None and error.filename is None:
            raise OSError(error.errno, error.strerror, "standard input") from error
        raise


def _too_large(path: str) -> MemoryError:
    name = "standard input" if path == "-" else path
    advice = "Leave columns out with --ignore, or save the table with numpy.save: a .npy file is not read as a whole."
    if path.endswith(".npy"):
        advice = "Save fewer rows or columns."
    return MemoryError(f"{name} does not fit into the memory that is left. {advice}")


def _read(file: str, place: Path | None, packed: Any, options: FileOptions, kind: str, size: int = 0) -> FileTable:
    """Read a stream; from its place instead where the format allows that, and it is not compressed."""
    with unpacked(file, packed, zipped=kind in ("csv", "tsv", "json", "jsonl")) as stream:
        if kind in ("csv", "tsv"):
            return read_text(file, stream, options, lambda: _report(options, packed, size))
        if kind in ("json", "jsonl"):
            return read_json(file, stream, options, lines=kind == "jsonl")
        source = place if place is not None and stream is packed else stream.read()
    if kind in WORKBOOKS:
        return read_workbook(file, source, options)
    if kind == "npy":
        return read_npy(file, source, options)
    if options.transpose:
        raise ValueError(f"{file}: --transpose is for text, workbooks and .npy. Turn the table before it is saved.")
    return read_h5ad(file, source, options) if kind == "h5ad" else read_arrow(file, source, options, kind)


def _report(options: FileOptions, stream: Any, size: int) -> None:
    """Say how many bytes were read, of a compressed file as it is."""
    if options.progress is not None:
        try:
            options.progress(max(0, int(stream.tell())), size)
        except (OSError, ValueError):  # a pipe has no place
            options.progress(0, 0)


@contextmanager
def unpacked(file: str, stream: Any, *, zipped: bool = True) -> Iterator[Any]:
    """Open the contents of a compressed stream, known by its first bytes; any other stream is left as it is."""
    head = stream.peek(6)[:6] if hasattr(stream, "peek") else b""
    kind = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), None)
    if kind is None or (kind == "zip" and not zipped):
        yield stream
        return
    try:
        yield _unpack(file, stream, kind)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ValueError(
            f"{file} is compressed ({kind}) but damaged or cut short. Copy it again, or pack it again."
        ) from error


def _unpack(file: str, packed: Any, kind: str) -> Any:
    if kind == "gzip":
        return gzip.GzipFile(fileobj=packed)
    if kind == "bzip2":
        return bz2.BZ2File(packed)
    if kind == "xz":
        return lzma.LZMAFile(packed)
    if kind == "zip":
        archive = zipfile.ZipFile(packed if packed.seekable() else io.BytesIO(packed.read()))
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if len(names) != 1 or names[0].startswith("xl/"):
            raise ValueError(
                f"{file} is a zip file, such as an Excel workbook. Pass --format xlsx if it is one, or unpack it."
            )
        return archive.open(names[0])
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            f"{file} is compressed with zstd: reading it needs pyarrow (pip install clusterforests[app])."
        ) from error
    return io.BufferedReader(pyarrow.CompressedInputStream(pyarrow.PythonFile(packed, mode="r"), "zstd"))
