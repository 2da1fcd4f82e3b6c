"""What the name of a column suggests about its cells, in several languages."""

import re

_WORDS = re.compile(r"[^\W\d_]+|\d+|#")
_CAMEL = re.compile(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])")
_NUMBER_OF_THINGS = re.compile(r".*(?:nummer|nr|kennung|kennzeichen|schlüssel)")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KEYS = _words(
    "id ids uuid guid key oid uid rowid identifier identifiant kennung iban isbn ean gtin sku ssn imei barcode "
    "hash mrn patientid customerid userid kundenid"
)
_FIRST = _words("id uuid guid unnamed")
_COUNTED = _words("no nr num number nummer numero número numéro nro #")
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


def hints_of(name: str) -> frozenset[str]:
    """Return what the name of a column says about its cells.

    Parameters
    ----------
    name : str
        The name.

    Returns
    -------
    hints : frozenset of str
        "key": an identifier, such as customer_id. "number of things": stands for things, such as "invoice no", but not
        number_of_rooms. "postal codes", "telephone numbers", "codes" of groups, such as product_code. "text": comments
        and the like. "people or places": different in every row. "rank": 1 to n, but with a meaning. "time": years,
        ages and the like, which may count up without being row numbers. "row numbers".
    """
    words = words_of(name)
    if not words:
        return frozenset()
    some, whole, last = frozenset(words), "".join(words), words[-1]
    gene = len(words) == 2 and words[0] == "id" and words[1].isdigit()  # ID1
    counts = words[0] in ("anzahl", "count")
    joined = len(last) > 4 and _NUMBER_OF_THINGS.fullmatch(last) is not None
    found = {
        "key": not gene and (last in _KEYS or words[0] in _FIRST or whole in _KEYS),
        "number of things": not counts and (joined or last in _COUNTED or words[0] in ("lfd", "laufende")),
        "postal codes": bool(_POSTAL & some) or whole in _POSTAL,
        "telephone numbers": not _PHONE.isdisjoint(words[-2:]) and "plan" not in some,
        "codes": last in _CODES,
        "text": bool(_TEXT & some),
        "people or places": bool(_PEOPLE & some) or whole in _PEOPLE,
        "rank": bool(_RANKS & some),
        "time": bool(_TIMES & some),
        "row numbers": bool(_SERIAL & some),
    }
    return frozenset(hint for hint, fits in found.items() if fits)
