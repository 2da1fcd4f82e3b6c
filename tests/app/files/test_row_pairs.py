"""Pairs of rows, by their numbers or their names."""

import gzip

import pandas as pd
import pytest

from clusterforests.app.files.row_pairs import read_pairs

NUMBERED = pd.RangeIndex(1, 21)
NAMED = pd.Index(["a b", " c ", "twice", "twice", *map(str, range(100, 116))], name="sample")


@pytest.fixture
def read(tmp_path):
    def read(contents, names=NUMBERED):
        path = tmp_path / "pairs.csv"
        path.write_bytes(contents if isinstance(contents, bytes) else contents.encode())
        rows, notes = read_pairs(str(path), names, named=names is not NUMBERED, option="--must-link")
        return rows.tolist(), notes

    return read


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", ", "])
def test_numbers_are_from_one_with_any_separator(read, separator):
    assert read(f"1{separator}3\n\n20{separator}2\n") == ([[0, 2], [19, 1]], ())


def test_names_are_those_of_the_rows_without_spaces_around_them(read):
    assert read('"a b",c\n100, 115 \n', NAMED) == ([[0, 1], [4, 19]], ())


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_names_may_hold_other_separators(read, separator):
    people = pd.Index([f"Smith, J{i}" for i in range(20)], name="person")
    assert read(f"Smith, J0{separator}Smith, J3\n", people) == ([[0, 3]], ())


def test_names_of_columns_are_skipped_with_a_note(read):
    rows, notes = read("one,other\n1,2\n")
    assert rows == [[0, 1]]
    assert notes[0].endswith("pairs.csv, line 1 names no rows ('one', 'other') and is taken as column names.")
    assert read("from,to\na b,c\n", NAMED)[0] == [[0, 1]]


def test_compressed_files_are_unpacked(read):
    assert read(gzip.compress(b"1,2\n")) == ([[0, 1]], ())


@pytest.mark.parametrize(
    ("text", "data", "message"),
    [
        ("1,2\n3,21\n", NUMBERED, "line 2: '21' is not a row number, 1 to 20. Correct it, or pass --id"),
        ("0,1\n", NUMBERED, "line 1: '0' is not a row number"),
        ("1,2\n1.5,2\n", NUMBERED, "line 2: '1.5' is not a row number"),
        ("a,b\n", NUMBERED, "line 1: 'a' is not a row number"),
        ("1,2,3\n", NUMBERED, "line 1 has 3 cells. Each line must name two rows, such as 1,20."),
        ("1\n", NUMBERED, "line 1 has 1 cell. Each line must name two rows"),
        ("", NUMBERED, "has no pairs. Each line must name two rows"),
        ("c,d\n", NAMED, "line 1: no row is called 'd' in column 'sample'. Correct the name."),
        ("c,a b\n5,6\n", NAMED, "line 2: no row is called '5' in column 'sample'."),
        ("c,twice\n", NAMED, "line 1: 2 rows are called 'twice' in column 'sample', so it does not say which"),
        (b"1,\xff\n", NUMBERED, "line 1 has the byte 0xFF, which is not UTF-8."),
        (b"PK\x03\x04", NUMBERED, "is compressed (zip) but damaged"),
    ],
)
def test_what_is_refused(read, text, data, message):
    with pytest.raises(ValueError, match=r"^--must-link .*pairs\.csv") as refused:
        read(text, data)
    assert message in str(refused.value)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"^--cannot-link .* is a folder\."):
        read_pairs(str(tmp_path), NUMBERED, named=False, option="--cannot-link")
