"""Compressed files, Excel workbooks, JSON lines, AnnData and turned tables: read as the same table in CSV is."""

import datetime
import gzip
import io
import sys
from types import SimpleNamespace

import anndata
import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

from clusterforests.app.files import Request, read_table
from clusterforests.app.files.formats import compression_of, format_of

TEXT = "name,size,colour,day\na,1.5,red,2024-01-01\nb,2,blue,2024-02-01\nc,,red,2024-01-01\nd,4,,2024-02-01\n"


def cells(data):
    return [list(row) for row in np.asarray(data.table, dtype=object)], data.table.columns, data.ids


@pytest.fixture
def expected(tmp_path):
    (tmp_path / "plain.csv").write_text(TEXT)
    return cells(read_table(str(tmp_path / "plain.csv"), Request(id="name")))


def zstd(contents):
    return pa.compress(contents, "zstd", asbytes=True)


def same(found, expected):
    assert found[1:] == expected[1:]
    pd.testing.assert_frame_equal(pd.DataFrame(found[0]), pd.DataFrame(expected[0]))


def test_names_of_files():
    assert [format_of(name) for name in ("a.CSV.gz", "a.tsv.zst", "a.ndjson", "a.xlsx", "a.h5ad", "a.gz")] == [
        "csv",
        "tsv",
        "jsonl",
        "xlsx",
        "h5ad",
        "csv",
    ]
    assert [compression_of(name) for name in ("a.csv.gz", "a.csv.ZST", "a.csv")] == ["gzip", "zstd", None]


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_compressed_files(tmp_path, expected, pack, monkeypatch):
    packed = pack(TEXT.encode())
    for name in ("t.csv.gz", "misnamed.csv"):
        (tmp_path / name).write_bytes(packed)
        same(cells(read_table(str(tmp_path / name), Request(id="name"))), expected)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(packed))))
    same(cells(read_table("-", Request(id="name"))), expected)
    long = "a,b\n" + "\n".join(f"{i},{i * i % 9973}" for i in range(9000))
    (tmp_path / "cut.csv").write_bytes(pack(long.encode())[:-300])
    with pytest.raises(ValueError, match=r"cut.csv is compressed \((gzip|zstd)\) but damaged or cut short"):
        read_table(str(tmp_path / "cut.csv"), Request())


def test_compressed_arrays(tmp_path):
    out = io.BytesIO()
    np.save(out, np.eye(3))
    (tmp_path / "x.npy.gz").write_bytes(gzip.compress(out.getvalue()))
    assert np.array_equal(read_table(str(tmp_path / "x.npy.gz"), Request()).table, np.eye(3))


def workbook(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return str(path)


ROWS = [
    ["name", "size", "colour", "day"],
    ["a", 1.5, "red", datetime.datetime(2024, 1, 1)],
    ["b", 2, "blue", datetime.date(2024, 2, 1)],
    ["c", None, "red", datetime.datetime(2024, 1, 1)],
    ["d", 4.0, None, datetime.datetime(2024, 2, 1)],
]


def test_workbooks(tmp_path, expected):
    one = workbook(tmp_path / "one.xlsx", cells=ROWS, empty=[])
    same(cells(read_table(one, Request(id="name"))), expected)
    two = workbook(tmp_path / "two.xlsx", other=[["x"], [1]], cells=ROWS)
    for sheet in ("cells", "2"):
        same(cells(read_table(two, Request(id="name", sheet=sheet))), expected)
    with pytest.raises(ValueError, match=r"has 2 sheets with cells. Pass --sheet with one of 'other', 'cells'"):
        read_table(two, Request())
    with pytest.raises(ValueError, match=r"has no sheet 'third'. Its sheets are 'other', 'cells'"):
        read_table(two, Request(sheet="third"))
    with pytest.raises(ValueError, match="--sheet cells is for Excel workbooks"):
        read_table(str(tmp_path / "plain.csv"), Request(sheet="cells"))


def test_workbooks_have_line_numbers_blank_rows_booleans_and_errors(tmp_path):
    rows = [["a", "b", None], [1, True], [], [2, False], ["#DIV/0!", True], [3, False]]
    data = read_table(workbook(tmp_path / "t.xlsx", t=rows), Request())
    assert np.array_equal(data.table.cells[0], [1, 2, np.nan, 3], equal_nan=True)
    assert data.table.cells[1].cells().tolist() == ["true", "false", "true", "false"]
    assert data.notes == ("Taken as missing: 1 cell that holds an error of Excel, such as #DIV/0!.",)
    rows[3] = ["two lines\nof text", 1]
    with pytest.raises(ValueError, match=r"t.xlsx, line 4, column 'a': 'two lines\\nof text' is not a number"):
        read_table(workbook(tmp_path / "t.xlsx", t=rows), Request())
    (tmp_path / "cut.xlsx").write_bytes((tmp_path / "t.xlsx").read_bytes()[:-99])
    with pytest.raises(ValueError, match=r"cut.xlsx is not a complete Excel workbook"):
        read_table(str(tmp_path / "cut.xlsx"), Request())


def test_json_lines(tmp_path, expected):
    lines = [
        '{"name": "a", "size": 1.50, "colour": "red", "day": "2024-01-01"}',
        '{"size": 2, "name": "b", "colour": "blue", "day": "2024-02-01"}',
        "",
        '{"name": "c", "size": null, "colour": "red", "day": "2024-01-01", "more": [1]}',
        '{"name": "d", "size": 4, "day": "2024-02-01"}',
    ]
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(lines))
    same(cells(read_table(str(path), Request(id="name", ignore=["more"]))), expected)
    for line, message in (
        ("{broken", "line 3 is not JSON"),
        ("[1, 2]", "line 3 is not a JSON object"),
        ("", "line 4, column 'more': it holds a list"),
    ):
        path.write_text("\n".join([*lines[:2], line, *lines[3:]]))
        with pytest.raises(ValueError, match=message):
            read_table(str(path), Request(id="name"))
    path.write_text('{"a": 1}\n{"a": 2}\n{"a": "x"}\n{"a": 3}')
    with pytest.raises(ValueError, match=r"t.jsonl, line 3, column 'a': 'x' is not a number"):
        read_table(str(path), Request())
    path.write_text("\n")
    with pytest.raises(ValueError, match="is empty"):
        read_table(str(path), Request())


GENES = ["gene;s1;s2;s3", "TP53;1,5;2;3", "BRCA1;4;5,25;", "MYC;7;8;9"]


@pytest.mark.parametrize("corner", ["gene;", ""])
def test_transposed_text(tmp_path, corner):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([GENES[0].replace("gene;", corner), *GENES[1:]]))
    data = read_table(str(path), Request(transpose=True))
    assert data.table.columns == ["TP53", "BRCA1", "MYC"]
    assert data.ids == ["s1", "s2", "s3"]
    assert data.id_name == (corner[:-1] or "id")
    assert np.array_equal(np.asarray(data.table), [[1.5, 4, 7], [2, 5.25, 8], [3, np.nan, 9]], equal_nan=True)


def test_transposed_files_of_other_formats(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6.0).reshape(2, 3))
    assert read_table(str(tmp_path / "x.npy"), Request(transpose=True)).table.shape == (3, 2)
    book = workbook(tmp_path / "t.xlsx", t=[["gene", "s1", "s2"], ["TP53", 1, 2], ["MYC", 3, 4]])
    assert np.asarray(read_table(book, Request(transpose=True)).table).tolist() == [[1, 3], [2, 4]]
    pd.DataFrame({"a": [1.0]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="--transpose is for CSV"):
        read_table(str(tmp_path / "t.parquet"), Request(transpose=True))
    (tmp_path / "ragged.csv").write_text("a,b,c\n1,2,3\n4,5\n")
    with pytest.raises(ValueError, match="row 3 has 2 cells but the first has 3"):
        read_table(str(tmp_path / "ragged.csv"), Request(transpose=True))


def test_a_hint_where_genes_are_rows(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 10)), columns=[f"sample{j}" for j in range(10)])
    frame.insert(0, "gene", [f"ENSG{i:011d}" for i in range(60)])
    frame.to_csv(tmp_path / "genes.csv", index=False)
    hint = "The rows look like genes (ENSG00000000000, ...) and the columns like samples (sample0, ...)"
    for request in (Request(id="gene"), Request()):  # as row names, or left out as an identifier
        note = read_table(str(tmp_path / "genes.csv"), request).notes[-1]
        assert note.startswith(hint)
        assert "--transpose" in note
    turned = read_table(str(tmp_path / "genes.csv"), Request(transpose=True))
    assert not any("--transpose" in note for note in turned.notes)
    frame["gene"] = [f"person {i}" for i in range(60)]
    frame.to_csv(tmp_path / "people.csv", index=False)
    assert read_table(str(tmp_path / "people.csv"), Request(id="gene")).notes == ()


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_anndata(tmp_path, monkeypatch, wrap):
    obs = pd.DataFrame({"kind": ["T", None, "B"]}, index=["c1", "c2", "c3"])
    X = np.array([[1.0, 0], [0, 2], [3, 0]], dtype=np.float32)
    path = tmp_path / "cells.h5ad"
    anndata.AnnData(wrap(X), obs=obs, var=pd.DataFrame(index=["g1", "g2"])).write_h5ad(path)
    data = read_table(str(path), Request(label="kind"))
    assert np.array_equal(np.asarray(data.table), X)
    assert (data.table.columns, data.ids, data.truth) == (["g1", "g2"], ["c1", "c2", "c3"], ["T", None, "B"])
    with pytest.raises(ValueError, match=r".obs has no column 'sort'"):
        read_table(str(path), Request(label="sort"))
    with pytest.raises(ValueError, match=r"Leave --id out"):
        read_table(str(path), Request(id="kind"))
    (tmp_path / "cells.h5ad.gz").write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(ValueError, match=r"cells.h5ad.gz: .h5ad files are read from disk"):
        read_table(str(tmp_path / "cells.h5ad.gz"), Request())
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(ValueError, match=r"cells.h5ad is not a complete .h5ad file"):
        read_table(str(path), Request())
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(
        ImportError, match=r"reading .h5ad files needs anndata \(pip install clusterforests\[anndata\]\)"
    ):
        read_table(str(path), Request())


def test_decimals_beside_text_in_a_workbook(tmp_path):
    doses = [0.5, 1.5, 2.5, 10.5, 100.5, "n/a"] * 5
    kinds = ["oak" if dose in (0.5, "n/a") else dose for dose in doses]
    rows = [list(row) for row in zip(doses, kinds, np.arange(30) ** 1.5, strict=True)]
    path = workbook(tmp_path / "doses.xlsx", cells=[["dose", "kind", "height"], *rows])
    data = read_table(path, Request(categories=("kind",), missing=("100.5",)))
    assert [reading.kind for reading in data.readings[:2]] == ["number", "category"]
    assert np.isnan(data.table.cells[0][4:6]).all()
    assert sorted(data.table.cells[1].levels) == ["1.5", "10.5", "2.5", "oak"]
