"""Text files: what is understood, and where a mistake is found."""

import numpy as np
import pandas as pd
import pytest

from clusterforests.app.files.file_table import FileOptions
from clusterforests.app.files.opening import read_file


def read(tmp_path, text, name="data.csv", **options):
    path = tmp_path / name
    path.write_bytes(text.encode())
    return read_file(str(path), FileOptions(**options))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a,b\n1,2.5\n-3,4e2\n", "data.csv"),
        ("a,b\r\n1,2.5\r\n-3,4e2\r\n", "data.csv"),
        ("a,b\r1,2.5\r-3,4e2", "data.csv"),
        ("\ufeffa,b\n1,2.5\n-3,4e2\n", "data.csv"),
        ("a;b\n1;2.5\n-3;4e2\n", "data.csv"),
        ("a\tb\n1\t2.5\n-3\t4e2\n", "data.tsv"),
        ("a|b\n1|2.5\n-3|4e2\n", "data.txt"),
        ('"a","b"\n"1","2.5"\n"-3"," 4e2 "\n', "data.csv"),
        ("a,b\n\n1,2.5\n\n-3,4e2\n\n", "data.csv"),
    ],
)
def test_one_table_written_in_nine_ways(tmp_path, text, name):
    cells = read(tmp_path, text, name).cells
    pd.testing.assert_frame_equal(cells, pd.DataFrame({"a": [1.0, -3], "b": [2.5, 400]}))


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1", "NA", " -2.5 ", ""], True),
        (["007", "1"], False),
        (["1_000", "1"], False),
        (["1.234", "2.345"], False),
        (["1.234", "2.3"], True),
        (["12345678901234567890", "1"], False),
        (["inf", "1"], False),
        (["1", "x"], False),
        (["1,5", "2"], False),
    ],
)
def test_only_what_nobody_could_read_otherwise_becomes_a_number(tmp_path, cells, numbers):
    found = read(tmp_path, "a;b\n" + "".join(f"{cell};x\n" for cell in cells)).cells["a"]
    assert (found.dtype == np.float64) == numbers
    if not numbers:
        assert found.tolist() == cells


def test_points_that_may_be_of_thousands_wait_for_one_that_is_not(tmp_path):
    lines = ["1.234"] * 20000 + ["1.5"] * 20000
    assert read(tmp_path, "\n".join(["a;b", *(f"{x};1" for x in lines)])).cells["a"].tolist() == lines
    assert read(tmp_path, "\n".join(["a;b", *(f"{x};1" for x in lines[::-1])])).cells["a"].dtype == np.float64
    assert read(tmp_path, "a;b\n1.234;1\n", decimal=".").cells["a"].tolist() == [1.234]
    assert read(tmp_path, "a;b\n1.5;1\n", decimal=",").cells["a"].tolist() == ["1.5"]


@pytest.mark.parametrize("spelling", ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "?", " NA "])
def test_missing_cells(tmp_path, spelling):
    table = read(tmp_path, f"a,b,c\n1,x,u\n{spelling},x,{spelling}\n2,y,v\n3,{spelling},w\n", row_names="c").cells
    assert table["a"].isna().tolist() == [False, True, False, False]
    assert table["b"].tolist() == ["x", "x", "y", None]
    assert table["c"].tolist() == ["u", spelling, "v", "w"]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "latin-1", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]
)
def test_encodings_with_and_without_a_mark(tmp_path, encoding):
    for mark in ("", "\ufeff") if encoding[-2:] in ("le", "be") else ("",):
        (tmp_path / "t.csv").write_bytes(f"{mark}größe,b\nü,2\n".encode(encoding))
        table = read_file(str(tmp_path / "t.csv"), FileOptions(encoding=encoding))
        assert table.cells.to_dict("list") == {"größe": ["ü"], "b": [2]}


def test_roles_of_columns(tmp_path):
    text = "name,a,skip,class\nr1,1,hello,1\nr2,2,world,\n"
    table = read(tmp_path, text, row_names="name", classes=["class"], skip=["skip"], as_text=["a"])
    expected = {"name": ["r1", "r2"], "a": ["1", "2"], "class": ["1", None]}
    assert table.cells.to_dict("list") == expected
    assert read(tmp_path, text, only=["a"], row_names="name").cells.columns.tolist() == ["name", "a"]
    assert read(tmp_path, "1,2\n3,4\n", header=False).cells.columns.tolist() == ["column1", "column2"]
    nameless = read(tmp_path, '"","a"\n"r1",1\n"r2",2\n')
    assert (nameless.row_names, nameless.cells[""].tolist()) == ("", ["r1", "r2"])
    assert "taken as row names" in nameless.notes[0]


def test_lines_count_those_inside_quotes_and_empty_ones(tmp_path):
    assert read(tmp_path, 'a,b\n"u\nv",1\n\n"u\nv",2\nw,x\n').lines.tolist() == [2, 5, 7]


def test_columns_longer_than_a_block_are_decided_late(tmp_path):
    tones = ("red", "blue")
    lines = ["a,b", *(f"{i}," for i in range(5000)), *(f"{i},{tones[i % 2]}" for i in range(5000)), "oops,red"]
    cells = read(tmp_path, "\n".join(lines)).cells
    assert cells["a"][[0, 4999, 10000]].tolist() == ["0", "4999", "oops"]
    assert cells["b"][[0, 4999, 5000, 5001]].tolist() == [None, None, "red", "blue"]


def test_plain_blocks_are_read_as_all_others_are(tmp_path):
    """Lines without quotes are read by pandas; one with a quote, in every block, leads the other way."""
    rng = np.random.default_rng(0)
    cells = {
        "float": [f"{x:.4g}" for x in rng.normal(size=40000)],
        "holes": [("", "NA", f"{x:.3f}")[i % 3] for i, x in enumerate(rng.normal(size=40000))],
        "whole": [str(i) for i in rng.integers(0, 99, 40000)],
        "late": [*["7"] * 30000, *["0.25"] * 9999, "x"],
        "word": [("red", " blue ", "")[i % 3] for i in range(40000)],
        "code": [*["12"] * 39000, *["012"] * 1000],
    }
    lines = [",".join(row) for row in zip(*cells.values(), strict=True)]
    plain = read(tmp_path, "\n".join([",".join(cells), *lines])).cells
    quoted = [
        f'"{line[: line.index(",")]}"{line[line.index(",") :]}' if i % 99 == 0 else line for i, line in enumerate(lines)
    ]
    pd.testing.assert_frame_equal(plain, read(tmp_path, "\n".join([",".join(cells), *quoted])).cells)
    assert plain.dtypes.map(str).tolist() == ["float64", "float64", "float64", "object", "object", "object"]
    assert plain["float"].tolist() == list(map(float, cells["float"]))


def test_progress_reaches_the_size_of_the_file(tmp_path):
    seen = []
    text = "a,b\n" + "1,2\n" * 60000
    read(tmp_path, text, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert len(seen) > 2
    assert seen[-1] == (len(text), len(text))


GENES = ["gene;s1;s2;s3", "TP53;1,5;2;3", "BRCA1;4;5,25;", "MYC;7;8;9"]


@pytest.mark.parametrize("corner", ["gene;", ""])
def test_transposed_text(tmp_path, corner):
    text = "\n".join([GENES[0].replace("gene;", corner), *GENES[1:]])
    table = read(tmp_path, text, transpose=True)
    name = corner[:-1]
    assert table.cells.columns.tolist() == [name, "TP53", "BRCA1", "MYC"]
    assert table.row_names == name
    assert table.cells[name].tolist() == ["s1", "s2", "s3"]
    assert table.cells["BRCA1"].tolist() == ["4", "5,25", None]
    with pytest.raises(ValueError, match="row 3 has 2 cells but the first has 3"):
        read(tmp_path, "a,b,c\n1,2,3\n4,5\n", transpose=True)
