"""Numbers as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterforests.app.table_reader.columns import Style
from clusterforests.app.table_reader.numbers import decimal_evidence, parse_number, style_evidence

POINT, COMMA = Style.DECIMAL_POINT, Style.DECIMAL_COMMA


@pytest.mark.parametrize(
    ("cell", "style", "value", "unit"),
    [
        ("5.3%", POINT, 5.3, "%"),
        ("5,3 %", COMMA, 5.3, "%"),
        ("1.234,56 €", COMMA, 1234.56, "€"),
        ("€ 1.234,56", COMMA, 1234.56, "€"),
        ("$1,234.56", POINT, 1234.56, "$"),
        ("-$12.50", POINT, -12.5, "$"),
        ("$-12.50", POINT, -12.5, "$"),
        ("($1,234.00)", POINT, -1234, "$"),
        ("(12)", POINT, -12, ""),
        ("12.5-", POINT, -12.5, ""),
        ("\u22123.5", POINT, -3.5, ""),
        ("1 234,5", COMMA, 1234.5, ""),
        ("1\u202f234\u202f567,5", COMMA, 1234567.5, ""),
        ("1\u00a0234,5\u00a0€", COMMA, 1234.5, "€"),
        ("1'234.50", POINT, 1234.5, ""),
        ("CHF 1\u2019234.\u2013", POINT, 1234, "CHF"),
        ("12.-", POINT, 12, ""),
        ("12 kg", POINT, 12, "kg"),
        ("12,5 mg/dl", COMMA, 12.5, "mg/dl"),
        ("90 m²", POINT, 90, "m²"),
        ("20 °C", POINT, 20, "°C"),
        ("1.5e-5", POINT, 1.5e-5, ""),
        (".5", POINT, 0.5, ""),
        ("12,34,567.00", POINT, 1234567, ""),
        ("+7", POINT, 7, ""),
        ("<0.1", POINT, 0.1, ""),
        ("≥ 100", POINT, 100, ""),
    ],
)
def test_read(cell, style, value, unit):
    number = parse_number(cell)
    assert number.value(style) == value
    assert number.unit == unit


def test_what_is_too_large_is_no_number():
    assert parse_number("12e4567") is None
    assert parse_number("12345678901234567890") is None
    assert parse_number("1234567890123456.5").value(POINT) == 1234567890123456.5


def test_limits_are_marked():
    assert parse_number("<0.1").limit == "<"
    assert parse_number("> 5").limit == ">"
    assert parse_number("5").limit == ""


STRANGE = "007|192.168.1.1|1.2.3|2021-03-04|12:30|120/80|12 34|7-9|+49 30 1234567|Main 3||1,23,4|--5|(5|1_000|(-5)|5.0."


@pytest.mark.parametrize("cell", STRANGE.split("|"))
def test_no_number(cell):
    assert parse_number(cell) is None


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("12", ""),
        ("12.5", POINT),
        ("12,5", COMMA),
        ("1,234", "unclear"),
        ("1.234", "unclear"),
        ("0.123", POINT),
        ("1234.567", POINT),
        ("1,234.5", POINT),
        ("1.234.567", COMMA),
        ("1,234,567", POINT),
        ("1'234", ""),
        ("1 234.567", POINT),
        ("1.234e5", POINT),
    ],
)
def test_what_a_number_shows(cell, shown):
    assert decimal_evidence(parse_number(cell)) == shown


def settled(*cells):
    return style_evidence(map(parse_number, cells)).settled()


def test_a_column_decides_by_all_cells():
    assert settled("1,234", "12,5") == COMMA
    assert settled("1,234", "1,234.5") == POINT
    assert settled("1,234", "5,678") is None
    assert settled("12", "1234") == ""
    assert len(style_evidence(map(parse_number, ["12.5", "12,5"])).styles) == 2
    assert len(style_evidence(map(parse_number, ["1.234", "1,234"])).styles) == 2


def test_many_thousands_beside_small_numbers_are_thousands():
    many = [f"{1000 + 37 * i:,}" for i in range(60)]
    assert settled(*many) is None
    assert settled(*many, "512") == POINT
    assert settled(*many[:20], "512") is None
    assert settled(*many, "512", "1234") is None
    assert settled(*(cell.replace(",", ".") for cell in many), "512") == COMMA


def test_money_has_no_three_decimals():
    assert settled("€ 12,345", "€ 23,456") == POINT
    assert settled("12.345 €", "23.456 €") == COMMA
    assert settled("1,799 €", "1,829 €") is None  # the price of a litre


@given(st.floats(-1e12, 1e12), st.sampled_from([0, 1, 2, 4]))
def test_both_styles_give_back_what_was_written(value, digits):
    english = f"{value:,.{digits}f}"
    assert parse_number(english).value(POINT) == float(english.replace(",", ""))
    german = english.translate(str.maketrans(",.", ".,"))
    assert parse_number(german).value(COMMA) == float(english.replace(",", ""))
