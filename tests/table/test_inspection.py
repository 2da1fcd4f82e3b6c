"""What a table's columns are, where one column needs the others, and where the user must decide."""

import numpy as np
import pandas as pd
import pytest

from clusterforests import inspect_table
from clusterforests.table.reader.cells import convert
from clusterforests.table.reader.column_reading import DAY_FIRST, DECIMAL_COMMA, DECIMAL_POINT
from clusterforests.table.reader.inspection import inspect_columns
from clusterforests.table.reader.overrides import Habits, Wish
from clusterforests.table.reader.raw_columns import CategoryColumn, RawColumn, text_column
from clusterforests.table.reader.remarks import NewCells

N = 40
RNG = np.random.default_rng(0)
UNCLEAR = [f"{RNG.integers(1, 99)},{RNG.integers(100, 999)}" for _ in range(N)]
COMMAS = [f"{v:.2f}".replace(".", ",") for v in RNG.uniform(0, 9, N)]
POINTS = [f"{v:.2f} kg" for v in RNG.uniform(0, 9, N)]
EARLY = [f"{RNG.integers(1, 12):02d}/{RNG.integers(1, 12):02d}/2021" for _ in range(N)]
DAYS = [f"{RNG.integers(13, 28)}/{RNG.integers(1, 12):02d}/2021" for _ in range(N)]


def inspect(columns, wishes=None, habits=None):
    raws = [
        RawColumn(name, cells if isinstance(cells, np.ndarray) else text_column(cells, lambda cell: cell in ("", None)))
        for name, cells in columns.items()
    ]
    return inspect_columns(raws, wishes, habits)


def kind(cells, name="a"):
    return inspect({name: cells}).readings[0].kind


def only_problem(found):
    (problem,) = found.problems
    return problem


def test_unclear_numbers_are_refused_with_the_choice():
    found = inspect({"price": UNCLEAR})
    text = only_problem(found).for_python()
    assert f"like {UNCLEAR[0]!r}, which may be thousands or decimals" in text
    assert "'price': 'number, decimal point'" in text
    assert "'price': 'number, decimal comma'" in text
    assert not found.cells


def test_unclear_numbers_follow_the_other_columns_if_these_agree():
    found = inspect({"price": UNCLEAR, "rate": COMMAS})
    assert found.readings[0].style == DECIMAL_COMMA
    assert "other columns do: they are read with the decimal comma" in found.readings[0].notes[0]
    assert found.cells[0][0] == float(UNCLEAR[0].replace(",", "."))
    assert inspect({"price": UNCLEAR, "weight": POINTS}).cells[0][0] == float(UNCLEAR[0].replace(",", ""))
    assert only_problem(inspect({"price": UNCLEAR, "rate": COMMAS, "weight": POINTS})).column == "price"


def test_unclear_numbers_follow_the_user():
    wanted = float(UNCLEAR[0].replace(",", "."))
    assert inspect({"p": UNCLEAR}, habits=Habits(decimal=DECIMAL_COMMA)).cells[0][0] == wanted
    assert inspect({"p": UNCLEAR}, {"p": Wish("number", DECIMAL_COMMA)}).cells[0][0] == wanted
    assert (
        "decimal comma, not with a decimal point"
        in only_problem(inspect({"p": COMMAS}, {"p": Wish("number", DECIMAL_POINT)})).text
    )


def test_points_are_plain_where_the_writer_separates_cells_by_commas():
    cells = [cell.replace(",", ".") for cell in UNCLEAR]
    assert only_problem(inspect({"p": cells})).column == "p"
    assert inspect({"p": cells}, habits=Habits(plain_points=True)).cells[0][0] == float(cells[0])
    assert inspect({"p": cells, "q": COMMAS}, habits=Habits(plain_points=True)).cells[0][0] == 1000 * float(cells[0])


def test_dates_that_show_no_order():
    problem = only_problem(inspect({"when": EARLY}))
    assert "day or month may come first" in problem.text
    assert [remedy.option for remedy in problem.remedies] == ["--day-first", "--month-first"]
    found = inspect({"when": EARLY, "then": DAYS})
    assert [reading.style for reading in found.readings] == [DAY_FIRST, DAY_FIRST]
    assert "other columns" in found.readings[0].notes[0]
    assert not inspect({"when": EARLY}, habits=Habits(dates=DAY_FIRST)).problems


def test_all_problems_are_listed_at_once():
    columns = {"price": UNCLEAR, "when": EARLY, "mixed": COMMAS[:20] + ["1.5"] * 20, "w": ["1 kg", "2 lb"] * 20}
    columns["typo"] = ["1", "2", "oops", "4"] * 10
    found = inspect(columns)
    assert [problem.column for problem in found.problems] == list(columns)
    assert "several units, such as '1 kg', '2 lb'" in found.problems[3].text
    assert found.problems[4].row == 2
    assert "some numbers have a decimal point and others a decimal comma" in found.problems[2].text


def test_percent_beside_plain_numbers_is_refused():
    assert "percent sign" in only_problem(inspect({"a": ["5%", "0.1"] * 20})).text


def test_cells_that_are_said():
    found = inspect({"a": ["<0.1", "5.5", "-", "unknown", "2.5"] * 8, "b": ["3 kg", "4"] * 20})
    assert found.readings[0].notes == (
        "'-', 'unknown' count as missing (16 cells).",
        "8 cells such as '<0.1' are read as the limit that they name.",
    )
    assert found.readings[1].notes == ("20 of its numbers have no unit; they are taken as kg.",)
    assert found.cells[0][:3].tolist()[:2] == [0.1, 5.5]
    assert np.isnan(found.cells[0][2:4]).all()


def test_marks_among_codes_are_said_unless_the_column_is_left_out():
    found = inspect({"shop_id": ["1", "2", "3", "n/a"] * 20, "customer_id": [*map(str, range(1000, 8900, 100)), "n/a"]})
    assert [reading.kind for reading in found.readings] == ["category", "identifier"]
    assert [reading.notes for reading in found.readings] == [("'n/a' counts as missing (20 cells).",), ()]


@pytest.mark.parametrize(
    ("words", "none"),
    [
        (
            "strongly disagree|disagree|neutral|agree|strongly agree",
            ["Don\u2019t know", "Prefer not to say", "refused"],
        ),
        ("stimme gar nicht zu|stimme eher nicht zu|stimme eher zu|stimme voll zu", ["weiß nicht", "keine Angabe"]),
        ("jamais|rarement|parfois|souvent|toujours", ["Ne sait pas", "sans opinion", "Ne se prononce pas"]),
        ("nunca|rara vez|a veces|a menudo|siempre", ["NS/NC", "No sabe / no contesta"]),
        ("low|medium|high", ["unknown", "(refused)"]),
        ("1 - never|2 - rarely|3 - often|4 - always", ["9 - don't know"]),
        ("18-25|26-35|36-50", ["prefer not to answer"]),
    ],
)
def test_no_answer_among_ordered_words_is_missing_and_told(words, none):
    levels = words.split("|")
    cells = (levels * 6 + none)[::-1]
    found = inspect({"q": cells})
    assert found.readings[0].kind == "ordered"
    assert found.readings[0].order == tuple(levels)
    assert f"count{'s' if len(none) == 1 else ''} as missing ({len(none)} cell" in " ".join(found.readings[0].notes)
    expected = [levels.index(cell) if cell in levels else np.nan for cell in cells]
    np.testing.assert_equal(found.cells[0].tolist(), expected)


def test_no_answer_to_yes_or_no_is_missing_and_told():
    found = inspect({"q": ["yes", "no", "don't know", "y"] * 5})
    assert found.readings[0].kind == "yes/no"
    assert found.readings[0].notes == ('"don\'t know" counts as missing (5 cells).',)
    assert found.cells[0].cells()[:4].tolist() == ["yes", "no", None, "yes"]
    assert inspect({"q": ["red", "green", "don't know"] * 9}).readings[0].kind == "category"


def test_words_beside_the_levels_that_the_user_gives():
    wish = {"q": Wish("ordered", order=("cold", "warm", "hot"))}
    found = inspect({"q": ["cold", "hot", "warm", "refused"] * 5}, wish)
    assert found.readings[0].notes == ("'refused' counts as missing (5 cells).",)
    problem = only_problem(inspect({"q": ["cold", "hot", "warm", "boiling"] * 5}, wish))
    assert problem.text == "'boiling' is none of the levels that you give: cold, warm, hot."


def test_leading_zeros_are_numbers_if_the_user_says_so():
    cells = ["007", "042", "100", "013.5"] * 4
    found = inspect({"code": cells}, {"code": Wish("number")})
    assert found.cells[0][:4].tolist() == [7, 42, 100, 13.5]
    assert found.readings[0].padded
    assert found.readings[0].notes == ("12 cells such as '007', ... are numbers, as you say.",)
    new = NewCells()
    assert convert(text_column(["008"], lambda cell: False), found.readings[0], new).tolist() == [8]
    assert new.notes() == ["Column 'code': 1 cell such as '008' is a number, as you say."]
    assert not inspect({"size": ["7", "42", "100"] * 4}).readings[0].padded


def test_letters_after_a_few_numbers_are_no_unit():
    assert "'12a' is not a number" in only_problem(inspect({"house": [*map(str, range(1, 30)), "12a"]})).text


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("a", np.arange(1.0, 41), "running number"),
        ("a", np.arange(41.0, 1, -1), "running number"),
        ("a", RNG.permutation(40) + 1.0, "running number"),
        ("a", RNG.permutation(40) + 7.0, "number"),
        ("rank", np.arange(1.0, 41), "number"),
        ("year", np.arange(1980.0, 2020), "number"),
        ("customer_id", RNG.choice(10**5, 40, replace=False) * 1.0, "identifier"),
        ("store_id", np.arange(40) % 4 * 1.0, "category"),
        ("zip", RNG.integers(10000, 99999, 40) * 1.0, "identifier"),
        ("ZIP code", np.arange(40) % 3 + 80331.0, "category"),
        ("Kundennummer", RNG.choice(10**5, 40, replace=False) * 1.0, "identifier"),
        ("number_of_rooms", RNG.integers(1, 9, 40) * 1.0, "number"),
        ("account", RNG.choice(10**9, 40, replace=False) + 1e9, "identifier"),
        ("day", np.repeat([20210304.0, 20210305, 20210401, 20211231], 10), "date"),
        ("flag", np.arange(40) % 2 * 1.0, "yes/no"),
        ("c", np.full(40, 7.0), "constant"),
        ("c", np.full(40, np.nan), "empty"),
        ("body mass index", RNG.integers(18, 40, 40) * 1.0, "number"),
        ("x", RNG.normal(size=40), "number"),
    ],
)
def test_numbers(name, cells, expected):
    assert kind(cells, name) == expected


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("a", [f"C{i:04d}" for i in range(N)], "identifier"),
        ("town", ["Ulm", "Bonn"] * 20, "category"),
        ("comment", [f"it was fine {i}" for i in range(N)], "free text"),
        ("answer", [f"I think that {i} is quite a lot" for i in range(N)], "free text"),
        ("mail", [f"a{i}@b.org" for i in range(N)], "identifier"),
        ("code", [f"{i:04d}" for i in range(N)], "identifier"),
        ("code", ["0012", "0034"] * 20, "category"),
        ("long", ["12345678901234567890", "12345678901234567891"] * 20, "category"),
        ("clock", ["07:30", "18:45"] * 20, "number"),
        ("class", ["7a", "8a"] * 20, "category"),
        ("class", ["7a", "8b"] * 20, "category"),
        ("length", ["7m", "8m"] * 20, "number"),
        ("x", ["-", "n/a"] * 20, "empty"),
        ("x", ["A", "-"] * 20, "constant"),
        ("x", ["", None] * 20, "empty"),
    ],
)
def test_texts(name, cells, expected):
    assert kind(cells, name) == expected


def test_wishes_overrule_what_is_found():
    ids = [f"C{i % 30:04d}" for i in range(N)]
    wishes = {
        "id": Wish("category"),
        "nr": Wish("number"),
        "zip": Wish("number"),
        "size": Wish("ordered", order=("b", "a")),
    }
    columns = {"id": ids, "nr": np.arange(40.0), "zip": np.arange(40) % 3 + 80331.0, "size": ["a", "b"] * 20}
    found = inspect(columns, wishes)
    assert [reading.kind for reading in found.readings] == ["category", "number", "number", "ordered"]
    assert found.cells[3][:2].tolist() == [1, 0]
    assert isinstance(found.cells[0], CategoryColumn)
    assert [r.kind for r in inspect(columns, {"nr": Wish("ignored"), "zip": Wish("identifier")}).readings[1:3]] == [
        "ignored",
        "identifier",
    ]


@pytest.mark.parametrize(
    ("wish", "text"),
    [
        (Wish("number"), "cannot be read as number"),
        (Wish("date"), "cannot be read as date"),
        (Wish("yes/no"), "cannot be read as yes/no"),
        (Wish("ordered"), "the order of its levels is not known"),
    ],
)
def test_wishes_that_cannot_be_met(wish, text):
    assert text in only_problem(inspect({"a": ["red", "blue"] * 20}, {"a": wish})).text


def test_numbers_are_no_dates_because_someone_says_so():
    assert "are no dates" in only_problem(inspect({"a": np.arange(40.0)}, {"a": Wish("date")})).text


def test_near_duplicates_are_used_and_named():
    celsius = RNG.normal(10, 8, 60).round(1)
    towns = RNG.choice(["Ulm", "Bonn", "Kiel"], 60)
    frame = pd.DataFrame({"C": celsius, "F": celsius * 1.8 + 32, "town": towns, "place": np.char.lower(towns)})
    found = inspect_table(frame).columns
    assert [reading.kind for reading in found] == ["number", "near-duplicate", "category", "near-duplicate"]
    assert all(reading.used for reading in found)
    assert found[1].reason == "correlation 1.0000 as 'C'"


def test_overview_prints_a_line_for_each_column():
    overview = inspect_table(pd.DataFrame({"price": UNCLEAR, "w": POINTS, "q": COMMAS}))
    lines = repr(overview).splitlines()
    assert lines[0].split() == ["column", "kind", "read", "as", "example", "reason"]
    assert lines[2].startswith("w       number  number")
    assert lines[4].startswith("problem: Column 'price': its numbers are like")
    assert inspect_table(np.eye(3)).columns == ()
    with pytest.raises(ValueError, match=r"columns={'a': 'nonsense'} is not allowed"):
        inspect_table(pd.DataFrame({"a": [1, 2]}), {"a": "nonsense"})
    with pytest.raises(ValueError, match="names 'b', but X has no such column"):
        inspect_table(pd.DataFrame({"a": [1, 2]}), {"b": "number"})
