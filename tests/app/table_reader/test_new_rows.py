"""New rows are read as the fitted table was: no number is taken for another."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest

from clusterforests import TableReader

COMMA = ["12,5", "7,25", "1.250,0", "3"] * 3
KILOS = ["3 kg", "4,5 kg", "7,2 kg"] * 4
PERCENT = ["5,3 %", "12,75%", "0,5 %", "8 %"] * 3
ISO = ["2021-03-04", "2022-05-06", "2020-01-31"] * 4
LIKERT = ["disagree", "neutral", "agree"] * 4
LETTERS = ["a", "b", "c"] * 4
COMPACT = [20210304.0, 20220506.0, 20200131.0] * 4


def column(cells):
    kind = None if all(isinstance(cell, (bool, float)) for cell in cells) else object
    return pd.DataFrame({"c": pd.Series(cells, dtype=kind)})


def fit(cells, overrides=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TableReader(overrides).fit(column(cells))


def read(reader, cells):
    """Return new cells as plain values (days since 1970, None if missing), with what is said of them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = reader.transform(column(cells))["c"]
    if found.dtype.kind == "M":
        found = (found - pd.Timestamp(0)) / pd.Timedelta(days=1)
    values = [None if pd.isna(cell) else cell for cell in found.tolist()]
    return values, [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    ("fitted", "new", "values", "note"),
    [
        (COMMA, ["1.234", "0,05"], [1234, 0.05], ""),
        (PERCENT, ["0,05 %", "5 %"], [0.05, 5], ""),
        (KILOS, ["8", "2 kg"], [8, 2], "1 of its numbers has no unit; it is taken as kg."),
        (KILOS, [8.0, 2.0], [8, 2], "2 of its numbers have no unit; they are taken as kg."),
        (COMMA, ["<5", "<5", "7"], [5, 5, 7], "2 cells such as '<5' are read as the limit that they name."),
        (COMMA, ["n/a", "7", "unknown"], [None, 7, None], "'n/a', 'unknown' count as missing (2 cells)."),
        (LETTERS, ["-", "a", ""], [None, "a", None], "'-' counts as missing (1 cell)."),
        (LETTERS, ["q", "a", "q"], [None, "a", None], "'q' is none of its levels and counts as missing (2 cells)."),
        (
            LIKERT,
            ["q", "Agree", ""],
            [None, "agree", None],
            "'q' is none of its levels and counts as missing (1 cell).",
        ),
        (LIKERT, [1.0, 2.0, np.nan], [None] * 3, "'1', '2' are none of its levels and count as missing (2 cells)."),
        ([1.5, 2.0, 3.25] * 4, ["1.234", "7"], [1.234, 7], ""),
        (ISO, ["20210304", "2021-03-04 12:00"], [18690, 18690.5], ""),
        (ISO, [20210304.0], [18690], ""),
        (COMPACT, ["2021-03-04"], [18690], ""),
        ([True, False] * 6, ["True", "false", "1", ""], [True, False, True, None], ""),
        (["yes", "no"] * 6, [1.0, 0.0, np.nan], ["yes", "no", None], ""),
        (["yes", "no"] * 6, ["Y", "nein", "-"], ["yes", "no", None], "'-' counts as missing (1 cell)."),
        (["07:30", "08:15", "19:40"] * 4, ["6:15 pm"], [18.25], ""),
    ],
)
def test_cells_are_read_as_in_the_fitted_table(fitted, new, values, note):
    assert read(fit(fitted), new) == (values, [f"Column 'c': {note}"] if note else [])


@pytest.mark.parametrize(
    ("fitted", "new", "message"),
    [
        (PERCENT, ["5 %", "0,05"], "row 1: '0,05' has no percent sign"),
        (PERCENT, [0.05], r"'0\.05' has no percent sign"),
        (PERCENT, [0.05, "5 %"], r"'0\.05' has no percent sign"),
        (COMMA, ["12.5"], r"'12\.5' is not a number \(decimal comma\)"),
        (COMMA, ["5 %"], "'5 %' is not a number"),
        (COMMA, ["3 kg"], "'3 kg' is not a number"),
        ([1.0, 2.0, 3.0, 7.0] * 4, ["1,234"], "'1,234' may be thousands or decimals"),
        ([1.0, 2.0, 3.0, 7.0] * 4, ["1,5"], "'1,5' may be thousands or decimals"),
        ([1.5, 2.0, 3.0, 7.0] * 4, ["1,5"], r"'1,5' is not a number \(decimal point\)"),
        ([1.5, 2.0, 3.0, 7.0] * 4, [datetime.datetime(2021, 3, 4)], "row 0: it is a date, not a number"),
        (ISO, ["03/04/2021"], "'03/04/2021' may begin with the day or the month"),
        (ISO, [44256.0], "'44256' is not a date"),
        (COMPACT, [20211304.0], "'20211304' is not a date"),
        (["07:30", "08:15", "19:40"] * 4, [7.5], r"'7\.5' is not a time of day"),
        ([True, False] * 6, [2.0], "'2' is neither true nor false"),
    ],
)
def test_cells_that_may_mean_something_else_are_refused(fitted, new, message):
    with pytest.raises(ValueError, match=message):
        read(fit(fitted), new)


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
def test_the_fitted_table_and_new_rows_count_the_same_marks(cells, note):
    reader = fit(cells)
    assert reader.columns_[0].notes == (note,)
    assert read(reader, cells)[1] == [f"Column 'c': {note}"]


def test_numbers_beside_text_are_shown_as_the_frame_has_them():
    for fitted in (LIKERT, LETTERS):
        values, told = read(fit(fitted), [1.234, fitted[0]])
        assert values == [None, fitted[0]]
        assert "'1.234'" in told[0]
    with pytest.raises(ValueError, match=r"row 12: '1\.5' is not a date") as error:
        TableReader().fit(column([*ISO, 1.5]))
    assert error.value.problems[0].remedies[0].missing == ("1.5",)


def test_levels_that_the_user_orders_may_be_numbers_beside_text():
    reader = fit(["low", 2.5, 1.5, True], {"c": ["low", "1.5", "2.5", "True"]})
    for cells in ((1.5, 2.5), (True, True), ("low", 2.5)):
        assert read(reader, cells)[0] == list(map(str, cells))


@pytest.mark.parametrize("fitted", [["oak", 1.5, 2.5, 3, True], [True, False], [1, 0, 2], [True, 1, 2]])
def test_a_level_is_the_same_alone_and_beside_others(fitted):
    """New rows may hold only numbers, only true and false, or any mixture with text."""
    reader = fit((fitted * 10)[:10], {"c": "category"})
    expected = read(reader, fitted)[0]
    assert expected == list(map(str, fitted))
    for cell, level in zip(fitted, expected, strict=True):
        assert read(reader, [cell]) == ([level], [])
        assert read(reader, [cell, "elm"])[0] == [level, None]


def test_a_new_word_has_no_rank_among_levels_that_skip_its_step():
    levels = ["strongly disagree", "neutral", "strongly agree"]
    answers = pd.Categorical(np.repeat(levels, 20), categories=levels, ordered=True)
    reader = TableReader().fit(pd.DataFrame({"c": answers}))
    assert read(reader, ["agree", "neutral"])[0] == [None, "neutral"]
