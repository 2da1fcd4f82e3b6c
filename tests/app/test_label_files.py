"""Labels in the format that the name of their file says."""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from clusterforests.app.command_line.program import main
from clusterforests.app.files.file_table import FileOptions
from clusterforests.app.files.opening import read_file
from clusterforests.app.label_files import label_format, write_labels

INDEX = pd.Index(["a", "=b", "c"], name="id")
LINES = "id,cluster,membership\na,1,1.0000\n=b,0,0.5000\nc,0,0.2500\n"


def write(path, index):
    n = len(index)
    labels = pd.Series(np.array([1, *[0] * (n - 1)], np.int32), index=index)
    write_labels(path, labels, pd.Series([1, *[0.5, 0.25] * n][:n], index=index), label_format(path))
    return path.read_bytes()


def test_compressed_text(tmp_path):
    assert write(tmp_path / "l.csv", INDEX).decode() == LINES
    packed = write(tmp_path / "l.csv.gz", INDEX)
    assert gzip.decompress(packed).decode() == LINES
    assert write(tmp_path / "again.csv.gz", INDEX) == packed
    assert gzip.decompress(write(tmp_path / "l.tsv.gz", INDEX)).decode() == LINES.replace(",", "\t")


def test_typed_formats(tmp_path):
    rows = [json.loads(line) for line in write(tmp_path / "l.jsonl", INDEX).splitlines()]
    assert rows[1] == {"id": "=b", "cluster": 0, "membership": 0.5}
    write(tmp_path / "l.npy", INDEX)
    assert np.load(tmp_path / "l.npy").tolist() == [1, 0, 0]
    for name, read in (("l.parquet", pd.read_parquet), ("l.feather", pd.read_feather)):
        write(tmp_path / name, pd.Index(["x", "y"], name="cluster"))
        assert read(tmp_path / name).to_dict("list") == {
            "cluster_": ["x", "y"],
            "cluster": [1, 0],
            "membership": [1, 0.5],
        }


OTHERS = ("xls", "xlsx", "ods", "json", "csv.zip", "csv.zst", "tgz", "Z", "h5ad", "parquet.gz")


@pytest.mark.parametrize("name", [f"l.{ending}" for ending in OTHERS])
def test_formats_that_are_not_written_are_refused_before_the_work(name, tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    assert main(["fit", str(tmp_path / "t.csv"), "--out", str(tmp_path / name)]) == 1
    assert "labels are written as .csv, .tsv or .jsonl" in capsys.readouterr().err
    assert not (tmp_path / name).exists()


def test_what_is_not_installed_is_said_before_the_work(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r"--out l.parquet: writing it needs pyarrow"):
        label_format(Path("l.parquet"))
    assert label_format(Path("l.csv.gz")) == ("csv", "gzip")


WORDS_FOR_MISSING = ["NA", "None", "?", "nan", "null", "NULL", "N/A", "-", "#N/A"]
SPACES = [" a ", "b  c", "  ", "\xa0d", "\te", "x\ry", "x\ny", "x\r\ny", "\rf", "y\r"]
OTHERS = [
    "=1+1",
    "+1",
    "-1",
    "@a",
    "",
    "007",
    "1e3",
    "1.50",
    "true",
    "True",
    "a,b",
    'q"q',
    "_x000D_",
    "_xD800_",
    "12345678901234567890",
]
IDS = [*WORDS_FOR_MISSING, *SPACES, *OTHERS]


def write_table(path):
    """Write a table with these names of rows, and a feature with two groups, in the format that the name says."""
    values = [float(10 * (i % 2) + i / 100) for i in range(len(IDS))]
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out, quoting=csv.QUOTE_NONNUMERIC).writerows([["id", "x"], *zip(IDS, values, strict=True)])
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(pa.table({"id": IDS, "x": values}), path)
    else:
        rows = (json.dumps({"id": name, "x": value}) for name, value in zip(IDS, values, strict=True))
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def read_ids(path):
    """Read the names of rows with other means than the package's."""
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            return [row[0] for row in csv.reader(file)][1:]
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path)["id"].to_pylist()
    return [json.loads(line)["id"] for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


@pytest.mark.parametrize("source", ["t.csv", "t.parquet", "t.jsonl"])
def test_names_of_rows_come_back_to_the_letter(source, tmp_path):
    write_table(tmp_path / source)
    found = read_file(str(tmp_path / source), FileOptions(row_names="id")).cells["id"]
    assert found.tolist() == IDS
    for name in ("l.csv", "l.parquet", "l.jsonl"):
        write(tmp_path / name, pd.Index(found, name="id"))
        assert read_ids(tmp_path / name) == IDS, name


def test_the_command_keeps_names_of_rows(tmp_path):
    write_table(tmp_path / "t.csv")
    asked = ["fit", str(tmp_path / "t.csv"), "--id", "id", "--clusters", "2", "--trees", "3", "--quiet"]
    assert main([*asked, "--out", str(tmp_path / "l.csv")]) == 0
    assert read_ids(tmp_path / "l.csv") == IDS
