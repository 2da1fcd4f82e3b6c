"""What the name of a column suggests about its cells, in several languages."""

import re

_WORDS = re.compile(r"[^\W\d_]+|\d+|#")
_CAMEL = re.compile(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KEYS = _words(
    "id ids uuid guid key oid uid rowid identifier identifiant kennung iban isbn ean gtin sku ssn imei barcode "
    "hash mrn patientid customerid userid kundenid"
)
_FIRST = frozenset(("id", "uuid", "guid", "unnamed"))
_COUNTED = _words("no nr num number nummer numero número numéro nro #")
_JOINED = re.compile(r".*(?:nummer|nr|kennung|kennzeichen|schlüssel)")
_POSTAL = _words(
    "zip zipcode plz postleitzahl postcode postalcode postal npa cep codigopostal postnummer postnr kodpocztowy"
)
_PHONE = _words("phone telephone tel telefon fon mobile mobil handy cell téléphone teléfono telefono fax telefonnummer")
_CODES = _words("code codes kode código codice kategorie category type typ group gruppe")
_TEXT = _words(
    "comment comments remark remarks note notes description desc text message feedback review bemerkung "
    "bemerkungen kommentar kommentare anmerkung beschreibung notiz notizen commentaire commentaires remarque "
    "comentario comentarios commento opmerking observaciones title titel subject betreff answer freitext"
)
_PEOPLE = _words(
    "name names firstname lastname surname fullname vorname nachname nom prénom nombre apellido cognome naam "
    "nome email mail e-mail username login url link website address adresse address1 street straße strasse"
)
_RANKS = _words("rank ranking position pos platz rang place score percentile")
_TIMES = _words("year years jahr année año anno month day hour week age alter time zeit timestamp date datum")
_SERIAL = _words("row line record serial sequence seq lfd laufende zeile ligne fila riga index idx unnamed obs case")


def words_of(name: str) -> list[str]:
    """Split a name into lower-case words: customerID, customer_id and "Customer ID" have the same two."""
    return [word.casefold() for word in _WORDS.findall(_CAMEL.sub(" ", name))]


def names_a_key(name: str) -> bool:
    """Tell whether a name is that of an identifier, such as customer_id."""
    words = words_of(name)
    if not words or (len(words) == 2 and words[0] == "id" and words[1].isdigit()):  # ID1 is a gene
        return False
    return words[-1] in _KEYS or words[0] in _FIRST or "".join(words) in _KEYS


def names_a_number_of_something(name: str) -> bool:
    """Tell whether a name is that of numbers that stand for things, such as "invoice no", but not number_of_rooms."""
    words = words_of(name)
    if not words or words[0] in ("anzahl", "count"):
        return False
    joined = len(words[-1]) > 4 and _JOINED.fullmatch(words[-1]) is not None
    return joined or words[-1] in _COUNTED or words[0] in ("lfd", "laufende")


def names_postal_codes(name: str) -> bool:
    """Tell whether a name is that of postal codes."""
    words = words_of(name)
    return bool(_POSTAL.intersection(words)) or "".join(words) in _POSTAL


def names_phones(name: str) -> bool:
    """Tell whether a name is that of telephone numbers."""
    return bool(_PHONE.intersection(words_of(name)[-2:])) and "plan" not in words_of(name)


def names_codes(name: str) -> bool:
    """Tell whether a name is that of codes for groups, such as product_code."""
    words = words_of(name)
    return bool(words) and words[-1] in _CODES


def names_text(name: str) -> bool:
    """Tell whether a name is that of comments or other texts."""
    return bool(_TEXT.intersection(words_of(name)))


def names_people_or_places(name: str) -> bool:
    """Tell whether a name is that of names, addresses and the like, which are different in every row."""
    words = words_of(name)
    return bool(_PEOPLE.intersection(words)) or "".join(words) in _PEOPLE


def names_a_rank(name: str) -> bool:
    """Tell whether a name is that of a ranking: 1 to n, but with a meaning."""
    return bool(_RANKS.intersection(words_of(name)))


def names_a_time(name: str) -> bool:
    """Tell whether a name is that of years, ages or other times, which may count up without being row numbers."""
    return bool(_TIMES.intersection(words_of(name)))


def names_rows(name: str) -> bool:
    """Tell whether a name is that of the numbers of rows."""
    return bool(_SERIAL.intersection(words_of(name)))
