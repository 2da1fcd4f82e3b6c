"""What people write into cells that have no value."""

import re

from clusterforests.app.table_reader.word_scales import plain_word


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split("|"))


# In files these count as missing without a word.
MISSING = frozenset(("", "NA", "N/A", "NaN", "nan", "NULL", "null", "?"))
# These too, in any column, but it is said.
SIGNS = _listed(
    "-|\u2013|\u2014|--|---|.|..|...|n/a|<na>|n.a.|n. a.|k.a.|k. a.|k.a|k/a|n.d.|nd|n. d.|#n/a|#na|#value!|#div/0!|"
    "#ref!|#null!|nat|nil|(null)|(blank)"
)
# These only where the other cells are numbers or dates; elsewhere they may be a group of their own.
WORDS = _listed(
    "na|unknown|unbekannt|inconnu|desconocido|sconosciuto|onbekend|none|keine|keine angabe|keine angaben|missing|"
    "fehlt|not available|not applicable|nicht verfügbar|not recorded|not measured|pending|tbd|error|#error|"
    "nicht gemessen|non disponible|no data|no answer|sin datos|s/d"
)


# Answers of people who give none, in English, German, French, Spanish, Italian, Dutch and Portuguese.
NO_ANSWERS = _listed(
    "don't know|dont know|do not know|i don't know|i do not know|dk|prefer not to say|prefer not to answer|"
    "i prefer not to say|rather not say|would rather not say|decline to answer|declined|refused|refused to answer|"
    "no answer|no response|not answered|skipped|cannot say|can't say|no opinion|does not apply|not applicable|"
    "weiß nicht|weiss nicht|ich weiß nicht|ich weiss nicht|keine angabe|keine angaben|keine antwort|keine meinung|"
    "möchte ich nicht sagen|möchte ich nicht angeben|kann ich nicht sagen|kann ich nicht beurteilen|verweigert|"
    "nicht zutreffend|"
    "ne sait pas|ne sais pas|je ne sais pas|nsp|nspp|ne se prononce pas|pas de réponse|sans réponse|sans opinion|"
    "sans avis|préfère ne pas répondre|préfère ne pas dire|je préfère ne pas répondre|non concerné|non concernée|"
    "sans objet|non applicable|"
    "no sabe|no sé|no lo sé|ns|nc|ns/nc|nsnc|no contesta|prefiero no decir|prefiero no decirlo|"
    "prefiero no responder|prefiero no contestar|sin respuesta|no aplica|"
    "non so|non lo so|non sa|non risponde|nessuna risposta|preferisco non rispondere|preferisco non dirlo|"
    "non applicabile|weet niet|weet ik niet|geen antwoord|geen mening|zeg ik liever niet|wil ik niet zeggen|"
    "niet van toepassing|n.v.t.|nvt|não sei|não sabe|sem resposta|prefiro não dizer|prefiro não responder|"
    "não se aplica"
)
_NUMBER_BEFORE = re.compile(r"-?\d{1,3}\s*[-\u2013=:.)]\s*(?=[^\W\d])")


def is_missing_text(text: str) -> bool:
    """Say whether a cell stands for a missing value in any file."""
    return text in MISSING or text.strip() in MISSING


def is_missing_sign(text: str) -> bool:
    """Say whether a sign stands for a missing value; "None" is Python's, "none" may be the lowest of a scale."""
    return text == "None" or text.strip().casefold() in SIGNS


def is_missing_word(text: str) -> bool:
    """Say whether a cell among numbers or dates says in words that there is no value."""
    return text in MISSING or text.strip().casefold() in WORDS or is_missing_sign(text) or is_no_answer(text)


def is_no_answer(text: str) -> bool:
    """Say whether an answer is none, such as "Don't know", "(refused)", "9 - no answer" or "Don't know / n.a."."""
    word = _NUMBER_BEFORE.sub("", plain_word(text), count=1).strip("()[] .*")
    parts = [part.strip() for part in word.split("/")]
    return word in NO_ANSWERS or (len(parts) > 1 and all(part in NO_ANSWERS or part in SIGNS for part in parts))


def is_plain_mark(text: str) -> bool:
    """Say whether a mark needs no mention."""
    return text in MISSING or text == "None"
