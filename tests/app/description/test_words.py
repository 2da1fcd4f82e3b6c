"""Numbers and columns in words."""

import pytest

from clusterforests.app.description.words import (
    SHARE,
    ColumnWords,
    capitalised,
    interval_phrase,
    listed,
    number_pair,
    number_phrase,
    percent,
    quoted,
    round_outward,
    share_phrase,
)
from clusterforests.app.table_reader.columns import Kind


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (28, 40, ("28", "40")),
        (13.74, 12.28, ("13.7", "12.3")),
        (1065, 520.5, ("1,065", "520")),
        (0.0021, 0.0034, ("0.0021", "0.0034")),
        (3, 0.5, ("3.0", "0.5")),
        (-0.001, 5.0, ("0.0", "5.0")),
        (1e-9, 2e-9, ("1e-09", "2e-09")),
        (1.5e12, 1.50001e12, ("1.5e+12", "1.50001e+12")),
        (100.0, 100.00000001, ("100", "100.00000001")),
    ],
)
def test_two_numbers_show_how_they_differ(a, b, said):
    assert number_pair(a, b) == said
    assert number_pair(b, a) == said[::-1]


def test_small_words():
    assert [percent(x) for x in (0, 0.001, 0.5, 0.999, 1)] == ["0 %", "< 1 %", "50 %", "> 99 %", "100 %"]
    assert [listed(list("abc"[:n])) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]
    assert [capitalised(text) for text in ("older", "pH mostly 7", "")] == ["Older", "pH mostly 7", ""]
    assert [quoted(name) for name in ("a b", "a, b", "", "x\ny")] == ["a b", '"a, b"', '""', "x y"]
    assert round_outward(31.27, 39.81) == (31.2, 39.9)
    assert round_outward(31, 39) == (31, 39)
    assert round_outward(39132.4, 40798.6) == (39100, 40800)


def column(name, kind=Kind.NUMBER, **more):
    return ColumnWords(0, name, kind, **more)


@pytest.mark.parametrize(
    ("given", "inside", "outside", "said"),
    [
        (column("age"), 28, 40, ("younger (28 against 40)", "younger")),
        (column("income", unit="€"), 2310.0, 1200.0, ("higher income (€2,310 against €1,200)", "high income")),
        (column("discount", unit="%"), 3.2, 8.5, ("lower discount (3.2 against 8.5 %)", "low discount")),
        (column("change", unit="$"), -5.0, 5.0, ("lower change (-$5 against $5)", "low change")),
        (
            column("signup", Kind.DATE),
            19723.0,
            19000.0,
            ("later signup (2024-01-01 against 2022-01-08)", "late signup"),
        ),
        (
            column("seen", Kind.DATE),
            1.0,
            1.5,
            ("earlier seen (1970-01-02 00:00 against 1970-01-02 12:00)", "early seen"),
        ),
        (
            column("mood", Kind.ORDERED, order=("bad", "good")),
            1.0,
            0.0,
            ("higher mood (good against bad)", "high mood"),
        ),
        (column("mood", Kind.ORDERED, order=("bad", "good")), 0.5, 1.0, ("lower mood (0.50 against 1.00)", "low mood")),
    ],
)
def test_numbers_dates_and_orders(given, inside, outside, said):
    assert number_phrase(given, inside, outside, "median") == said


@pytest.mark.parametrize(
    ("name", "level", "inside", "outside", "said"),
    [
        ("channel", "app", 0.82, 0.15, ("mostly app (82 % against 15 %)", "app")),
        ("channel", "app", 0.95, 0.15, ("nearly always app (95 % against 15 %)", "app")),
        ("channel", "app", 1, 0.15, ("always app (100 % against 15 %)", "app")),
        ("channel", "app", 0.4, 0.05, ("more often app (40 % against 5 %)", "app")),
        ("channel", "app", 0, 0.35, ("never app (0 % against 35 %)", "not app")),
        ("channel", "app", 0.05, 0.4, ("rarely app (5 % against 40 %)", "not app")),
        ("channel", "app", 0.3, 0.7, ("less often app (30 % against 70 %)", "not app")),
        ("letters", "yes", 0.8, 0.1, ("mostly yes (80 % against 10 %)", "letters")),
        ("letters", "no", 0.8, 0.1, ("mostly no (80 % against 10 %)", "no letters")),
        ("grade", "B", 0.8, 0.1, ("mostly B (80 % against 10 %)", "grade B")),
    ],
)
def test_levels(name, level, inside, outside, said):
    text, short = share_phrase(column(name, SHARE, level=level), level, inside, outside)
    assert (text, short) == (f"{name} {said[0]}", said[1])


def test_means_and_intervals():
    assert number_phrase(column("returns"), 1.5, 0.5, "mean")[0] == "higher returns (on average 1.5 against 0.5)"
    text, short = interval_phrase(column("income"), 31.0, 39.0, 0.83, 0.12)
    assert (text, short) == ("income mostly from 31 to 39 (83 % against 12 %)", "medium income")
    assert interval_phrase(column("doors"), 4.0, 4.0, 1.0, 0.12)[0] == "doors always 4 (100 % against 12 %)"
