"""Columns of new rows are read as those of the fitted table: no number is taken for another."""

import datetime
import json

import numpy as np
import pandas as pd
import pytest

from clusterforests import ClusterForest
from clusterforests.app.command_line.program import main
from clusterforests.table.frames import read_columns
from clusterforests.table.reader.cells import CellError
from clusterforests.table.reader.inspection import inspect_columns
from clusterforests.table.reader.new_columns import read_like
from clusterforests.table.reader.overrides import Wish
from clusterforests.table.reader.raw_columns import RawColumn, text_column
from clusterforests.table.reader.remarks import NewCells

COMMA = ["12,5", "7,25", "1.250,0", "3"] * 3
PERCENT = ["5,3 %", "12,75%", "0,5 %", "8 %"] * 3
ISO = ["2021-03-04", "2022-05-06", "2020-01-31"] * 4
LIKERT = ["disagree", "neutral", "agree"] * 4


def raw(cells, declared=""):
    if isinstance(cells[0], str):
        return RawColumn("c", text_column(cells, lambda cell: cell == ""), declared)
    return RawColumn("c", np.array(cells, dtype=float), declared)


def read(fitted, new, declared="", fitted_as=""):
    """Read new cells as a fitted column was read; return them with what is said of them."""
    found = inspect_columns([raw(fitted, fitted_as)])
    assert not found.problems
    assert found.readings[0].used
    told = NewCells()
    cells = read_like(raw(new, declared), found.readings[0], told)
    return (cells.tolist() if isinstance(cells, np.ndarray) else cells.cells().tolist()), told.notes()


@pytest.mark.parametrize(
    ("fitted", "new", "values", "notes"),
    [
        (COMMA, ["1.234", "0,05"], [1234, 0.05], []),
        (PERCENT, ["0,05 %", "5 %"], [0.05, 5], []),
        (["3 kg", "4,5 kg", "7,2 kg"] * 4, ["8", "2 kg"], [8, 2], ["1 of its numbers has no unit; it is taken as kg."]),
        (
            ["3 kg", "4,5 kg", "7,2 kg"] * 4,
            [8.0, 2.0],
            [8, 2],
            ["2 of its numbers have no unit; they are taken as kg."],
        ),
        (COMMA, ["<5", "<5", "7"], [5, 5, 7], ["2 cells such as '<5' are read as the limit that they name."]),
        (COMMA, ["n/a", "7", "unknown"], [np.nan, 7, np.nan], ["'n/a', 'unknown' count as missing (2 cells)."]),
        (["a", "b", "c"] * 4, ["-", "a", ""], [None, "a", None], ["'-' counts as missing (1 cell)."]),
        ([1.5, 2.0, 3.25] * 4, ["1.234", "7"], [1.234, 7], []),
        (ISO, ["20210304", "2021-03-04 12:00"], [18690, 18690.5], []),
        (ISO, [20210304.0], [18690], []),
        ([20210304.0, 20220506.0, 20200131.0] * 4, ["2021-03-04"], [18690], []),
        ([True, False] * 6, ["True", "false", "1", ""], [1, 0, 1, np.nan], []),
        (["yes", "no"] * 6, [1.0, 0.0, np.nan], ["yes", "no", None], []),
    ],
)
def test_cells_are_read_as_in_the_fitted_table(fitted, new, values, notes):
    found, told = read(fitted, new, fitted_as="yes/no" if fitted[0] is True else "")
    assert told == [f"Column 'c': {note}" for note in notes]
    np.testing.assert_equal(found, values)


@pytest.mark.parametrize(
    ("fitted", "new", "message"),
    [
        (PERCENT, ["5 %", "0,05"], "'0,05' has no percent sign, unlike the fitted table's cells"),
        (PERCENT, [0.05], "'0.05' has no percent sign"),
        (COMMA, ["12.5"], r"'12.5' is not a number \(decimal comma\), as in the fitted table"),
        (COMMA, ["5 %"], "'5 %' is not a number"),
        (COMMA, ["3 kg"], "'3 kg' is not a number"),
        ([1.0, 2, 3, 7] * 4, ["1,234"], "'1,234' may be thousands or decimals, which the fitted table does not show"),
        ([1.0, 2, 3, 7] * 4, ["1,5"], "'1,5' may be thousands or decimals"),
        ([1.5, 2, 3, 7] * 4, ["1,5"], r"'1,5' is not a number \(decimal point\)"),
        (ISO, ["03/04/2021"], "'03/04/2021' may begin with the day or the month, which the fitted table does not show"),
        (ISO, [44256.0], "'44256' is not a date"),
        ([20210304.0, 20220506.0, 20200131.0] * 4, [20211304.0], "'20211304' is not a date"),
        (["07:30", "08:15", "19:40"] * 4, [7.5], "'7.5' is not a time of day"),
    ],
)
def test_cells_that_may_mean_something_else_are_refused(fitted, new, message):
    with pytest.raises(CellError, match=message):
        read(fitted, new)


def test_a_date_is_no_number():
    with pytest.raises(CellError, match="it is a date, not a number as in the fitted table"):
        read([1.5, 2.5, 7.0] * 4, [18690.0], declared="date")


def test_numbers_are_no_ranks():
    """1 to 3 beside fitted words may count from 1: they are none of the levels."""
    found, told = read(LIKERT, [1.0, 2.0, np.nan])
    np.testing.assert_equal(found, [np.nan] * 3)
    assert "2 cells have levels that were not seen in fit: column 'c' ('1', '2')" in told[0]


@pytest.fixture
def fitted(tmp_path):
    rng, group = np.random.default_rng(0), np.arange(120) % 2
    frame = pd.DataFrame(
        {
            "rate": [f"{v:.2f} %".replace(".", ",") for v in 20 + 30 * group + rng.normal(size=120)],
            "lead": [f"{v:.1f}".replace(".", ",") for v in 20 + 9 * group + rng.normal(size=120)],
            "paid": rng.integers(0, 2, 120).astype(bool),
        }
    )
    frame.to_csv(tmp_path / "data.csv", sep=";", index=False)
    return frame, tmp_path


def test_the_command_line_refuses_or_tells_on_the_screen_and_in_json(fitted, capsys):
    frame, folder = fitted
    model, data, new = (str(folder / name) for name in ("m.cf", "data.csv", "new.csv"))
    assert main(["fit", data, "--clusters", "2", "--trees", "20", "--model", model, "--quiet"]) == 0
    frame.head(4).assign(rate=["21,5 %", "0,05", "50 %", "0,05"]).to_csv(new, sep=";", index=False)
    assert main(["predict", model, new]) == 1
    assert "line 3, column 'rate': '0,05' has no percent sign, unlike the fitted" in capsys.readouterr().err
    frame.head(4).assign(lead=["<5", "20,1", "k.A.", "19,5"]).to_csv(new, sep=";", index=False)
    assert main(["predict", model, new, "--json"]) == 0
    said = capsys.readouterr()
    notes = [
        "Column 'lead': 1 cell such as '<5' is read as the limit that it names.",
        "Column 'lead': 'k.A.' counts as missing (1 cell).",
    ]
    assert sorted(json.loads(said.out)["notes"]) == sorted(notes)
    assert all(f"clusterforests predict: {note}" in said.err for note in notes)


def test_python_reads_a_frame_of_new_rows_alike(fitted):
    frame, _ = fitted
    forest = ClusterForest(2, n_estimators=20, random_state=0).fit(frame)
    with pytest.raises(ValueError, match="Column 'rate', row 1: '0,05' has no percent sign"):
        forest.predict(frame.head(2).assign(rate=["21 %", "0,05"]))
    with pytest.raises(ValueError, match="Column 'lead', row 0: it is a date"):
        forest.predict(frame.head(2).assign(lead=[datetime.datetime(2021, 3, 4)] * 2))
    with pytest.warns(UserWarning, match="'<5' is read as the limit"):
        forest.predict(frame.head(2).assign(lead=["<5", "20,1"]))
    assert forest.predict(frame.assign(paid=frame["paid"].astype(str))).tolist() == forest.labels_.tolist()


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        (["1.5", "2.5", "NA", "n/a"] * 5, "'n/a' counts as missing (5 cells)."),
        (["red", "blue", "None", "n/a"] * 5, "'n/a' counts as missing (5 cells)."),
        (["low", "medium", "high", "NA", "dk", "n/a"] * 5, "'dk', 'n/a' count as missing (10 cells)."),
        (["yes", "no", "None", "dk", "n/a"] * 5, "'dk', 'n/a' count as missing (10 cells)."),
        (["2021-03-04", "2022-05-06", "?", "n/a"] * 5, "'n/a' counts as missing (5 cells)."),
    ],
)
def test_fit_and_predict_count_the_marks_that_they_list(cells, note):
    assert inspect_columns([raw(cells)]).readings[0].notes == (note,)
    assert read(cells, cells)[1] == [f"Column 'c': {note}"]


def mixed(*cells):
    """Read cells of several types as those of a frame are."""
    return read_columns(ClusterForest(), pd.DataFrame({"c": pd.Series(cells, dtype=object)}), reset=True)[0]


def test_numbers_beside_text_are_shown_as_the_frame_has_them():
    percent = inspect_columns([raw(PERCENT)]).readings[0]
    with pytest.raises(CellError, match=r"'0\.05' has no percent sign"):
        read_like(mixed(0.05, "5 %"), percent, NewCells())
    for fitted in (LIKERT, ["a", "b", "c"] * 4):
        told = NewCells()
        reading = inspect_columns([raw(fitted)]).readings[0]
        cells = read_like(mixed(1.234, fitted[0]), reading, told)
        assert "e0" not in " ".join(told.notes()) + str(cells)
    assert inspect_columns([mixed(1.5, "n/a")]).readings[0].reason == "every cell with a value is '1.5'"
    (problem,) = inspect_columns([mixed(*ISO, 1.5)]).problems
    assert "'1.5' is not a date" in problem.text
    assert problem.remedies[0].values == ("1.5",)
    assert problem.row == 12


def test_levels_that_the_user_orders_may_be_numbers_beside_text():
    wish = {"c": Wish("ordered", order=("low", "1.5", "2.5", "True"))}
    found = inspect_columns([mixed("low", 2.5, 1.5, True)], wish)
    assert not found.problems
    assert found.cells[0].tolist() == [0, 2, 1, 3]
    for cells, ranks in (((1.5, 2.5), [1, 2]), ((True, True), [3, 3]), (("low", 2.5), [0, 2])):
        assert read_like(mixed(*cells), found.readings[0], NewCells()).tolist() == ranks
