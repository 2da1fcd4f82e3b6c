"""What a table's columns are, where one column needs the others, and where the user must decide."""

import numpy as np
import pandas as pd
import pytest

from clusterforests import TableReader
from clusterforests.app.table_reader.columns import Style

N = 40
RNG = np.random.default_rng(0)
UNCLEAR = [f"{RNG.integers(1, 99)},{RNG.integers(100, 999)}" for _ in range(N)]
COMMAS = [f"{v:.2f}".replace(".", ",") for v in RNG.uniform(0, 9, N)]
POINTS = [f"{v:.2f} kg" for v in RNG.uniform(0, 9, N)]
EARLY = [f"{RNG.integers(1, 12):02d}/{RNG.integers(1, 12):02d}/2021" for _ in range(N)]
DAYS = [f"{RNG.integers(13, 28)}/{RNG.integers(1, 12):02d}/2021" for _ in range(N)]


@pytest.fixture(autouse=True)
def quiet(recwarn):
    """What is noted of columns is looked at in `notes`."""


def inspect(columns, overrides=None, **settings):
    """Return how the columns are read; there must be no problem."""
    readings, problems = TableReader(overrides, **settings).inspect(pd.DataFrame(columns))
    assert not problems
    return readings


def read(columns, overrides=None, **settings):
    return TableReader(overrides, **settings).fit_transform(pd.DataFrame(columns))


def problem(columns, overrides=None, **settings):
    (only,) = TableReader(overrides, **settings).inspect(pd.DataFrame(columns))[1]
    return only


def test_unclear_numbers_are_refused_with_the_choice():
    text = str(problem({"price": UNCLEAR}))
    assert repr(UNCLEAR[0]) in text
    assert "{'price': 'number, decimal point'}" in text
    assert "{'price': 'number, decimal comma'}" in text


def test_unclear_numbers_follow_the_other_columns_if_these_agree():
    reading, _ = inspect({"price": UNCLEAR, "rate": COMMAS})
    assert reading.style == Style.DECIMAL_COMMA
    assert "decimal comma" in reading.notes[0]
    assert read({"price": UNCLEAR, "rate": COMMAS})["price"][0] == float(UNCLEAR[0].replace(",", "."))
    assert read({"price": UNCLEAR, "weight": POINTS})["price"][0] == float(UNCLEAR[0].replace(",", ""))
    assert problem({"price": UNCLEAR, "rate": COMMAS, "weight": POINTS}).column == "price"
    # Numbers that were text show their decimal sign; those of a frame in memory do not.
    numbers = {"price": UNCLEAR, "x": RNG.normal(size=N)}
    assert problem(numbers).column == "price"
    assert read(numbers, file_style="text")["price"][0] == float(UNCLEAR[0].replace(",", ""))


@pytest.mark.parametrize("settings", [{"decimal": ","}, {"overrides": {"p": "number, decimal comma"}}])
def test_unclear_numbers_follow_the_user(settings):
    assert read({"p": UNCLEAR}, **settings)["p"][0] == float(UNCLEAR[0].replace(",", "."))


def test_what_the_user_says_must_fit():
    assert "decimal comma" in problem({"p": COMMAS}, {"p": "number, decimal point"}).text


def test_points_are_plain_where_the_writer_separates_cells_by_commas():
    cells = [cell.replace(",", ".") for cell in UNCLEAR]
    assert problem({"p": cells}).column == "p"
    assert read({"p": cells}, file_style="comma-separated")["p"][0] == float(cells[0])
    assert read({"p": cells, "q": COMMAS}, file_style="comma-separated")["p"][0] == 1000 * float(cells[0])


def test_dates_that_show_no_order():
    unclear = problem({"when": EARLY})
    assert [remedy.override for remedy in unclear.remedies] == ["date, day first", "date, month first"]
    readings = inspect({"when": EARLY, "then": DAYS})
    assert [reading.style for reading in readings] == [Style.DAY_FIRST, Style.DAY_FIRST]
    assert "day first" in readings[0].notes[0]
    found = read({"when": EARLY}, day_first=True)["when"]
    assert found[0] == pd.to_datetime(EARLY[0], dayfirst=True)
    assert found.dtype == "datetime64[us]"


def test_all_problems_are_listed_at_once():
    columns = {"price": UNCLEAR, "when": EARLY, "mixed": COMMAS[:20] + ["1.5"] * 20, "w": ["1 kg", "2 lb"] * 20}
    columns["typo"] = ["1", "2", "oops", "4"] * 10
    with pytest.raises(ValueError, match=r"(?s)1\. Column 'price'.*2\. Column 'when'.*5\. Column 'typo'") as error:
        TableReader().fit(pd.DataFrame(columns))
    problems = error.value.problems
    assert [problem.column for problem in problems] == list(columns)
    assert "'1 kg', '2 lb'" in problems[3].text
    assert problems[4].row == 2
    assert problems[4].remedies[0].missing == ("oops",)
    assert read({"typo": columns["typo"]}, missing=["oops"])["typo"].isna().sum() == 10


def test_percent_beside_plain_numbers_is_refused():
    assert "percent sign" in problem({"a": ["5%", "0.1"] * 20}).text


def test_cells_that_are_said():
    columns = {"a": ["<0.1", "5.5", "-", "unknown", "2.5"] * 8, "b": ["3 kg", "4"] * 20}
    a, b = inspect(columns)
    assert a.notes == (
        "'-', 'unknown' count as missing (16 cells).",
        "8 cells such as '<0.1' are read as the limit that they name.",
    )
    assert b.notes == ("20 of its numbers have no unit; they are taken as kg.",)
    np.testing.assert_equal(read(columns)["a"][:4].tolist(), [0.1, 5.5, np.nan, np.nan])


def test_marks_among_codes_are_said_unless_the_column_is_dropped():
    columns = {"shop_id": ["1", "2", "3", "n/a"] * 20, "customer_id": [*map(str, range(1000, 8900, 100)), "n/a"]}
    shop, customer = inspect(columns)
    assert (shop.kind, shop.notes) == ("category", ("'n/a' counts as missing (20 cells).",))
    assert (customer.kind, customer.notes) == ("identifier", ())


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
    (reading,) = inspect({"q": cells})
    assert (reading.kind, reading.levels) == ("ordered", tuple(levels))
    assert f"({len(none)} cell" in " ".join(reading.notes)
    found = read({"q": cells})["q"]
    assert found.cat.ordered
    assert found.cat.codes.tolist() == [levels.index(cell) if cell in levels else -1 for cell in cells]


def test_no_answer_to_yes_or_no_is_missing_and_told():
    cells = ["yes", "no", "don't know", "y"] * 5
    (reading,) = inspect({"q": cells})
    assert reading.kind == "yes/no"
    assert reading.notes == ('"don\'t know" counts as missing (5 cells).',)
    assert read({"q": cells})["q"].astype(object).where(lambda c: c.notna(), None)[:4].tolist() == [
        "yes",
        "no",
        None,
        "yes",
    ]
    assert inspect({"q": ["red", "green", "don't know"] * 9})[0].kind == "category"


def test_words_beside_the_levels_that_the_user_gives():
    given = {"q": ["cold", "warm", "hot"]}
    assert inspect({"q": ["cold", "hot", "warm", "refused"] * 5}, given)[0].notes == (
        "'refused' counts as missing (5 cells).",
    )
    assert "'boiling' is none of the levels" in problem({"q": ["cold", "hot", "warm", "boiling"] * 5}, given).text


def test_leading_zeros_are_numbers_if_the_user_says_so():
    frame = pd.DataFrame({"code": ["007", "042", "100", "013.5"] * 4})
    reader = TableReader({"code": "number"})
    assert reader.fit_transform(frame)["code"][:4].tolist() == [7, 42, 100, 13.5]
    assert reader.columns_[0].padded
    assert reader.columns_[0].notes == ("12 cells such as '007', ... are numbers, as you say.",)
    with pytest.warns(UserWarning, match="1 cell such as '008' is a number"):
        assert reader.transform(pd.DataFrame({"code": ["008"]}))["code"].tolist() == [8]
    assert not inspect({"size": ["7", "42", "100"] * 4})[0].padded


def test_letters_after_a_few_numbers_are_no_unit():
    assert "'12a' is not a number" in problem({"house": [*map(str, range(1, 30)), "12a"]}).text


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
        ("customer_id", RNG.uniform(1e8, 9e8, 40), "identifier"),
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
        ("dose", pd.Series([0.5, 1.5, "n/a", 100.5] * 10, dtype=object), "number"),
        ("x", ["-", "n/a"] * 20, "empty"),
        ("x", ["A", "-"] * 20, "constant"),
        ("x", ["", None] * 20, "empty"),
    ],
)
def test_kinds(name, cells, expected):
    assert inspect({name: cells})[0].kind == expected


def test_numbers_of_an_array_are_taken_as_they_are():
    X = np.column_stack([np.arange(40.0), np.full(40, 7.0)])
    assert [reading.kind for reading in TableReader().fit(X).columns_] == ["number", "number"]


def test_overrides_decide():
    ids = [f"C{i % 30:04d}" for i in range(N)]
    columns = {"id": ids, "nr": np.arange(40.0), "zip": np.arange(40) % 3 + 80331.0, "size": ["a", "b"] * 20}
    overrides = {"id": "category", "nr": "number", "zip": "number", "size": ["b", "a"]}
    assert [reading.kind for reading in inspect(columns, overrides)] == ["category", "number", "number", "ordered"]
    found = read(columns, overrides)
    assert found["size"].cat.codes[:2].tolist() == [1, 0]
    assert not found["id"].cat.ordered
    kinds = [reading.kind for reading in inspect(columns, {"nr": "ignore", "zip": "id"})]
    assert kinds[1:3] == ["ignored", "identifier"]


@pytest.mark.parametrize(
    ("override", "cells", "said"),
    [
        ("number", ["red", "blue"], "cannot be read as number"),
        ("date", ["red", "blue"], "cannot be read as date"),
        ("yes/no", ["red", "blue"], "cannot be read as yes/no"),
        ("ordered", ["red", "blue"], "order of its levels is not known"),
        ("date", [1.5, 7.0], "no dates"),
        (["mid", "high"], ["low", "mid", "high"], "'low' is none of the levels"),
        ([3, 1, 2], [1, 2, 3], "an order of their own"),
        ([1, 2], [1, 2, 3], "an order of their own"),
        (["a", "b"], [1, 2, 3], "an order of their own"),
    ],
)
def test_overrides_that_cannot_be_met(override, cells, said):
    assert said in problem({"a": cells * 20}, {"a": override}).text


def test_numbers_may_be_given_in_their_own_order():
    assert inspect({"size": [1, 2, 3] * 20}, {"size": [1, 2, 3]})[0].kind == "ordered"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"overrides": {"a": "nonsense"}}, "overrides={'a': 'nonsense'}"),
        ({"overrides": {"a": ["x"]}}, "overrides="),
        ({"overrides": ["a"]}, "overrides="),
        ({"overrides": {"b": "number"}}, "'b'"),
        ({"decimal": ";"}, "decimal=';'"),
        ({"day_first": 1}, "day_first=1"),
        ({"file_style": "csv"}, "file_style='csv'"),
        ({"missing": "oops"}, "missing='oops'"),
    ],
)
def test_parameters_that_are_not_allowed(settings, message):
    with pytest.raises(ValueError, match=message):
        TableReader(**settings).fit(pd.DataFrame({"a": [1, 2]}))


def test_near_duplicates_are_used_and_named():
    celsius = RNG.normal(10, 8, 60).round(1)
    towns = RNG.choice(["Ulm", "Bonn", "Kiel"], 60)
    columns = {"C": celsius, "F": celsius * 1.8 + 32, "town": towns, "place": np.char.lower(towns), "again": celsius}
    found = inspect(columns)
    assert [r.kind for r in found] == ["number", "near-duplicate", "category", "near-duplicate", "near-duplicate"]
    assert all(reading.used for reading in found)
    assert found[1].reason == "correlation 1.0000 as 'C'"


def test_columns_print_as_a_table():
    lines = repr(inspect({"price": UNCLEAR, "w": POINTS})).splitlines()
    assert lines[0].split() == ["column", "kind", "read", "as", "example", "reason"]
    assert lines[2].startswith("w       number  number")
    assert all(len(line) <= 30 for line in inspect({"w": POINTS}).lines(30))
