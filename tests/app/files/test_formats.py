"""Compressed files, workbooks, JSON, Parquet, Arrow, AnnData: read as the same table in CSV is."""

import bz2
import datetime
import gzip
import io
import json
import lzma
import sys
import zipfile
from types import SimpleNamespace

import anndata
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy import sparse

from clusterforests.app.cluster_table import prepare_table, read_columns
from clusterforests.app.files.extensions import compression_of, format_of
from clusterforests.app.files.file_table import FileOptions
from clusterforests.app.files.opening import read_file
from clusterforests.app.problems import FileProblems

TEXT = "name,size,colour,day\na,1.5,red,2024-01-01\nb,2,blue,2024-02-01\nc,,red,2024-01-01\nd,4,,2024-02-01\n"
EXPECTED = pd.DataFrame(
    {
        "name": ["a", "b", "c", "d"],
        "size": [1.5, 2, np.nan, 4],
        "colour": ["red", "blue", "red", None],
        "day": ["2024-01-01", "2024-02-01", "2024-01-01", "2024-02-01"],
    }
)


def same(path, expected=EXPECTED, **options):
    table = read_file(str(path), FileOptions(row_names="name", **options))
    pd.testing.assert_frame_equal(table.cells[expected.columns.tolist()], expected)
    return table


def zipped(contents):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", contents)
    return out.getvalue()


def test_names_of_files():
    names = ("a.CSV.gz", "a.tsv.zst", "a.ndjson", "a.xlsx", "a.h5ad", "a.gz")
    assert list(map(format_of, names)) == ["csv", "tsv", "jsonl", "xlsx", "h5ad", "csv"]
    assert [compression_of(name) for name in ("a.csv.gz", "a.csv.ZST", "a.csv")] == ["gzip", "zstd", None]


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, zipped, lambda data: pa.compress(data, "zstd", asbytes=True)]
)
def test_compressed_files(tmp_path, pack, monkeypatch):
    packed = pack(TEXT.encode())
    (tmp_path / "misnamed.csv").write_bytes(packed)
    same(tmp_path / "misnamed.csv")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(packed))))
    same("-")
    long = "a,b\n" + "\n".join(f"{i},{i * i % 9973}" for i in range(9000))
    (tmp_path / "cut.csv").write_bytes(pack(long.encode())[:-300])
    with pytest.raises(ValueError, match=r"cut.csv is compressed \(\w+\) but damaged or cut short"):
        read_file(str(tmp_path / "cut.csv"))


def test_matrices(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    np.save(tmp_path / "x.npy", X)
    assert isinstance(read_file(str(tmp_path / "x.npy")).cells, np.memmap)
    assert np.array_equal(read_file(str(tmp_path / "x.npy"), FileOptions(transpose=True)).cells, X.T)
    (tmp_path / "x.npy.gz").write_bytes(gzip.compress((tmp_path / "x.npy").read_bytes()))
    assert np.array_equal(read_file(str(tmp_path / "x.npy.gz")).cells, X)


ROWS = [
    ["name", "size", "colour", "day"],
    ["a", 1.5, "red", datetime.datetime(2024, 1, 1)],
    ["b", 2, "blue", datetime.date(2024, 2, 1)],
    ["c", None, "red", datetime.datetime(2024, 1, 1)],
    ["d", 4.0, None, datetime.datetime(2024, 2, 1)],
]


def workbook(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return str(path)


def test_sheets_of_workbooks(tmp_path):
    same(workbook(tmp_path / "one.xlsx", cells=ROWS, empty=[]))
    two = workbook(tmp_path / "two.xlsx", other=[["x"], [1]], cells=ROWS)
    for sheet in ("cells", "2"):
        same(two, sheet=sheet)
    for sheet, message in (
        (None, "2 sheets with cells"),
        ("third", "no sheet 'third'. Its sheets are 'other', 'cells'"),
    ):
        with pytest.raises(ValueError, match=message):
            read_file(two, FileOptions(sheet=sheet))
    turned = workbook(tmp_path / "t.xlsx", t=[["gene", "s1", "s2"], ["TP53", 1, 2], ["MYC", 3, 4]])
    assert read_file(turned, FileOptions(transpose=True)).cells.to_numpy().tolist() == [["s1", 1, 3], ["s2", 2, 4]]


def test_cells_of_workbooks(tmp_path):
    rows = [["a", "b", None], [1, True], [], [2, False], ["=1/0", True], [datetime.time(3, 4), False]]
    table = read_file(workbook(tmp_path / "t.xlsx", t=rows))
    assert table.cells["a"].tolist() == [1, 2, None, "03:04:00"]
    assert table.cells["b"].tolist() == [True, False, True, False]
    assert table.lines.tolist() == [2, 4, 5, 6]
    wide = workbook(tmp_path / "wide.xlsx", t=[["a", "b"], [1, 2, 3]])
    with pytest.raises(ValueError, match="line 2 has 3 cells but the line of names has 2"):
        read_file(wide)


def test_json(tmp_path):
    lines = [
        '{"name": "a", "size": 1.50, "colour": "red", "day": "2024-01-01"}',
        '{"size": 2, "name": "b", "colour": "blue", "day": "2024-02-01"}',
        "",
        '{"name": "c", "size": null, "colour": "red", "day": "2024-01-01", "more": [1]}',
        '{"name": "d", "size": 4, "day": "2024-02-01"}',
    ]
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(lines))
    (problem,) = same(path).problems
    assert (problem.problem.column, problem.line) == ("more", 4)
    assert same(path, skip=["more"]).problems == ()
    (tmp_path / "t.json").write_text(f"[{', '.join(filter(None, lines))}]")
    same(tmp_path / "t.json")
    for line, message in (("{broken", "line 3 is not JSON"), ("[1, 2]", "line 3 is not a JSON object")):
        path.write_text("\n".join([*lines[:2], line, *lines[3:]]))
        with pytest.raises(ValueError, match=message):
            read_file(str(path))
    path.write_text("\n")
    with pytest.raises(ValueError, match="is empty"):
        read_file(str(path))


def test_parquet_and_arrow(tmp_path):
    table = pa.table(
        {
            "i": pa.array([1, None, 3], pa.int64()),
            "b": [True, False, None],
            "d": pa.array(["p", "q", None]).dictionary_encode(),
            "s": pa.array(["u", None, "w"], pa.large_string()),
            "id": [12345678901234567, 2, 3],
        }
    )
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    for name, kind in (("stream.arrow", pa.ipc.new_stream), ("t.feather", pa.ipc.new_file)):
        with pa.OSFile(str(tmp_path / name), "wb") as out, kind(out, table.schema) as writer:
            writer.write_table(table)
    for name in ("t.parquet", "stream.arrow", "t.feather"):
        cells = read_file(str(tmp_path / name), FileOptions(row_names="id")).cells
        assert np.array_equal(cells["i"], [1, np.nan, 3], equal_nan=True)
        assert cells["b"].tolist() == [True, False, None]
        assert cells["d"].dropna().tolist() == ["p", "q"]
        assert cells["s"].tolist() == ["u", None, "w"]
        assert cells["id"].tolist() == ["12345678901234567", "2", "3"]
    with pytest.raises(ValueError, match="--transpose is for text"):
        read_file(str(tmp_path / "t.parquet"), FileOptions(transpose=True))


@pytest.mark.parametrize("name", ["t.parquet", "t.jsonl"])
def test_columns_that_hold_no_cells_are_listed_with_other_problems(tmp_path, name):
    rows = [{"a": 1.0 * i, "tags": [i], "geo": {"lat": i}, "p": f"{i + 1},{100 + i}"} for i in range(9)]
    path = str(tmp_path / name)
    if name.endswith("jsonl"):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pa.parquet.write_table(pa.Table.from_pylist(rows), path)

    def refused(**asked):
        with pytest.raises(FileProblems) as caught:
            read_columns(*prepare_table(path, **asked), fit=True)
        return [found.problem.column for found in caught.value.problems]

    assert refused() == ["tags", "geo", "p"]
    assert refused(overrides={"p": "ignore"}) == ["tags", "geo"]
    assert refused(overrides={"p": "ignore", "a": "ignore"}) == ["tags", "geo"]
    for use in ("id_column", "label_column", "known_labels"):
        assert "tags" in refused(**{use: "tags"})
    ignored = dict.fromkeys(("tags", "geo", "p"), "ignore")
    assert list(read_columns(*prepare_table(path, overrides=ignored), fit=True)) == ["a"]


WEIGHTS = [5.073, 1.946, 12.5, 0.25, 3.0, 1.234]
PRICES = ["146,27 €", "1.200,50 €", "9,99 €", "77,10 €", "8,00 €", "3,50 €"]


@pytest.mark.parametrize("name", ["table.jsonl", "table.xlsx"])
@pytest.mark.parametrize("mixed", [False, True])
def test_numbers_of_a_file_are_numbers_whatever_its_texts_look_like(tmp_path, name, mixed):
    weights = [f"{w}".replace(".", ",") if mixed and i in (2, 3) else w for i, w in enumerate(WEIGHTS)]
    rows = list(zip(weights, PRICES, "ababab", strict=True))
    names = ("weight", "price", "kind")
    if name.endswith("jsonl"):
        (tmp_path / name).write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
    else:
        workbook(tmp_path / name, table=[names, *rows])
    typed = read_columns(*prepare_table(tmp_path / name), fit=True)
    assert typed["weight"].tolist() == WEIGHTS
    assert typed["price"].tolist() == [146.27, 1200.5, 9.99, 77.1, 8.0, 3.5]
    named = read_file(str(tmp_path / name), FileOptions(row_names="weight")).cells["weight"].tolist()
    assert named[:2] == [str(w) for w in weights[:2]]


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_anndata(tmp_path, monkeypatch, wrap):
    obs = pd.DataFrame({"kind": ["T", None, "B"]}, index=["c1", "c2", "c3"])
    X = np.array([[1.0, 0], [0, 2], [3, 0]], dtype=np.float32)
    path = tmp_path / "cells.h5ad"
    anndata.AnnData(wrap(X), obs=obs, var=pd.DataFrame(index=["g1", "zip"])).write_h5ad(path)
    rows, reader = prepare_table(path, label_column="kind")
    typed = read_columns(rows, reader, fit=True)
    assert np.array_equal(typed, X)
    assert (typed.columns.tolist(), rows.ids, rows.classes) == (["g1", "zip"], ["c1", "c2", "c3"], ["T", None, "B"])
    with pytest.raises(ValueError, match=r".obs has no column 'sort'"):
        prepare_table(path, label_column="sort")
    with pytest.raises(ValueError, match=r"Leave --id out"):
        prepare_table(path, id_column="kind")
    (tmp_path / "cells.h5ad.gz").write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(ValueError, match=r"cells.h5ad.gz: .h5ad files are read from disk"):
        read_file(str(tmp_path / "cells.h5ad.gz"))
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(ValueError, match=r"cells.h5ad is not a complete .h5ad file"):
        read_file(str(path))
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(ImportError, match=r"pip install clusterforests\[anndata\]"):
        read_file(str(path))
