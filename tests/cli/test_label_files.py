"""Labels in the format that the name of their file says."""

import gzip
import json
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pytest

from clusterforests.cli.label_files import labels_format, write_labels
from clusterforests.cli.program import main
from clusterforests.cli.readers import DataFile

LABELS, OWN = np.array([1, 0, 0], np.int32), np.array([1, 0.5, 0.25])
LINES = "id,cluster,membership\na,1,1.0000\n=b,0,0.5000\nc,0,0.2500\n"


def written(path):
    data = DataFile(np.zeros((3, 1)), ["a", "=b", "c"], "id")
    write_labels(path, data, LABELS, OWN, labels_format(path))
    return path.read_bytes()


def test_compressed_text(tmp_path):
    assert written(tmp_path / "l.csv").decode() == LINES
    packed = written(tmp_path / "l.csv.gz")
    assert gzip.decompress(packed).decode() == LINES
    assert written(tmp_path / "again.csv.gz") == packed
    assert gzip.decompress(written(tmp_path / "l.tsv.gz")).decode() == LINES.replace(",", "\t")
    written(tmp_path / "l.csv.zst")
    with pa.input_stream(str(tmp_path / "l.csv.zst"), "zstd") as file:
        assert file.read().decode() == LINES


def test_json_lines(tmp_path):
    rows = [json.loads(line) for line in written(tmp_path / "l.jsonl").splitlines()]
    assert rows[1] == {"id": "=b", "cluster": 0, "membership": 0.5}


def test_a_workbook(tmp_path):
    written(tmp_path / "l.xlsx")
    rows = list(openpyxl.load_workbook(tmp_path / "l.xlsx").active.values)
    assert rows == [("id", "cluster", "membership"), ("a", 1, 1), ("=b", 0, 0.5), ("c", 0, 0.25)]
    assert openpyxl.load_workbook(tmp_path / "l.xlsx").active["A3"].data_type == "s"  # and not a formula


@pytest.mark.parametrize("name", ["l.xls", "l.json", "l.csv.zip", "l.h5ad", "l.parquet.gz", "l.xlsx.gz"])
def test_formats_that_are_not_written_are_refused_before_the_work(name, tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    assert main(["fit", str(tmp_path / "t.csv"), "--out", str(tmp_path / name)]) == 1
    assert "labels are written as .csv, .tsv or .jsonl" in capsys.readouterr().err
    assert not (tmp_path / name).exists()


def test_what_is_not_installed_is_said_before_the_work(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    for name, package in (("l.xlsx", "openpyxl"), ("l.csv.zst", "pyarrow"), ("l.parquet", "pyarrow")):
        with pytest.raises(ImportError, match=f"--out {name}: writing it needs {package}"):
            labels_format(Path(name))
    assert labels_format(Path("l.csv.gz")) == ("csv", "gzip")
