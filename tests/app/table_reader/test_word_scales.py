"""Words that have an order."""

import pytest

from clusterforests.app.table_reader import word_scales
from clusterforests.app.table_reader.missing_marks import NO_ANSWERS
from clusterforests.app.table_reader.word_scales import find_scale, is_yes, order_of, rank_by_number, ranks_of, yes_no


@pytest.mark.parametrize(
    "pair",
    ["yes no", "Ja Nein", "oui non", "sí no", "sì no", "ja nee", "sim não", "Y N", "true false", "T F", "on off"],
)
def test_yes_and_no(pair):
    yes, no = pair.split()
    assert yes_no([yes, no]) == yes_no([no, yes]) == (no, yes)
    assert is_yes(yes) is True
    assert is_yes(no) is False


def test_several_spellings_of_yes():
    assert yes_no(["yes", "no", "Y", "NO"]) == ("NO", "yes")
    assert yes_no(["yes", "no", "perhaps"]) is None
    assert yes_no(["yes"]) is None
    assert is_yes("perhaps") is None


@pytest.mark.parametrize(
    "scale",
    [
        "strongly disagree<disagree<neutral<agree<strongly agree",
        "strongly disagree<disagree<agree<strongly agree",
        "stimme gar nicht zu<stimme eher nicht zu<teils/teils<stimme eher zu<stimme voll zu",
        "never<rarely<sometimes<often<always",
        "nie<selten<manchmal<oft<immer",
        "jamais<rarement<parfois<souvent<toujours",
        "very dissatisfied<dissatisfied<neutral<satisfied<very satisfied",
        "sehr unzufrieden<unzufrieden<neutral<zufrieden<sehr zufrieden",
        "low<medium<high",
        "niedrig<mittel<hoch",
        "xs<s<m<l<xl",
        "small<medium<large",
        "poor<fair<good<excellent",
        "mild<moderate<severe",
    ],
)
def test_scales(scale):
    words = scale.split("<")
    assert order_of(words[::-1]) == tuple(words)
    assert [rank for _, rank in sorted((ranks_of(words)[w], ranks_of(words)[w]) for w in words)] == list(
        range(len(words))
    )


def test_case_and_spaces_do_not_matter():
    assert order_of(["High", "LOW", " Medium "]) == ("LOW", " Medium ", "High")


def test_a_step_that_does_not_occur_is_there():
    order = order_of(["strongly agree", "strongly disagree", "neutral"])
    assert len(order) == 5
    ranks = ranks_of(order)
    assert (ranks["strongly disagree"], ranks["neutral"], ranks["agree"], ranks["strongly agree"]) == (0, 2, 3, 4)


def test_a_step_without_a_level_has_no_rank():
    """Nor does the scale rank words beside levels that the user put in an order of their own."""
    assert ranks_of(["mid", "high"]).keys() >= {"mid", "high"}
    assert "low" not in ranks_of(["mid", "high"])
    ranks = ranks_of(["neutral", "strongly disagree", "strongly agree"])
    assert (ranks["neutral"], ranks["strongly disagree"], ranks["strongly agree"]) == (0, 1, 2)
    assert not {"agree", "disagree"} & ranks.keys()
    assert ranks_of(["low", "mid", "high"])["medium"] == 1


def test_grades_need_a_sign_or_a_name():
    assert order_of(["A", "B", "C"]) is None
    assert order_of(["A", "B", "C"], "Grade") == ("C", "B", "A")
    assert order_of(["A-", "B+", "A"]) == ("B+", "A-", "A")


def test_numbered_words_and_ranges():
    assert rank_by_number(["2 - rarely", "1 - never", "10 - always"]) == ("1 - never", "2 - rarely", "10 - always")
    assert rank_by_number(["26-35", "18-25", "66+", "under 18", "36-65"]) == (
        "under 18",
        "18-25",
        "26-35",
        "36-65",
        "66+",
    )
    assert rank_by_number(["12-345", "13-222"]) is None
    assert rank_by_number(["1 - a", "1 - b"]) is None
    assert rank_by_number(["red", "blue"]) is None


def test_no_scale():
    assert find_scale(["red", "blue"]) is None
    assert find_scale(["low", "blue"]) is None
    assert find_scale(["low"]) is None


def test_no_answer_is_not_a_step_of_a_scale():
    steps = {word for scale in word_scales._SCALES for step in scale for word in step}
    assert not steps & NO_ANSWERS


@pytest.mark.parametrize(
    "bands",
    [
        "Moins de 25 ans|25-34 ans|35 à 49 ans|50-64 ans|65 ans et plus",
        "unter 18 Jahre|18 bis 29 Jahre|30-64 Jahre|65 Jahre und älter",
        "under $500|$500 - $999|$1,000 - $4,999|$5,000 and more",
        "menos de 20|20 a 39|40 y más",
        "1 e 5|6 e 9",
        "<18|18-25|26+",
        "0-0.5|0.5-1.5|over 1.5",
        "bis 1.000 €|1.001-5.000 €|mehr als 5.000 €",
        "1-10|11-50|51-200|201-500|501-1000|1001+",
    ],
)
def test_ranges_are_ordered_by_their_numbers(bands):
    levels = bands.split("|")
    assert rank_by_number(levels[::-1]) == tuple(levels)


@pytest.mark.parametrize(
    "levels",
    [
        ["1-10", "5-20"],
        ["10", "20"],
        ["a-b", "1-2"],
        ["over", "under"],
        ["0.5e0", "1.5e0", "100.5e0"],
        ["1e2", "3e5"],
        ["1e-5", "6e-9"],
        ["1e-5 g", "6e-9 g"],
        ["12a15", "20a29"],
        ["9-1", "20-12"],
    ],
)
def test_what_is_no_list_of_ranges(levels):
    assert rank_by_number(levels) is None
