"""The clusters of the rows as a file, in the format that its name says."""

import csv
import gzip
import importlib.util
import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd

from clusterforests._utils.files import replacing
from clusterforests.app.files.extensions import compression_of, format_of

STDOUT = Path("-")
TEXT = ("csv", "tsv", "jsonl")
CSV_ENDINGS = ("", ".csv", ".txt", ".dat")


class LabelFormat(NamedTuple):
    """How labels are written: the format and, for text, the compression."""

    kind: str
    compression: str | None = None


def label_format(path: Path | None) -> LabelFormat:
    """Choose the format by the file's name, before the work begins; standard output is CSV."""
    if path is None or path == STDOUT:
        return LabelFormat("csv")
    kind, compression = format_of(str(path)), compression_of(str(path))
    ending = (path.with_suffix("") if compression else path).suffix.lower()
    wrong = kind not in (*TEXT, "parquet", "arrow", "npy") or (kind == "csv" and ending not in CSV_ENDINGS)
    if wrong or compression not in (None, "gzip") or (compression is not None and kind not in TEXT):
        raise ValueError(
            f"--out {path}: labels are written as .csv, .tsv or .jsonl (also .gz), .parquet, .arrow or .npy. Give the "
            "file one of these names."
        )
    if kind in ("parquet", "arrow") and importlib.util.find_spec("pyarrow") is None:
        raise ImportError(f"--out {path}: writing it needs pyarrow (pip install clusterforests[app]).")
    return LabelFormat(kind, compression)


def write_labels(path: Path, labels: pd.Series, memberships: pd.Series, form: LabelFormat) -> None:
    """Write a line for each row: its name or number, its cluster, and its membership in it."""
    if form.kind == "npy":
        with replacing(path, "wb") as out:
            np.save(out, labels.to_numpy(), allow_pickle=False)
        return
    title = str(labels.index.name or "row")
    title = f"{title}_" if title in ("cluster", "membership") else title
    if form.kind in ("parquet", "arrow"):
        frame = pd.DataFrame({title: labels.index, "cluster": labels.to_numpy(), "membership": memberships.to_numpy()})
        with replacing(path, "wb") as out:
            (frame.to_parquet if form.kind == "parquet" else frame.to_feather)(out)
    elif path == STDOUT:
        _write_rows(sys.stdout, title, labels, memberships, form.kind)
        sys.stdout.flush()
    else:
        with replacing(path, "wb") as out, _packed(out, form.compression) as text:
            _write_rows(text, title, labels, memberships, form.kind)


@contextmanager
def _packed(out: IO[bytes], compression: str | None) -> Iterator[IO[str]]:
    """Open a binary file for text, compressed or not. The same labels give the same bytes."""
    packed: Any = gzip.GzipFile(filename="", fileobj=out, mode="wb", mtime=0) if compression else out
    text = io.TextIOWrapper(packed, encoding="utf-8", newline="")
    yield text
    text.flush()
    text.detach()
    if packed is not out:
        packed.close()


def _write_rows(out: IO[str], title: str, labels: pd.Series, memberships: pd.Series, kind: str) -> None:
    rows = zip(labels.index.tolist(), labels.tolist(), (f"{own:.4f}" for own in memberships.tolist()), strict=True)
    if kind == "jsonl":
        for name, label, own in rows:
            row = {title: name, "cluster": label, "membership": float(own)}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
        return
    writer = csv.writer(_UnixLines(out), delimiter="\t" if kind == "tsv" else ",", lineterminator="\r\n")
    writer.writerow([title, "cluster", "membership"])
    writer.writerows(rows)


class _UnixLines:
    """Takes lines that end in CR LF, so that Python quotes both wherever they are in a cell, and ends them in LF."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out

    def write(self, line: str) -> int:
        return self._out.write(line.removesuffix("\r\n") + "\n")
