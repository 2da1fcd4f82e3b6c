"""What people write into cells that have no value."""


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


def is_missing_text(text: str) -> bool:
    """Say whether a cell stands for a missing value in any file."""
    return text in MISSING or text.strip() in MISSING


def is_missing_sign(text: str) -> bool:
    """Say whether a sign stands for a missing value; "None" is Python's, "none" may be the lowest of a scale."""
    return text == "None" or text.strip().casefold() in SIGNS


def is_missing_word(text: str) -> bool:
    """Say whether a cell among numbers or dates says in words that there is no value."""
    return text in MISSING or text.strip().casefold() in WORDS or is_missing_sign(text)


def is_plain_mark(text: str) -> bool:
    """Say whether a mark needs no mention."""
    return text in MISSING or text == "None"
