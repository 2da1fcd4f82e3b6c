"""Messy files of clinics, laboratories, schools, surveys, stations and authorities."""

import numpy as np
from writing import (
    FIRST,
    MINUS,
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

AGREEMENT = ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"]
ZUSTIMMUNG = ["stimme gar nicht zu", "stimme eher nicht zu", "teils/teils", "stimme eher zu", "stimme voll zu"]


def limited(name, values, digits, low, high, unit=""):
    """Write values beyond the limits of a method as such."""
    cells, read = [], []
    for value in values:
        inside = low <= value <= high
        mark = "" if inside else "<" if value < low else ">"
        shown = min(max(round(float(value), digits), low), high)
        cells.append(f"{mark}{shown:g}{unit}")
        read.append(float(f"{shown:g}"))
    return Column(name, "number", cells, read)


def clinic():
    rng, n = stream("clinic"), 300
    return MessyFile(
        "clinic",
        [
            texts("patient_id", "identifier", [f"PAT-{v:05d}" for v in rng.choice(90000, n, replace=False)]),
            choice("sex", rng, n, ["female", "male"]),
            dates("date of birth", rng.integers(-12000, 12000, n), "%m/%d/%Y"),
            numbers("systolic", rng.integers(95, 190, n), plain(0)),
            losing(numbers("bmi", rounded(rng.normal(26, 4, n), 1), plain(1)), rng, mark="NA"),
            choice("smoker", rng, n, ["Yes", "No"], "yes/no"),
            choice("icd", rng, n, ["E11.9", "I10", "J45.0", "F32.1"]),
            limited("crp", rng.lognormal(0.5, 1.2, n), 1, 0.5, 50, " mg/l"),
            ordered("pain", rng.integers(0, 4, n), ["None", "Mild", "Moderate", "Severe"]),
            texts("notes", "free text", sentences(rng, n, 0.3)),
            choice("zip", rng, n, ["02138", "02139", "02140", "01902"], "category"),
        ],
    )


def laboratory():
    rng, n = stream("laboratory"), 280
    return MessyFile(
        "laboratory",
        [
            texts("Probe", "identifier", [f"S{v}" for v in rng.choice(10**5, n, replace=False)]),
            limited("PSA", rng.lognormal(0, 1.5, n), 2, 0.1, 100),
            losing(numbers("Glucose", rounded(rng.normal(5.4, 1, n), 1), lambda v: f"{v} mmol/l"), rng, mark="n.d."),
            losing(numbers("Ferritin", rng.integers(5, 900, n), plain(0)), rng, mark="not measured"),
            choice("Method", rng, n, ["ELISA", "PCR", "MS"]),
            numbers("Titer", 10.0 ** rng.integers(2, 7, n), lambda v: f"{v:.1E}"),
            choice("Hemolytic", rng, n, ["y", "n"], "yes/no"),
            numbers("Temp C", rounded(rng.normal(37, 0.5, n), 1), plain(1)),
            dates("Received", 19000 + rng.integers(0, 300, n), "%Y-%m-%dT00:00:00Z"),
        ],
    )


def genes():
    rng, n = stream("genes"), 200
    columns = [texts("gene", "identifier", [f"GENE{v}" for v in rng.choice(10**5, n, replace=False)])]
    columns += [
        losing(numbers(f"sample_{j}", rounded(rng.normal(8, 2, n), 4), plain(4)), rng, 0.02, "NA") for j in range(1, 9)
    ]
    return MessyFile(
        "genes", [*columns, numbers("pvalue", [10.0**-k for k in rng.integers(1, 12, n)], lambda v: f"{v:.0e}")], "\t"
    )


def school():
    rng, n = stream("school"), 210
    noten = ["ungenügend", "mangelhaft", "ausreichend", "befriedigend", "gut", "sehr gut"]
    grades = ["D", "C-", "C", "C+", "B-", "B", "B+", "A-", "A"]
    return MessyFile(
        "school",
        [
            texts("Pupil", "identifier", people(rng, n)),
            choice("Class", rng, n, ["7a", "7b", "8a", "8b"]),
            ordered("Grade", rng.integers(0, 9, n), grades),
            ordered("Deutsch", rng.integers(0, 6, n), noten),
            numbers("Points", rng.integers(0, 16, n), plain(0)),
            numbers("Attendance", rng.integers(60, 101, n), lambda v: f"{v}%"),
            choice("Lunch", rng, n, ["yes", "no"], "yes/no"),
            texts("Teacher comment", "free text", sentences(rng, n, 0.1)),
        ],
    )


def survey():
    rng, n = stream("survey"), 330
    columns = [texts("respondent", "running number", [str(i + 1) for i in range(n)])]
    columns += [losing(ordered(f"Q{j}", rng.integers(0, 5, n), AGREEMENT), rng) for j in range(1, 6)]
    columns += [
        ordered("How often", rng.integers(0, 5, n), ["Never", "Rarely", "Sometimes", "Often", "Always"]),
        ordered(
            "Satisfied", rng.integers(0, 4, n), ["very dissatisfied", "dissatisfied", "satisfied", "very satisfied"]
        ),
        ordered("Importance", rng.integers(0, 4, n), ["1 - none", "2 - little", "3 - some", "4 - much"]),
        choice("Gender", rng, n, ["woman", "man", "other"], p=[0.48, 0.48, 0.04]),
        texts("Other remarks", "free text", sentences(rng, n, 0.6)),
        dates("Submitted", 19000 + rng.integers(0, 60, n), "%d %B %Y"),
    ]
    return MessyFile("survey", columns)


def umfrage():
    rng, n = stream("umfrage"), 260
    columns = [texts("Lfd. Nr.", "running number|identifier", [str(i + 1) for i in range(n)])]
    columns += [ordered(f"Frage {j}", rng.integers(0, 5, n), ZUSTIMMUNG) for j in range(1, 5)]
    columns += [
        ordered("Häufigkeit", rng.integers(0, 5, n), ["nie", "selten", "manchmal", "oft", "immer"]),
        choice("Geschlecht", rng, n, ["weiblich", "männlich", "divers"], p=[0.49, 0.49, 0.02]),
        losing(numbers("Alter", rng.integers(16, 90, n), plain(0)), rng, mark="k.A."),
        losing(numbers("Einkommen", rng.integers(8, 120, n) * 100, european(0, "", " €")), rng, mark="keine Angabe"),
        choice("Newsletter", rng, n, ["Ja", "Nein"], "yes/no"),
        texts("Anmerkungen", "free text", sentences(rng, n, 0.5)),
    ]
    return MessyFile("umfrage", columns, ";")


def sensors():
    rng, n = stream("sensors"), 350
    minutes = np.sort(rng.choice(60 * 24 * 30, n, replace=False))
    stamps = [f"2023-05-{1 + m // 1440:02d}T{m // 60 % 24:02d}:{m % 60:02d}:00" for m in minutes]
    days = [float(19478 + m / 1440) for m in minutes]
    return MessyFile(
        "sensors",
        [
            Column("timestamp", "date", stamps, days),
            choice("device_id", rng, n, ["dev-01", "dev-02", "dev-03"], "category"),
            numbers("temperature", rounded(rng.normal(4, 9, n), 1), lambda v: f"{v} °C".replace("-", MINUS)),
            numbers("humidity", rng.integers(10, 100, n), lambda v: f"{v} %"),
            numbers("pressure", rounded(rng.normal(1013, 8, n), 2), plain(2)),
            numbers("voltage", rounded(rng.normal(3.3, 0.05, n), 3), lambda v: f"{v:.3f} V"),
            choice("status", rng, n, ["OK", "WARN", "FAIL"], p=[0.8, 0.15, 0.05]),
            choice("firmware", rng, n, ["2.4.1"], "constant"),
            choice("door", rng, n, ["on", "off"], "yes/no"),
        ],
    )


def meters():
    rng, n = stream("meters"), 240
    return MessyFile(
        "meters",
        [
            texts("Zählernummer", "identifier", [f"{v:010d}" for v in rng.choice(10**9, n, replace=False)]),
            numbers("Verbrauch", rounded(rng.uniform(500, 90000, n), 1), european(1, "", " kWh", " ")),
            choice("Tarif", rng, n, ["HT", "NT", "Flex"]),
            dates("Ablesung", 18800 + rng.integers(0, 360, n), "%Y%m%d"),
            numbers("Baujahr", rng.integers(1950, 2022, n), plain(0)),
            numbers("Fläche", rounded(rng.uniform(30, 400, n), 2), european(2)),
            choice("Wärmepumpe", rng, n, ["wahr", "falsch"], "yes/no"),
        ],
        ";",
    )


def counties():
    rng, n = stream("counties"), 300
    fahrenheit = rng.integers(20, 90, n)
    return MessyFile(
        "counties",
        [
            texts("FIPS", "identifier", [f"{v:05d}" for v in rng.choice(np.arange(1001, 56045), n, replace=False)]),
            texts("county name", "identifier", [f"{f} County {i}" for i, f in enumerate(rng.choice(FIRST, n))]),
            choice("state", rng, n, ["AL", "TX", "NY", "CA", "OH"]),
            numbers("population", rng.integers(400, 3_000_000, n), english(0)),
            numbers("median income", rng.integers(28000, 120000, n), english(0, "$")),
            numbers("poverty", rounded(rng.uniform(3, 40, n), 1), lambda v: f"{v}%"),
            numbers("temp F", fahrenheit, plain(0)),
            numbers("temp K", rounded((fahrenheit - 32) / 1.8 + 273.15, 2), plain(2), "near-duplicate"),
            ordered("density", rng.integers(0, 3, n), ["Low", "Medium", "High"]),
        ],
    )


def universities():
    rng, n = stream("universities"), 200
    return MessyFile(
        "universities",
        [
            numbers("world rank", np.arange(1, n + 1), plain(0)),
            texts("institution", "identifier", [f"University of {f} {i}" for i, f in enumerate(rng.choice(FIRST, n))]),
            choice("country", rng, n, ["US", "UK", "DE", "FR", "CN"]),
            numbers("score", rounded(np.sort(rng.uniform(20, 100, n))[::-1], 1), plain(1)),
            numbers("students", rng.integers(700, 60000, n), english(0)),
            numbers("students per staff", rounded(rng.uniform(3, 40, n), 1), plain(1)),
            numbers("international", rng.integers(1, 60, n), lambda v: f"{v}%"),
            numbers("founded", rng.integers(1200, 1990, n), plain(0)),
        ],
    )


def weblog():
    rng, n = stream("weblog"), 320
    seconds = np.sort(rng.choice(86400 * 5, n, replace=False))
    stamps = [
        f"2024-02-{1 + s // 86400:02d} {s // 3600 % 24:02d}:{s // 60 % 60:02d}:{s % 60:02d}+01:00" for s in seconds
    ]
    return MessyFile(
        "weblog",
        [
            texts(
                "session", "identifier", [f"{a:08x}-{b:04x}" for a, b in rng.integers(0, 2**16, (n, 2)) * [60000, 1]]
            ),
            Column("time", "date", stamps, [19754 + (s - 3600) / 86400 for s in seconds.tolist()]),
            texts(
                "url",
                "identifier",
                [f"https://example.com/p/{v}?q={v % 17}" for v in rng.choice(10**5, n, replace=False)],
            ),
            numbers("bytes", rng.integers(200, 90000, n), plain(0)),
            choice("status code", rng, n, [200, 301, 404, 500], "category"),
            choice("method", rng, n, ["GET", "POST"]),
            numbers("duration", rng.integers(2, 3000, n), lambda v: f"{v} ms"),
            texts("ip", "identifier", [f"10.{a}.{b}.{c}" for a, b, c in rng.integers(0, 255, (n, 3))]),
        ],
    )


def weather():
    rng, n = stream("weather"), 300
    return MessyFile(
        "weather",
        [
            choice("Stations_ID", rng, n, ["00044", "00073", "00164"], "category"),
            dates("Datum", 16000 + rng.integers(0, 3000, n), "%d.%m.%y"),
            numbers("Temperatur", rounded(rng.normal(8, 9, n), 1), european(1)),
            numbers("Niederschlag", rounded(rng.exponential(2, n), 1), european(1, "", " mm")),
            choice("Windrichtung", rng, n, ["N", "O", "S", "W"]),
            losing(numbers("Luftdruck", rounded(rng.normal(1010, 9, n), 1), european(1, group="")), rng, mark="--"),
            ordered("Bewölkung", rng.integers(0, 3, n), ["gering", "mittel", "hoch"]),
        ],
        ";",
    )


def trial():
    rng, n = stream("trial"), 230
    return MessyFile(
        "trial",
        [
            texts("Subject ID", "identifier", [f"{v}" for v in rng.choice(9000, n, replace=False) + 1000]),
            choice("Arm", rng, n, ["placebo", "drug A", "drug B"]),
            numbers("Dose", rng.choice([25, 50, 100], n), lambda v: f"{v} mg"),
            dates("Visit", 18900 + rng.integers(0, 400, n), "%d %b %Y"),
            ordered("Severity", rng.integers(0, 3, n), ["mild", "moderate", "severe"]),
            choice("Responder", rng, n, ["YES", "NO"], "yes/no"),
            losing(numbers("Weight", rounded(rng.normal(75, 12, n), 1), lambda v: f"{v} kg"), rng, mark="unknown"),
            numbers("Change", rounded(rng.normal(0, 6, n), 1), lambda v: f"{v:+.1f}"),
            limited("Viral load", rng.lognormal(6, 2, n), 0, 20, 10000),
            choice("Site", rng, n, [101, 102, 103, 104], "number|category"),
        ],
    )


def bank():
    rng, n = stream("bank"), 300
    return MessyFile(
        "bank",
        [
            numbers("age", rng.integers(18, 90, n), plain(0)),
            choice("job", rng, n, ["admin", "technician", "student", "retired", "blue-collar"]),
            ordered("education", rng.integers(0, 3, n), ["primary", "secondary", "tertiary"]),
            choice("default", rng, n, ["yes", "no"], "yes/no"),
            numbers("balance", rng.integers(-900, 30000, n), plain(0)),
            choice("month", rng, n, ["mar", "apr", "may", "jun"], "category|ordered"),
            numbers("duration", rng.integers(4, 3000, n), plain(0)),
            numbers("campaign", rng.integers(1, 20, n), plain(0)),
            choice("contact", rng, n, ["cellular", "telephone", "unknown"]),
        ],
        ";",
    )


FILES = (
    clinic,
    laboratory,
    genes,
    school,
    survey,
    umfrage,
    sensors,
    meters,
    counties,
    universities,
    weblog,
    weather,
    trial,
    bank,
)
