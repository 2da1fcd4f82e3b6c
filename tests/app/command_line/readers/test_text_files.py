"""Text files: what is understood, and where a mistake is found."""

import numpy as np
import pytest

from clusterforests.app.files import Request, read_table
from clusterforests.table.reader.raw_columns import CategoryColumn


def read(tmp_path, text, name="data.csv", encoding="utf-8", **request):
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    return read_table(str(path), Request(**request))


def numbers(data):
    return np.asarray(data.table).tolist()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a,b\n1,2.5\n-3,4e2\n", "data.csv"),
        ("a,b\r\n1,2.5\r\n-3,4e2\r\n", "data.csv"),
        ("a,b\r1,2.5\r-3,4e2", "data.csv"),
        ("\ufeffa,b\n1,2.5\n-3,4e2\n", "data.csv"),
        ("a;b\n1;2.5\n-3;4e2\n", "data.csv"),
        ("a;b\n1;2,5\n-3;4e2\n", "data.csv"),
        ("a\tb\n1\t2,5\n-3\t4e2\n", "data.tsv"),
        ("a|b\n1|2.5\n-3|4e2\n", "data.txt"),
        ('"a","b"\n"1","2.5"\n"-3"," 4e2 "\n', "data.csv"),
        ("a,b\n\n1,2.5\n\n-3,4e2\n\n", "data.csv"),
    ],
)
def test_one_table_written_in_ten_ways(tmp_path, text, name):
    data = read(tmp_path, text, name)
    assert data.table.columns == ["a", "b"]
    assert numbers(data) == [[1, 2.5], [-3, 400]]


@pytest.mark.parametrize("spelling", ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", " NA "])
def test_missing_cells(tmp_path, spelling):
    data = read(tmp_path, f"a,b\n1,x\n{spelling},x\n2,y\n3,{spelling}\n")
    a, b = data.table.cells
    assert np.isnan(a).tolist() == [False, True, False, False]
    assert b.cells().tolist() == ["x", "x", "y", None]


def test_text_is_categories_and_mostly_numbers_is_numbers(tmp_path):
    data = read(tmp_path, "a,b,c\n1,red,7\n2, blue,8\n3,red,x\n", categories=("c",))
    assert isinstance(data.table.cells[1], CategoryColumn)
    assert data.table.cells[1].levels == ("red", "blue")
    assert data.table.cells[2].cells().tolist() == ["7", "8", "x"]


def test_encodings_and_no_header(tmp_path):
    data = read(tmp_path, "größe,b\n1,2\n", name="utf8.csv")
    assert data.table.columns == ["größe", "b"]
    (tmp_path / "latin.csv").write_bytes("größe,b\n1,2\n".encode("latin-1"))
    assert read_table(str(tmp_path / "latin.csv"), Request(encoding="latin-1")).table.columns == ["größe", "b"]
    (tmp_path / "utf16.csv").write_bytes("größe,b\n1,2\n".encode("utf-16"))
    assert read_table(str(tmp_path / "utf16.csv"), Request(encoding="utf-16")).table.columns == ["größe", "b"]
    for mark in ("", "\ufeff"):
        for encoding in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):
            (tmp_path / "wide.csv").write_bytes(f"{mark}größe,b\n1,2\n".encode(encoding))
            assert read_table(str(tmp_path / "wide.csv"), Request(encoding=encoding)).table.columns == ["größe", "b"]
    data = read(tmp_path, "1,2\n3,4\n", header=False)
    assert data.table.columns == ["column1", "column2"]
    assert numbers(data) == [[1, 2], [3, 4]]


def test_line_numbers_count_lines_inside_quotes(tmp_path):
    with pytest.raises(ValueError, match=r"data\.csv, line 6, column 'b': 'x' is not a number"):
        read(tmp_path, 'a,b\n"u\nv",1\n"u\nv",2\nw,x\nw,3\n')


def test_columns_longer_than_a_block_are_decided_late(tmp_path):
    tones = ("red", "blue")
    lines = ["a,b,c", *(f"{i},,{i % 3}" for i in range(5000)), *(f"{i},{tones[i % 2]},{i % 3}" for i in range(5000))]
    data = read(tmp_path, "\n".join(lines))
    assert data.table.shape == (10000, 3)
    assert data.table.cells[1].codes[[0, 4999, 5000]].tolist() == [-1, -1, 0]
    lines.insert(7000, "oops,red,1")
    with pytest.raises(ValueError, match=r"line 7001, column 'a': 'oops'"):
        read(tmp_path, "\n".join(lines))


def test_progress_reaches_the_size_of_the_file(tmp_path):
    seen = []
    text = "a,b\n" + "1,2\n" * 20000
    read(tmp_path, text, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert len(seen) > 2
    assert seen[-1] == (len(text), len(text))
