"""Words that have an order, in several languages: yes and no, agreement, frequency, quality, size and others."""

import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from clusterforests.app.table_reader.numbers import parse_number


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_YES = _words(
    "yes y true t ja j oui o si sí sì sim tak evet kyllä joo igen ano da on wahr vrai vero verdadero checked ✓ ✔ ☑"
)
_NO = _words("no n false f nein nee non não nao nie ei nem ne net off falsch faux falso unchecked ✗ ✘ ☐ nej")

# Scales from low to high. Words that mean the same are separated by |; a scale is the smallest that has all the words.
_SCALES = tuple(
    tuple(frozenset(step.strip().split("|")) for step in scale.split("<"))
    for scale in (
        # agreement
        "disagree|do not agree < neutral|undecided|neither agree nor disagree|neither < agree",
        "strongly disagree|totally disagree|completely disagree|fully disagree"
        " < disagree|rather disagree|somewhat disagree"
        " < agree|rather agree|somewhat agree < strongly agree|totally agree|completely agree|fully agree",
        "strongly disagree|totally disagree|completely disagree|fully disagree"
        " < disagree|rather disagree|somewhat disagree"
        " < neutral|undecided|neither agree nor disagree|neither nor|neither"
        " < agree|rather agree|somewhat agree < strongly agree|totally agree|completely agree|fully agree",
        "strongly disagree < disagree < somewhat disagree|slightly disagree"
        " < neutral|undecided|neither agree nor disagree"
        " < somewhat agree|slightly agree < agree < strongly agree",
        "stimme nicht zu|lehne ab < neutral|teils teils|teils/teils|teils-teils|weder noch < stimme zu",
        "stimme überhaupt nicht zu|stimme gar nicht zu|trifft überhaupt nicht zu|trifft gar nicht zu|trifft nicht zu|"
        "lehne stark ab < stimme eher nicht zu|stimme nicht zu|trifft eher nicht zu|lehne ab"
        " < stimme eher zu|stimme zu|trifft eher zu"
        " < stimme voll zu|stimme voll und ganz zu|stimme völlig zu|trifft voll zu"
        "|trifft voll und ganz zu|trifft zu|stimme stark zu",
        "stimme überhaupt nicht zu|stimme gar nicht zu|trifft überhaupt nicht zu|trifft gar nicht zu|trifft nicht zu|"
        "lehne stark ab < stimme eher nicht zu|stimme nicht zu|trifft eher nicht zu|lehne ab"
        " < neutral|teils teils|teils/teils|teils-teils|weder noch|unentschieden"
        " < stimme eher zu|stimme zu|trifft eher zu"
        " < stimme voll zu|stimme voll und ganz zu|stimme völlig zu|trifft voll zu"
        "|trifft voll und ganz zu|trifft zu|stimme stark zu",
        "pas du tout d'accord < plutôt pas d'accord|pas d'accord < plutôt d'accord|d'accord < tout à fait d'accord",
        "pas du tout d'accord < plutôt pas d'accord|pas d'accord"
        " < neutre|ni d'accord ni pas d'accord|ni pas d'accord ni d'accord"
        " < plutôt d'accord|d'accord < tout à fait d'accord",
        "totalmente en desacuerdo|muy en desacuerdo < en desacuerdo"
        " < neutral|ni de acuerdo ni en desacuerdo|indiferente"
        " < de acuerdo < totalmente de acuerdo|muy de acuerdo",
        # frequency
        "never < sometimes < always",
        "never < rarely|seldom < often|frequently < always",
        "never < rarely|seldom < sometimes|occasionally < often|frequently < always",
        "never < rarely|seldom < sometimes|occasionally < often|frequently < very often|usually|almost always < always",
        "never < yearly|annually < monthly < weekly < daily",
        "never < rarely < monthly < weekly < daily",
        "yearly|annually < quarterly < monthly < weekly < daily",
        "nie|niemals < manchmal < immer",
        "nie|niemals < selten < oft|häufig < immer",
        "nie|niemals < selten < manchmal|gelegentlich < oft|häufig < immer",
        "nie|niemals < selten < manchmal|gelegentlich < oft|häufig < sehr oft|meistens < immer",
        "nie|niemals < jährlich < monatlich < wöchentlich < täglich",
        "jamais < rarement < parfois|quelquefois < souvent < toujours",
        "nunca < rara vez|raramente < a veces|às vezes < a menudo|frecuentemente|frequentemente < siempre|sempre",
        "mai < raramente < a volte|qualche volta < spesso < sempre",
        # satisfaction
        "dissatisfied|unsatisfied < neutral < satisfied",
        "very dissatisfied|very unsatisfied < dissatisfied|unsatisfied < satisfied < very satisfied",
        "very dissatisfied|very unsatisfied < dissatisfied|unsatisfied|somewhat dissatisfied"
        " < neutral|neither satisfied nor dissatisfied|neither < satisfied|somewhat satisfied < very satisfied",
        "unzufrieden < neutral < zufrieden",
        "sehr unzufrieden < eher unzufrieden|unzufrieden < eher zufrieden|zufrieden < sehr zufrieden",
        "sehr unzufrieden < eher unzufrieden|unzufrieden < neutral|teils teils|teils/teils|weder noch"
        " < eher zufrieden|zufrieden < sehr zufrieden",
        "très insatisfait < insatisfait|plutôt insatisfait < neutre < satisfait|plutôt satisfait < très satisfait",
        # quality
        "bad|poor < average|fair|ok|okay|medium|neutral < good",
        "poor|bad < fair|average|ok|okay < good < excellent|very good",
        "very poor|very bad|terrible < poor|bad < fair|average|ok|okay|acceptable|neutral < good < very good|excellent",
        "poor|bad < fair|average < good < very good < excellent|outstanding",
        "very poor|very bad < poor|bad < fair|average < good < very good < excellent|outstanding",
        "schlecht < mittel|mittelmäßig|neutral|okay < gut",
        "sehr schlecht < schlecht < mittel|mittelmäßig|neutral|okay|durchschnittlich < gut < sehr gut",
        "ungenügend < mangelhaft < ausreichend|genügend < befriedigend < gut < sehr gut",
        "mauvais < moyen < bon < très bon|excellent",
        "très mauvais < mauvais < moyen < bon < très bon|excellent",
        # amount, likelihood, importance
        "low < medium|moderate|mid|middle|normal|average < high",
        "low < high",
        "none|no < low|mild < medium|moderate < high|severe",
        "none < mild < moderate < severe",
        "mild < moderate < severe",
        "none < mild < moderate < severe < very severe|critical",
        "very low < low < medium|moderate|normal|average < high < very high",
        "low < medium|moderate < high < very high|critical",
        "none < low < medium|moderate < high < critical|very high",
        "niedrig|gering < mittel|mäßig|normal < hoch",
        "niedrig|gering < hoch",
        "sehr niedrig|sehr gering < niedrig|gering < mittel|normal < hoch < sehr hoch",
        "keine|kein < leicht|gering < mittel|mäßig < schwer|stark",
        "leicht < mittel < schwer",
        "faible|bas < moyen < élevé|fort|haut",
        "bajo|baja < medio|media < alto|alta",
        "basso|bassa < medio|media < alto|alta",
        "very unlikely < unlikely < neutral|unsure < likely < very likely",
        "unwahrscheinlich < eher unwahrscheinlich < neutral < eher wahrscheinlich < wahrscheinlich",
        "not important|unimportant < somewhat important|slightly important < important < very important",
        "not at all important < slightly important < moderately important|important < very important"
        " < extremely important",
        "not at all < a little|slightly|somewhat < moderately < very|quite a bit|very much < extremely",
        "unwichtig < eher unwichtig < neutral < eher wichtig|wichtig < sehr wichtig",
        "gar nicht < wenig|kaum < mittelmäßig|mäßig|teilweise < ziemlich|überwiegend < sehr|völlig",
        "easy < medium|moderate|normal < hard|difficult",
        "slow < medium|normal < fast",
        # size
        "small < medium < large|big",
        "very small|tiny < small < medium < large|big < very large|huge",
        "klein < mittel < groß|gross",
        "sehr klein < klein < mittel < groß|gross < sehr groß",
        "petit|petite < moyen|moyenne < grand|grande",
        "s < m < l",
        "xs < s < m < l < xl",
        "s < m < l < xl < xxl|2xl",
        "xxs < xs < s < m < l < xl < xxl|2xl < xxxl|3xl",
        "bronze < silver < gold",
        "bronze < silver < gold < platinum",
        # education and age
        "primary|primary school|elementary < secondary|high school|secondary school < tertiary|college|university",
        "no degree|none < high school < bachelor|bachelor's|bachelors < master|master's|masters < phd|doctorate",
        "high school < associate|some college < bachelor|bachelor's|bachelors < master|master's|masters"
        " < phd|doctorate",
        "junior < mid|middle|intermediate|regular < senior < lead|principal",
        "junior < senior",
        "child < teen|teenager|adolescent < adult < senior|elderly",
    )
)
_GRADES = tuple(f"{letter}{sign}" for letter in "fedcba" for sign in ("-", "", "+"))
_NUMBERED = re.compile(r"(\d{1,2})\s*[-\u2013=:.)]\s*[^\W\d].*", re.DOTALL)
_AMOUNT = r"[€$£]?\s*(?:[1-9]\d{0,2}(?:[.,' ]\d{3})+|\d+(?:[.,]\d+)?)"  # 1,000 is a thousand here
_RANGE = re.compile(
    r"(?P<open>under|below|less than|up to|unter|weniger als|bis(?: zu)?|moins de|jusqu'à|menos de|hasta|meno di|"
    r"fino a|minder dan|[<≤])?(?P<over>over|above|more than|über|mehr als|plus de|más de|oltre|più di|meer dan|[>≥])?"
    rf"(?:from|between|von|zwischen|de|entre|da|tra)?\s*(?P<low>{_AMOUNT})(?:\s*[^\W\d]{{1,12}})??"
    rf"(?:(?:\s*[-\u2013]\s*|\s+(?:to|and|bis|und|à|et|a|y|e|tot)\s+)(?P<high>{_AMOUNT})"
    r"|\s*(?P<end>\+|(?:and|or|und|oder|et|ou|y|o|e|en) "
    r"(?:over|above|more|older|mehr|älter|darüber|plus|más|mayor|oltre|più|meer|ouder)))?"
    r"(?:\s*(?:[^\W\d]{1,12}|[€$£]))?",
    re.IGNORECASE,
)


def plain_word(level: str) -> str:
    """Return a word as scales list it."""
    return " ".join(level.casefold().replace("\u2019", "'").replace("_", " ").split())


def yes_no(levels: Sequence[str]) -> tuple[str, str] | None:
    """Return "no" and "yes" if the levels are these two, each in one or more spellings; None if they are not.

    The spellings of a column are recognised again by `is_yes`.
    """
    words = {plain_word(level) for level in levels}
    no, yes = words & _NO, words & _YES
    if not no or not yes or no | yes != words:
        return None
    first = {level: plain_word(level) for level in sorted(levels, key=lambda level: (-len(level), level))}
    return (
        next(level for level, word in first.items() if word in no),
        next(level for level, word in first.items() if word in yes),
    )


def is_yes(level: str) -> bool | None:
    """Tell whether a word is a yes or a no; None if it is neither."""
    word = plain_word(level)
    return True if word in _YES else False if word in _NO else None


def find_scale(levels: Iterable[str], name: str = "") -> tuple[frozenset[str], ...] | None:
    """Return the steps of the smallest scale that has all the levels, or None."""
    words = {plain_word(level) for level in levels}
    for scale in sorted(_SCALES, key=len):
        if len(words) > 1 and words <= frozenset().union(*scale):
            return scale
    if len(words) > 2 and words <= set(_GRADES) and (_is_grade(name) or any(len(word) > 1 for word in words)):
        return tuple(frozenset((grade,)) for grade in _GRADES if grade in words)
    return None


def rank_by_number(levels: Sequence[str]) -> tuple[str, ...] | None:
    """Order levels such as "1 - never" and "2 - rarely", or ranges such as "18-25" and "26-35", by their numbers."""
    numbered = {level: _NUMBERED.fullmatch(level.strip()) for level in levels}
    if all(numbered.values()):
        ranks = {level: int(found[1]) for level, found in numbered.items() if found}
        return tuple(sorted(levels, key=ranks.__getitem__)) if len(set(ranks.values())) == len(levels) else None
    ranges = {level: _range(level) for level in levels}
    if any(found is None for found in ranges.values()):
        return None
    ranked = sorted((found, level) for level, found in ranges.items() if found is not None)
    apart = all(before[0][1] <= after[0][0] for before, after in pairwise(ranked))
    return tuple(level for _, level in ranked) if apart else None


def _range(level: str) -> tuple[float, float] | None:
    """Return the ends of a range such as "18-25", "under 18" or "65+"; None if it is none."""
    found = None if _is_number(level) else _RANGE.fullmatch(" ".join(level.split()))
    if found is None or not (found["open"] or found["over"] or found["high"] or found["end"]):
        return None
    low = _amount(found["low"])
    if found["high"]:
        high = _amount(found["high"])
        return (low, high) if low <= high else None
    return (-math.inf, low) if found["open"] else (low, math.inf)


def _is_number(level: str) -> bool:
    """Tell whether a level is a single number, such as 12.5 or 1e-5."""
    number = parse_number(level, padded=True)
    return number is not None and (number.exponent != "" or not (number.unit or number.limit))


def _amount(text: str) -> float:
    """Read an end of a range; thousands may be separated."""
    digits = text.strip("€$£ ")
    if re.fullmatch(r"[1-9]\d{0,2}(?:[.,' ]\d{3})+", digits):
        return float(re.sub(r"\D", "", digits))
    return float(digits.replace(",", "."))


def _is_grade(name: str) -> bool:
    return bool(re.search(r"grade|mark|note|rating|schul", name.casefold()))


def order_of(levels: Sequence[str], name: str = "") -> tuple[str, ...] | None:
    """Order the levels of a column, given with the most frequent first, from low to high; None if no order is known.

    A step of a known scale that no level stands for is there under one of its words.
    """
    scale = find_scale(levels, name)
    if scale is None:
        return rank_by_number(levels)
    return tuple(next((level for level in levels if plain_word(level) in step), min(step)) for step in scale)


def ranks_of(order: Sequence[str], name: str = "") -> dict[str, int]:
    """Return the rank of each word that stands for a step of an order, by its plain form.

    Words of a known scale stand for the level that is on their step. A step without a level has no rank: an order that
    a user gives need not have all steps of the scale, nor go by it.
    """
    own = {plain_word(level): rank for rank, level in enumerate(order)}
    ranks: dict[str, int] = {}
    for step in find_scale(order, name) or ():
        found = {own[word] for word in step if word in own}
        if len(found) == 1:
            ranks |= dict.fromkeys(step, found.pop())
    return ranks | own
