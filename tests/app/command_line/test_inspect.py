"""`clusterforests inspect`, the list of problems, and the options that answer them."""

import json

import numpy as np
import pytest

from clusterforests.app.command_line.program import main

RNG = np.random.default_rng(0)
GROUP = np.arange(60) % 3


def write(path, columns, delimiter=";"):
    rows = [delimiter.join(columns), *(delimiter.join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def clean(tmp_path):
    columns = {
        "id": [f"C{i:03d}" for i in range(60)],
        "euros": [f"{1000 * g + RNG.uniform(0, 500):.2f} €".replace(".", ",") for g in GROUP],
        "share": [f"{10 * g + RNG.uniform(0, 5):.1f}".replace(".", ",") + "%" for g in GROUP],
        "since": [f"{RNG.integers(1, 29)}.{RNG.integers(1, 13)}.{2000 + 5 * g}" for g in GROUP],
        "size": np.array(["S", "M", "L"])[GROUP],
    }
    return write(tmp_path / "clean.csv", columns)


@pytest.fixture
def unclear(tmp_path):
    columns = {
        "price": [f"{RNG.integers(1, 9)},{RNG.integers(100, 999)}" for _ in range(60)],
        "when": [f"{RNG.integers(1, 12)}/{RNG.integers(1, 12)}/2021" for _ in range(60)],
        "weight": [f"{RNG.integers(1, 90)} {unit}" for unit in np.array(["kg", "lb"])[GROUP % 2]],
        "score": [*RNG.integers(0, 10, 59), "oops"],
        "shade": np.array(["pale", "dark", "mid"])[GROUP],
    }
    return write(tmp_path / "unclear.csv", columns)


def test_a_line_for_each_column(clean, capsys):
    assert main(["inspect", clean]) == 0
    shown = capsys.readouterr().out
    assert "60 rows, 5 columns to cluster by, 4 of them used" in shown
    assert [line.split()[0] for line in shown.splitlines()[2:]] == ["column", "id", "euros", "share", "since", "size"]
    assert "dropped" in shown
    assert "3 ordered levels" in shown


def test_json(clean, capsys):
    assert main(["inspect", clean, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [column["kind"] for column in facts["columns"]] == ["identifier", "number", "number", "date", "ordered"]
    assert facts["columns"][1]["unit"] == "€"
    assert facts["problems"] == []


def test_all_problems_and_one_command(unclear, capsys):
    assert main(["fit", unclear, "--clusters", "3"]) == 1
    said = capsys.readouterr().err
    assert "has 4 problems:" in said
    assert "  4. line 61, column 'score': 'oops' is not a number" in said
    command = said.splitlines()[-1].split()
    assert command[-7:] == ["--decimal", ".", "--day-first", "--ignore", "weight", "--missing", "oops"]
    assert main(command[1:]) == 0
    assert main(["inspect", unclear]) == 1
    shown = capsys.readouterr().out
    assert "problems:" in shown
    assert "see below" in shown
    assert f"clusterforests fit {unclear} --decimal . --day-first" in shown


def test_options_say_what_columns_are(unclear, capsys):
    options = [
        "--number",
        "price",
        "--decimal",
        ",",
        "--date",
        "when",
        "--month-first",
        "--category",
        "weight",
        "score",
    ]
    assert main(["inspect", unclear, *options, "--ordered", "shade=pale,mid,dark", "--json"]) == 0
    columns = json.loads(capsys.readouterr().out)["columns"]
    assert [column["kind"] for column in columns] == ["number", "date", "category", "category", "ordered"]
    assert columns[0]["style"] == "decimal comma"
    assert columns[4]["levels"] == ["pale", "mid", "dark"]
    assert main(["inspect", unclear, "--number", "cost"]) == 1
    assert "has no column 'cost'" in capsys.readouterr().err


def test_dropped_columns_are_noted_and_in_json(clean, capsys):
    assert main(["fit", clean, "--clusters", "3", "--trees", "20", "--json"]) == 0
    out = capsys.readouterr()
    assert "Column 'id' is dropped: identifier" in out.err
    facts = json.loads(out.out)
    assert facts["columns"][0] | {"name": "id", "used": False, "feature": -1} == facts["columns"][0]
    assert facts["features"] == 4
    assert facts["notes"][0] == "Column 'id' is dropped: identifier (every row has its own text)."


def test_new_rows_are_read_by_the_model(clean, tmp_path, capsys):
    model = str(tmp_path / "m.cf")
    assert (
        main(["fit", clean, "--clusters", "3", "--trees", "20", "--model", model, "--out", str(tmp_path / "a.csv")])
        == 0
    )
    assert main(["predict", model, clean, "--out", str(tmp_path / "b.csv")]) == 0
    fitted, predicted = ((tmp_path / name).read_text().splitlines() for name in ("a.csv", "b.csv"))
    assert [line.split(",")[:2] for line in fitted] == [line.split(",")[:2] for line in predicted]
    capsys.readouterr()
    columns = {"euros": ["1.234,50 €", "5.5"], "share": ["7%", "much"], "since": ["1.2.2003", "2/1/2003"]}
    new = write(tmp_path / "new.csv", columns | {"size": ["XL", "M"]})
    assert main(["predict", model, new]) == 1
    said = capsys.readouterr().err
    assert "2 problems" in said  # a size that was not seen is none: it is missing
    assert "line 3, column 'euros': '5.5' is not a number (decimal comma, in €), as in the fitted table" in said
    assert "line 3, column 'share': 'much' is not a number" in said
    columns = {"size": ["L"], "since": ["1.2.2003"], "euros": ["1.234,50 €"], "share": ["7%"], "more": ["x"]}
    assert main(["predict", model, write(tmp_path / "good.csv", columns)]) == 0
