"""Labels in the format that the name of their file says."""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet
import pytest

from clusterforests.app.command_line.label_files import formula_notes, labels_format, write_labels
from clusterforests.app.command_line.program import main
from clusterforests.app.files import DataFile, Request, read_table

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


OTHERS = ("xls", "xlsb", "xlsm", "json", "csv.zip", "csv.lz4", "tgz", "Z", "h5ad", "parquet.gz", "xlsx.gz")


@pytest.mark.parametrize("name", [f"l.{ending}" for ending in OTHERS])
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
    """Read the names of rows with other means than the package's, but for .xlsx, whose escapes openpyxl leaves."""
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            return [row[0] for row in csv.reader(file)][1:]
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path)["id"].to_pylist()
    if path.suffix == ".jsonl":
        return [json.loads(line)["id"] for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    return read_table(str(path), Request(id="id")).ids


@pytest.mark.parametrize("source", ["t.csv", "t.parquet", "t.jsonl"])
def test_names_of_rows_come_back_to_the_letter(source, tmp_path, record_property):
    write_table(tmp_path / source)
    data = read_table(str(tmp_path / source), Request(id="id"))
    assert data.ids == IDS
    labels, own = np.zeros(len(IDS), np.int32), np.ones(len(IDS))
    for name in ("l.csv", "l.parquet", "l.jsonl", "l.xlsx"):
        write_labels(tmp_path / name, data, labels, own, labels_format(tmp_path / name))
        assert read_ids(tmp_path / name) == IDS, name
    record_property("names of rows written and read, all equal", 4 * len(IDS))


def test_the_command_keeps_names_of_rows(tmp_path):
    write_table(tmp_path / "t.csv")
    asked = ["fit", str(tmp_path / "t.csv"), "--id", "id", "--clusters", "2", "--trees", "3", "--quiet"]
    assert main([*asked, "--out", str(tmp_path / "l.csv")]) == 0
    assert read_ids(tmp_path / "l.csv") == IDS


def test_names_that_begin_as_formulas_do_are_told(tmp_path, capsys):
    """They are kept in CSV, where they would be computed; in a workbook they are text."""
    (tmp_path / "t.csv").write_text("id,x\n=1+1,1\n-5,2\n+49 30,9\n@a,8\n")
    data = read_table(str(tmp_path / "t.csv"), Request(id="id"))
    (note,) = formula_notes(tmp_path / "l.csv", data)
    assert note.startswith("3 names of rows, such as '=1+1', begin as a formula does.")
    assert formula_notes(tmp_path / "l.xlsx", data) == formula_notes(None, data) == ()
    model, out = str(tmp_path / "m.cf"), str(tmp_path / "l.csv")
    asked = [str(tmp_path / "t.csv"), "--id", "id", "--out", out]
    assert main(["fit", *asked, "--clusters", "2", "--trees", "3", "--model", model]) == 0
    assert main(["predict", model, *asked]) == 0
    assert capsys.readouterr().err.count("3 names of rows, such as '=1+1'") == 2
    one = DataFile(np.zeros((1, 1)), ["=a"], "id")
    assert formula_notes(tmp_path / "l.tsv", one)[0].startswith("The name of a row, '=a', begins as a formula does.")


def test_a_name_that_is_too_long_for_a_cell_is_not_cut(tmp_path):
    data = DataFile(np.zeros((3, 1)), ["a" * 40_000, "b", "c"], "id")
    with pytest.raises(ValueError, match=r"A cell of Excel holds 32767 characters, but the name 'a+…' has 40000"):
        write_labels(tmp_path / "l.xlsx", data, LABELS, OWN, labels_format(tmp_path / "l.xlsx"))
    assert not (tmp_path / "l.xlsx").exists()


def test_a_column_name_is_no_formula_in_a_workbook(tmp_path):
    write_labels(
        tmp_path / "l.xlsx",
        DataFile(np.zeros((3, 1)), list("abc"), "=1+1"),
        LABELS,
        OWN,
        labels_format(tmp_path / "l.xlsx"),
    )
    cell = openpyxl.load_workbook(tmp_path / "l.xlsx").active["A1"]
    assert (cell.value, cell.data_type) == ("=1+1", "s")
