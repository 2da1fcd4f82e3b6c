"""The labels of the rows as a file: CSV, TSV, Parquet, Arrow or .npy."""

import csv
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from clusterforests._base.files import replacing
from clusterforests._base.typing import AnyArray, FloatArray
from clusterforests.cli.outputs import STDOUT
from clusterforests.cli.readers import DataFile, format_of


def labels_format(path: Path | None) -> str:
    """Choose the format by the file's name; standard output is CSV."""
    return "csv" if path is None or path == STDOUT else format_of(str(path))


def write_labels(path: Path, data: DataFile, labels: AnyArray, membership: FloatArray, kind: str) -> None:
    """Write a line for each row: its name or number, its cluster, and its membership in it."""
    if kind == "npy":
        with replacing(path, "wb") as out:
            np.save(out, labels, allow_pickle=False)
        return
    names: Any = range(1, len(labels) + 1) if data.ids is None else data.ids
    title = "row" if data.ids is None else data.id_name
    title = f"{title}_" if title in ("cluster", "membership") else title
    if kind in ("parquet", "arrow"):
        _write_arrow(path, {str(title): list(names), "cluster": labels, "membership": membership}, kind)
    elif path == STDOUT:
        _write_rows(sys.stdout, (str(title), names, labels, membership), ",")
        sys.stdout.flush()
    else:
        with replacing(path, newline="", encoding="utf-8") as out:
            _write_rows(out, (str(title), names, labels, membership), "\t" if kind == "tsv" else ",")


def _write_rows(out: IO[str], columns: tuple[str, Any, Any, Any], delimiter: str) -> None:
    title, names, labels, membership = columns
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow([title, "cluster", "membership"])
    shown = (f"{value:.4f}" for value in membership.tolist())
    writer.writerows(zip(names, labels.tolist(), shown, strict=True))


def _write_arrow(path: Path, columns: Mapping[str, Any], kind: str) -> None:
    try:
        import pyarrow
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"Writing {kind} files needs pyarrow (pip install clusterforests[files]).") from error
    table = pyarrow.table(dict(columns))
    with replacing(path, "wb") as out:
        if kind == "parquet":
            pyarrow.parquet.write_table(table, out)
        else:
            pyarrow.feather.write_feather(table, out)
