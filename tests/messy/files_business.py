"""Messy files of shops, banks, offices and carriers."""

from writing import (
    MINUS,
    NBSP,
    THIN,
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
    swiss,
    texts,
)


def finance():
    rng, n = stream("finance"), 300
    amount = rounded(rng.normal(0, 900, n), 2)
    return MessyFile(
        "finance",
        [
            texts("Transaction ID", "identifier", [f"TX{i:07d}" for i in rng.permutation(n) + 4_000_000]),
            dates("Booked", 18000 + rng.integers(0, 900, n), "%m/%d/%Y"),
            numbers("Amount", amount, lambda v: f"(${-v:,.2f})" if v < 0 else f"${v:,.2f}"),
            numbers("Balance", rounded(rng.normal(9000, 4000, n), 2), english(2, "$")),
            texts("Account", "identifier", [str(v) for v in rng.choice(9 * 10**9, n, replace=False) + 10**9]),
            choice("Type", rng, n, ["card", "transfer", "cash", "fee"]),
            choice("Currency", rng, n, ["USD"], "constant"),
            choice("Disputed", rng, n, ["Y", "N"], "yes/no", [0.1, 0.9]),
            texts("Memo", "free text", sentences(rng, n)),
        ],
    )


def staff():
    rng, n = stream("staff"), 240
    return MessyFile(
        "staff",
        [
            texts("Employee No", "identifier", [str(v) for v in rng.choice(90000, n, replace=False) + 10000]),
            texts("Name", "identifier", people(rng, n)),
            texts("Email", "identifier", [f"user{i}@example.com" for i in rng.permutation(n)]),
            dates("Hired", 15000 + rng.integers(0, 4000, n), "%d/%m/%Y"),
            numbers("Salary", rng.integers(28, 190, n) * 500, english(0, "£")),
            choice("Department", rng, n, ["Sales", "R&D", "HR", "Finance", "Support"]),
            ordered("Level", rng.integers(0, 3, n), ["Junior", "Mid", "Senior"]),
            choice("Remote", rng, n, ["yes", "no"], "yes/no"),
            losing(numbers("Rating", rng.integers(1, 6, n), plain(0)), rng, mark="n/a"),
            numbers("FTE", rng.choice([50, 60, 80, 100], n), lambda v: f"{v}%"),
        ],
    )


def real_estate():
    rng, n = stream("real estate"), 260
    return MessyFile(
        "real_estate",
        [
            texts("Objekt-Nr.", "identifier", [f"IM-{v}" for v in rng.choice(90000, n, replace=False)]),
            numbers("Kaufpreis", rng.integers(90, 1900, n) * 1000, european(0, "", " €")),
            numbers("Wohnfläche", rounded(rng.uniform(25, 220, n), 1), european(1, "", " m²")),
            numbers("Zimmer", rng.integers(2, 14, n) / 2, european(1)),
            numbers("Baujahr", rng.integers(1890, 2024, n), plain(0)),
            texts("PLZ", "identifier", [f"{v:05d}" for v in rng.integers(1067, 99998, n)]),
            choice("Ort", rng, n, ["Leipzig", "Dresden", "Chemnitz", "Halle"]),
            choice("Balkon", rng, n, ["ja", "nein"], "yes/no"),
            ordered("Zustand", rng.integers(0, 5, n), ["sehr schlecht", "schlecht", "mittel", "gut", "sehr gut"]),
            texts("Beschreibung", "free text", sentences(rng, n, 0)),
        ],
        ";",
    )


def shop():
    rng, n = stream("shop"), 320
    return MessyFile(
        "shop",
        [
            texts("order_id", "identifier", [str(v) for v in 500_000 + rng.permutation(n)]),
            texts("sku", "identifier", [f"{v:08d}" for v in rng.integers(0, 10**8, n)]),
            numbers("quantity", rng.integers(1, 9, n), plain(0)),
            numbers("price", rounded(rng.uniform(3, 2500, n), 2), european(2, "€ ")),
            numbers("discount", rng.integers(0, 9, n) * 5, lambda v: f"{v} %"),
            choice("paid", rng, n, ["True", "False"], "yes/no"),
            ordered("size", rng.integers(0, 5, n), ["XS", "S", "M", "L", "XL"]),
            dates("shipped", 19000 + rng.integers(0, 700, n), "%Y-%m-%d 00:00:00"),
            choice("coupon", rng, n, ["SPRING", "FRIENDS", "NEWS10"]),
            choice("store_id", rng, n, [3, 7, 12, 40], "category"),
            numbers("weight", rounded(rng.uniform(0.1, 30, n), 1), lambda v: f"{v:.1f}kg"),
        ],
    )


def france():
    rng, n = stream("france"), 280
    return MessyFile(
        "france",
        [
            texts("Numéro client", "identifier", [f"FR{v}" for v in rng.choice(90000, n, replace=False)]),
            numbers("Chiffre d'affaires", rounded(rng.uniform(200, 90000, n), 2), european(2, "", f"{NBSP}€", THIN)),
            numbers("Remise", rounded(rng.uniform(0, 30, n), 1), european(1, "", f"{NBSP}%")),
            dates("Date d'inscription", 17500 + rng.integers(0, 1500, n), "%d/%m/%Y"),
            choice("Abonné", rng, n, ["oui", "non"], "yes/no"),
            texts("Département", "category|identifier", [f"{v:02d}" for v in rng.integers(1, 20, n)]),
            ordered("Achats", rng.integers(0, 5, n), ["jamais", "rarement", "parfois", "souvent", "toujours"]),
            texts("Commentaire", "free text", sentences(rng, n)),
            losing(numbers("Âge", rng.integers(18, 90, n), plain(0)), rng, mark="inconnu"),
        ],
        ";",
    )


def switzerland():
    rng, n = stream("switzerland"), 250
    return MessyFile(
        "switzerland",
        [
            texts("Police Nr.", "identifier", [f"{v}" for v in rng.choice(9 * 10**6, n, replace=False) + 10**6]),
            numbers("Prämie", rounded(rng.uniform(300, 9000, n), 2), swiss(2, "CHF ")),
            numbers("Schaden", rng.integers(0, 90, n) * 250, lambda v: f"{v:,.0f}.\u2013".replace(",", "\u2019")),
            dates("Beginn", 17000 + rng.integers(0, 2000, n), "%d.%m.%Y"),
            choice("Kanton", rng, n, ["ZH", "BE", "VD", "TI", "GE"]),
            texts("PLZ", "identifier|category", [str(v) for v in rng.integers(1000, 9700, n)]),
            choice("Raucher", rng, n, ["Ja", "Nein"], "yes/no"),
            numbers("Selbstbehalt", rng.choice([300, 500, 1000, 2500], n), swiss(0)),
        ],
        ";",
    )


def logistics():
    rng, n = stream("logistics"), 270
    minutes = rng.integers(0, 20 * 60, n)
    return MessyFile(
        "logistics",
        [
            texts("Shipment number", "identifier", [str(v) for v in rng.choice(10**6, n, replace=False)]),
            dates("Departure", 18500 + rng.integers(0, 500, n), "%d-%b-%y"),
            dates("Arrival", 18500 + rng.integers(0, 500, n), "%Y-%m-%d"),
            numbers("Weight", rng.integers(20, 24000, n), english(0, "", " kg")),
            numbers("Distance", rounded(rng.uniform(5, 900, n), 1), plain(1)),
            choice("Express", rng, n, ["Y", "N"], "yes/no"),
            choice("Carrier", rng, n, ["DHL", "UPS", "GLS", "DPD"]),
            texts("Delay", "number", [f"{m // 60:02d}:{m % 60:02d}" for m in minutes])._replace(
                values=[m / 60 for m in minutes.tolist()]
            ),
            texts(
                "Phone", "identifier", [f"+49 {rng.integers(100, 999)} {rng.integers(10**6, 10**7)}" for _ in range(n)]
            ),
        ],
    )


def insurance():
    rng, n = stream("insurance"), 300
    bands = ["18-25", "26-35", "36-50", "51-65", "66+"]
    return MessyFile(
        "insurance",
        [
            texts("policy_id", "identifier", [f"P{v:06d}" for v in rng.choice(900000, n, replace=False)]),
            ordered("age band", rng.integers(0, 5, n), bands),
            numbers("car value", rng.integers(2, 90, n) * 500, english(0)),
            choice("claim", rng, n, ["yes", "no"], "yes/no"),
            choice("region", rng, n, ["North", "South", "East", "West"]),
            numbers("premium", rounded(rng.uniform(150, 2600, n), 2), english(2, "$ ")),
            dates("start", 18000 + rng.integers(0, 900, n), "%m/%d/%Y"),
            numbers("km per year", rng.integers(2, 60, n) * 1000, lambda v: f"{v:,d} km"),
            choice("gender", rng, n, ["m", "f"]),
        ],
    )


def spain():
    rng, n = stream("spain"), 260
    words = ["totalmente en desacuerdo", "en desacuerdo", "indiferente", "de acuerdo", "totalmente de acuerdo"]
    return MessyFile(
        "spain",
        [
            texts("ID cliente", "identifier", [str(v) for v in rng.choice(10**5, n, replace=False)]),
            numbers("Importe", rounded(rng.uniform(10, 20000, n), 2), european(2, "", " EUR")),
            choice("Socio", rng, n, ["sí", "no"], "yes/no"),
            dates("Fecha", 18200 + rng.integers(0, 700, n), "%d/%m/%Y"),
            ordered("Satisfacción", rng.integers(0, 5, n), words),
            choice("Provincia", rng, n, ["Madrid", "Sevilla", "Valencia"]),
            numbers("Descuento", rounded(rng.uniform(0, 40, n), 1), european(1, "", "%")),
            texts("Código postal", "identifier|category", [f"{v:05d}" for v in rng.integers(1001, 52999, n)]),
        ],
        ";",
    )


def italy():
    rng, n = stream("italy"), 240
    return MessyFile(
        "italy",
        [
            texts("Codice", "identifier", [f"IT{v:05d}X" for v in rng.choice(90000, n, replace=False)]),
            numbers("Fatturato", rounded(rng.uniform(100, 80000, n), 2), european(2, "€ ")),
            choice("Attivo", rng, n, ["sì", "no"], "yes/no"),
            dates("Data", 18200 + rng.integers(0, 700, n), "%d/%m/%Y"),
            ordered("Rischio", rng.integers(0, 3, n), ["basso", "medio", "alto"]),
            choice("Regione", rng, n, ["Lazio", "Veneto", "Toscana", "Sicilia"]),
            numbers("Dipendenti", rng.integers(1, 400, n), plain(0)),
        ],
        ";",
    )


def netherlands():
    rng, n = stream("netherlands"), 300
    return MessyFile(
        "netherlands",
        [
            texts("gemeente", "identifier", [f"Gemeente {a}{i}" for i, a in enumerate(rng.choice(list("ABCDEFG"), n))]),
            numbers("inwoners", rng.integers(300, 250000, n), european(0)),
            numbers("aandeel", rounded(rng.uniform(0, 60, n), 1), european(1, "", "%")),
            choice("stedelijk", rng, n, ["ja", "nee"], "yes/no"),
            choice("provincie", rng, n, ["Utrecht", "Drenthe", "Zeeland", "Limburg"]),
            numbers("saldo", rounded(rng.normal(0, 500, n), 1), lambda v: european(1)(v).replace("-", MINUS)),
        ],
        ";",
    )


def inventory():
    rng, n = stream("inventory"), 220
    return MessyFile(
        "inventory",
        [
            texts("Item code", "identifier", [f"{v:07d}" for v in rng.choice(10**6, n, replace=False)]),
            choice("Warehouse", rng, n, ["W1"], "constant"),
            texts("Remarks", "empty", [""] * n),
            numbers("Stock", rng.integers(0, 4000, n), plain(0)),
            losing(numbers("Minimum", rng.integers(0, 50, n) * 10, plain(0)), rng, mark="-"),
            dates("Last count", 19000 + rng.integers(0, 300, n), "%b %d, %Y"),
            choice("Supplier", rng, n, ["Acme", "Bolt & Co", "Nut Ltd", "Gear GmbH"]),
            numbers("Unit price", rounded(rng.uniform(0.05, 90, n), 2), english(2, "$")),
            choice("Discontinued", rng, n, ["x", ""], "constant|yes/no", [0.1, 0.9]),
            ordered("Demand", rng.integers(0, 3, n), ["low", "medium", "high"]),
        ],
    )


def hotel():
    rng, n = stream("hotel"), 260
    months = rng.integers(0, 30, n)
    return MessyFile(
        "hotel",
        [
            texts("Unnamed: 0", "running number|identifier", [str(i) for i in range(n)]),
            texts("review", "free text", sentences(rng, n, 0)),
            numbers("score", rounded(rng.uniform(1, 10, n), 1), plain(1)),
            texts("stay", "date", [f"{_MONTHS[m % 10]} {2020 + m // 10}" for m in months]),
            numbers("price", rng.integers(40, 600, n), lambda v: f"$ {v}"),
            choice("country", rng, n, ["Spain", "Italy", "Japan", "Peru", "Kenya"]),
            choice("verified", rng, n, ["true", "false"], "yes/no"),
            numbers("nights", rng.integers(1, 15, n), lambda v: f"{v} nights"),
        ],
    )


_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")

FILES = (
    finance,
    staff,
    real_estate,
    shop,
    france,
    switzerland,
    logistics,
    insurance,
    spain,
    italy,
    netherlands,
    inventory,
    hotel,
)
