"""Messy files as banks, laboratories, institutes, web statistics and sales departments export them.

What an analyst finds in each column was written down before the files were read for the first time.
"""

import datetime

import numpy as np
from writing import (
    EPOCH,
    NBSP,
    Column,
    MessyFile,
    choice,
    dates,
    english,
    european,
    losing,
    numbers,
    ordered,
    people,
    plain,
    rounded,
    sentences,
    stream,
    texts,
)

ACCORD = ["Pas du tout d'accord", "Plutôt pas d'accord", "Ni d'accord ni pas d'accord", "Plutôt d'accord"]
ACCORD += ["Tout à fait d'accord"]
CONTENT = ["Très insatisfait", "Plutôt insatisfait", "Neutre", "Plutôt satisfait", "Très satisfait"]
AGES = ["Moins de 25 ans", "25-34 ans", "35-49 ans", "50-64 ans", "65 ans et plus"]
SIZES = ["1-10", "11-50", "51-200", "201-500", "501-1000", "1001+"]


def bank():
    """A German bank's list of bookings."""
    rng, n = stream("bank"), 320
    booked = 19000 + np.sort(rng.integers(0, 400, n))
    ibans = [f"DE{rng.integers(10, 99)} 3704 0044 {rng.integers(10**9, 10**10)} 00" for _ in range(n)]
    return MessyFile(
        "bank",
        [
            dates("Buchungstag", booked, "%d.%m.%Y"),
            dates("Wertstellung", booked + rng.integers(0, 3, n), "%d.%m.%y"),
            choice("Buchungsart", rng, n, ["Lastschrift", "Überweisung", "Kartenzahlung", "Dauerauftrag"]),
            texts("Auftraggeber/Empfänger", "identifier", people(rng, n)),
            texts("Verwendungszweck", "free text", sentences(rng, n, 0)),
            texts("IBAN", "identifier", ibans),
            choice("BIC", rng, n, ["COBADEFFXXX", "DEUTDEFF", "INGDDEFF", "GENODEF1"]),
            numbers("Betrag", rounded(rng.normal(-40, 900, n), 2), european(2)),
            numbers("Saldo", rounded(rng.normal(9000, 3000, n), 2), european(2, "", " EUR")),
            choice("Währung", rng, n, ["EUR"], "constant"),
            choice("Umsatz gebucht", rng, n, ["ja", "nein"], "yes/no", [0.9, 0.1]),
            losing(numbers("Zinssatz", rounded(rng.uniform(0, 4, n), 2), european(2, "", " %")), rng, mark="k.A."),
        ],
        ";",
    )


def blood():
    """A laboratory's table with units, limits of detection, titers and remarks."""
    rng, n = stream("blood"), 280
    titers = ["1:20", "1:40", "1:80", "1:160", "1:320"]
    taken = [datetime.datetime(2023, 1, 2, 8) + datetime.timedelta(minutes=int(m)) for m in rng.integers(0, 400000, n)]
    days = [moment.toordinal() - EPOCH + (moment.hour + moment.minute / 60) / 24 for moment in taken]
    return MessyFile(
        "blood",
        [
            texts("Sample", "identifier", [f"S-2023-{v:05d}" for v in rng.permutation(n)]),
            Column("Collected", "date", [f"{moment:%Y-%m-%dT%H:%M}" for moment in taken], days),
            numbers("Glucose", rounded(rng.normal(5.4, 0.9, n), 1), plain(1)),
            numbers("Potassium", rounded(rng.normal(4.1, 0.4, n), 2), lambda v: f"{v:.2f} mmol/L"),
            _limited("CRP", rounded(rng.lognormal(1, 1.8, n), 1), 0.6, 120.0, " mg/L"),
            _limited("Lead", rounded(rng.lognormal(0, 1, n), 2), 0.5, 30.0),
            losing(numbers("Ferritin", rng.integers(8, 900, n), plain(0)), rng, mark="not measured"),
            losing(numbers("HbA1c", rounded(rng.normal(5.6, 0.6, n), 1), lambda v: f"{v:.1f} %"), rng, mark="n.d."),
            texts("Titer", "ordered|category", rng.choice(titers, n)),
            ordered("Haemolysis", rng.integers(0, 4, n), ["none", "mild", "moderate", "severe"]),
            choice("Sex", rng, n, ["m", "f"]),
            choice("Fasting", rng, n, ["Y", "N"], "yes/no"),
            choice("Analyser", rng, n, ["A1", "A2", "B7"]),
            texts("Remark", "free text", sentences(rng, n, 0.5)),
        ],
    )


def _limited(name, values, low, high, unit=""):
    marks = ["<" if value < low else ">" if value > high else "" for value in values]
    read = [min(max(value, low), high) for value in values]
    return Column(name, "number", [f"{m}{v:g}{unit}" for m, v in zip(marks, read, strict=True)], read)


def sondage():
    """A French survey with answers that are none."""
    rng, n = stream("sondage"), 310
    asked = 19700 + rng.integers(0, 60, n)
    return MessyFile(
        "sondage",
        [
            texts("Identifiant", "identifier", [f"R{v:05d}" for v in rng.choice(99999, n, replace=False)]),
            dates("Date de réponse", asked, "%d/%m/%Y"),
            choice("Sexe", rng, n, ["Homme", "Femme", "Autre"], p=[0.48, 0.48, 0.04]),
            ordered("Tranche d'âge", rng.integers(0, 5, n), AGES),
            texts("Code postal", "identifier", [f"{v:05d}" for v in rng.integers(1000, 95999, n)]),
            losing(ordered("Le prix est juste", rng.integers(0, 5, n), ACCORD), rng, 0.06, "Ne sait pas"),
            losing(ordered("L'accueil est bon", rng.integers(0, 5, n), ACCORD), rng, 0.06, "Ne se prononce pas"),
            losing(ordered("Satisfaction", rng.integers(0, 5, n), CONTENT), rng, 0.06, "Sans opinion"),
            ordered("Achats en ligne", rng.integers(0, 5, n), ["Jamais", "Rarement", "Parfois", "Souvent", "Toujours"]),
            numbers("Recommandation (0-10)", rng.integers(0, 11, n), plain(0)),
            numbers("Revenu mensuel", rng.integers(9, 80, n) * 100, european(0, "", f"{NBSP}€", NBSP)),
            losing(numbers("Enfants", rng.integers(0, 5, n), plain(0)), rng, mark="préfère ne pas répondre"),
            choice("Propriétaire", rng, n, ["Oui", "Non"], "yes/no"),
            texts("Remarques", "free text", sentences(rng, n, 0.4)),
        ],
        ";",
    )


def web():
    """A page report of web statistics."""
    rng, n = stream("web"), 290
    seconds = rng.integers(4, 900, n)
    days = 19500 + rng.integers(0, 90, n)
    return MessyFile(
        "web",
        [
            texts("Page path", "identifier", [f"/articles/{v}/how-to-{v % 7}" for v in rng.permutation(n)]),
            dates("Date", days, "%Y%m%d"),
            choice("Source / Medium", rng, n, ["google / organic", "(direct) / (none)", "bing / cpc", "news / email"]),
            choice("Device Category", rng, n, ["desktop", "mobile", "tablet"]),
            numbers("Sessions", rng.integers(1, 9000, n), english(0)),
            numbers("Bounce Rate", rounded(rng.uniform(5, 95, n), 2), lambda v: f"{v:.2f}%"),
            Column(
                "Avg. Session Duration",
                "number",
                [f"{s // 3600:02d}:{s // 60 % 60:02d}:{s % 60:02d}" for s in seconds.tolist()],
                [s / 3600 for s in seconds.tolist()],
            ),
            numbers("Pages / Session", rounded(rng.uniform(1, 9, n), 2), plain(2)),
            numbers("Revenue", rounded(rng.uniform(0, 4000, n), 2), english(2, "$")),
            numbers("Conversion Rate", rounded(rng.uniform(0, 6, n), 2), lambda v: f"{v:.2f}%"),
            texts("Client ID", "identifier", [f"{a}.{b}" for a, b in rng.integers(10**8, 10**9, (n, 2))]),
        ],
    )


def crm():
    """Leads of a sales department, typed in by many hands."""
    rng, n = stream("crm"), 300
    created = 19400 + rng.integers(0, 300, n)
    patterns = ["%Y-%m-%d", "%b %d, %Y", "%d.%m.%Y", "%d %B %Y"]
    moments = [datetime.date.fromordinal(EPOCH + int(day)) for day in created]
    phones = ["+1 (415) 555-{:04d}", "0049 30 12{:05d}", "+44 20 7946 {:04d}", "(030) 55 {:04d} 1"]
    values = rng.integers(2, 400, n) * 250
    return MessyFile(
        "crm",
        [
            texts("Lead ID", "identifier", [f"00Q5g00000{v:05d}AAC" for v in rng.permutation(n)]),
            texts("Contact", "identifier", people(rng, n)),
            texts("Company", "identifier|category", [f"{rng.choice(list('ABCDE'))}{v} GmbH" for v in range(n)]),
            texts("Phone", "identifier", [rng.choice(phones).format(v) for v in rng.permutation(9999)[:n]]),
            texts("E-mail", "identifier", [f"lead{v}@example.org" for v in rng.permutation(n)]),
            Column(
                "Created",
                "date",
                [f"{moment:{rng.choice(patterns)}}" for moment in moments],
                [float(day) for day in created],
            ),
            numbers("Deal value", values, english(0, "USD ")),
            numbers("Discount", rng.integers(0, 7, n) * 5, lambda v: f"{v} %"),
            ordered("Employees", rng.integers(0, 6, n), SIZES),
            choice("Stage", rng, n, ["new", "contacted", "proposal", "won", "lost"]),
            choice("Owner", rng, n, ["Kim", "Lee", "Sam", "Alex"]),
            choice("Do not call", rng, n, ["TRUE", "FALSE"], "yes/no", [0.1, 0.9]),
            losing(numbers("Score", rng.integers(0, 101, n), plain(0)), rng, mark="TBD"),
            ordered("Priority", rng.integers(0, 3, n), ["Low", "Medium", "High"]),
            texts("Post code", "identifier", [f"SW{v % 20} {v % 9}AB{v}" for v in rng.permutation(n)]),
            texts("Notes", "free text", sentences(rng, n, 0.3)),
        ],
    )


FILES = (bank, blood, sondage, web, crm)
