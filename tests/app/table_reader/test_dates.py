"""Dates and times of day as people write them."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterforests.app.table_reader.columns import Style
from clusterforests.app.table_reader.dates import EPOCH, parse_date, parse_hours

MARCH_4 = 18690.0


WAYS = """2021-03-04|2021/3/4|2021.03.04|04.03.2021|4.3.21|4 March 2021|Mar 4, 2021|4. März 2021|04-Mar-21|4 mars 2021
4 de marzo de 2021|20210304|March 4th, 2021|2021-03-04T00:00:00Z"""


@pytest.mark.parametrize("cell", WAYS.replace("\n", "|").split("|"))
def test_one_day_in_many_ways(cell):
    assert parse_date(cell).days(Style.DAY_FIRST) == MARCH_4


@pytest.mark.parametrize(
    ("cell", "part"),
    [
        ("2021-03-04 12:00", 0.5),
        ("2021-03-04T18:00:00.000", 0.75),
        ("04.03.2021 06:00", 0.25),
        ("4.3.2021, 12:00 Uhr", 0.5),
        ("2021/3/4 6:00 pm", 0.75),
        ("2021-03-04 12:00 AM", 0.0),
        ("2021-03-04T14:00:00+02:00", 0.5),
    ],
)
def test_times(cell, part):
    assert parse_date(cell).days(Style.DAY_FIRST) == MARCH_4 + part


def test_months_alone_are_their_first_days():
    first = parse_date("2021-03-01").days("")
    assert {parse_date(cell).days("") for cell in ("2021-03", "March 2021", "03/2021")} == {first}


def test_day_or_month_first():
    assert parse_date("03/04/2021").order == "unclear"
    assert parse_date("13/04/2021").order == Style.DAY_FIRST
    assert parse_date("04/13/2021").order == Style.MONTH_FIRST
    assert parse_date("05/05/2021").order == ""
    assert parse_date("03/04/2021").days(Style.MONTH_FIRST) == MARCH_4
    assert parse_date("03/04/2021").days(Style.DAY_FIRST) == MARCH_4 + 30
    assert parse_date("13/04/2021").days(Style.MONTH_FIRST) is None
    assert parse_date("04.03.2021").days(Style.MONTH_FIRST) is None
    assert parse_date("2021-03-04").days(Style.MONTH_FIRST) == MARCH_4


def test_two_digits_of_a_year():
    assert parse_date("1.1.69").days(Style.DAY_FIRST) == -365
    assert parse_date("1.1.68").days(Style.DAY_FIRST) > 35000


@pytest.mark.parametrize(
    "cell",
    ["31.02.2021", "13.13.2020", "2021-13-01", "1.2.3", "10.0.0.1", "2020", "hello", "4 Foo 2021", "12.5", "5/2"],
)
def test_no_date(cell):
    assert parse_date(cell) is None


def test_times_of_day():
    assert parse_hours("7:45") == 7.75
    assert parse_hours("07:45:36") == 7.76
    assert parse_hours("7:30 PM") == 19.5
    assert parse_hours("49:30") == 49.5
    assert parse_hours("7:75") is None
    assert parse_hours("13:00 pm") is None
    assert parse_hours("745") is None


@given(st.dates(datetime.date(1970, 1, 1), datetime.date(2060, 12, 31)))
def test_dates_come_back(day):
    number = day.toordinal() - EPOCH
    assert parse_date(day.isoformat()).days("") == number
    assert parse_date(f"{day:%d/%m/%Y}").days(Style.DAY_FIRST) == number
    assert parse_date(f"{day:%m/%d/%Y}").days(Style.MONTH_FIRST) == number
    assert parse_date(f"{day:%d.%m.%y}").days(Style.DAY_FIRST) == number
