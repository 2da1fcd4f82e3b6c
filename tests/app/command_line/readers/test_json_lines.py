"""Numbers that a file holds as numbers are these, whatever its texts look like."""

import json

import numpy as np
import pytest
from openpyxl import Workbook

from clusterforests.app.command_line.problems import FileProblems
from clusterforests.app.files import Request, read_table

WEIGHTS = [5.073, 1.946, 12.5, 0.25, 3.0, 1.234]
PRICES = ["146,27 €", "1.200,50 €", "9,99 €", "77,10 €", "8,00 €", "3,50 €"]


def write(path, weights):
    rows = list(zip(weights, PRICES, ["a", "b", "a", "b", "a", "b"], strict=True))
    if path.suffix == ".jsonl":
        names = ("weight", "price", "kind")
        path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
        return path
    book = Workbook()
    book.active.append(["weight", "price", "kind"])
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


@pytest.mark.parametrize("name", ["table.jsonl", "table.xlsx"])
@pytest.mark.parametrize("mixed", [False, True])
def test_numbers_of_a_file_are_numbers(tmp_path, name, mixed):
    weights = [f"{w}".replace(".", ",") if mixed and i in (2, 3) else w for i, w in enumerate(WEIGHTS)]
    data = read_table(str(write(tmp_path / name, weights)), Request())
    cells = dict(zip(data.table.columns, data.table.cells, strict=True))
    assert np.array_equal(cells["weight"], WEIGHTS)
    assert np.array_equal(cells["price"], [146.27, 1200.5, 9.99, 77.1, 8.0, 3.5])
    assert not any("e0" in example for reading in data.readings for example in reading.examples)


def test_nested_columns_are_listed_with_all_other_problems(tmp_path):
    path = tmp_path / "t.jsonl"
    rows = [{"a": i, "tags": [i], "geo": {"lat": i}, "p": f"{i + 1},{100 + i}"} for i in range(9)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(FileProblems) as caught:
        read_table(str(path), Request())
    assert [problem.problem.column for problem in caught.value.problems] == ["tags", "geo", "p"]
    found = read_table(str(path), Request(only_inspect=True))
    assert [problem.problem.column for problem in found.problems] == ["tags", "geo", "p"]
    assert read_table(str(path), Request(ignore=["tags", "geo", "p"])).table.columns == ["a"]
    for asked in (Request(wanted=["a", "geo"]), Request(known="geo", ignore=["tags", "p"])):
        with pytest.raises(FileProblems, match="column 'geo': it holds a nested object"):
            read_table(str(path), asked)


@pytest.mark.parametrize("name", ["table.jsonl", "table.xlsx"])
def test_names_of_rows_stay_as_they_are(tmp_path, name):
    data = read_table(str(write(tmp_path / name, WEIGHTS)), Request(id="weight"))
    assert data.ids == ["5.073", "1.946", "12.5", "0.25", *(["3.0"] if name.endswith("jsonl") else ["3"]), "1.234"]
