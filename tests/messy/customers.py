"""A table of customers as a shop would export it, with four true segments."""

import csv
from datetime import date, timedelta
from pathlib import Path

import numpy as np

SHARES = (0.4, 0.3, 0.2, 0.1)
KINDS = {  # what a careful analyst finds in each column
    "customer_id": "identifier",
    "nr": "running number",
    "signup": "date",
    "last order": "date",
    "revenue": "number",
    "discount": "number",
    "visits": "number",
    "zip": "identifier",
    "comment": "free text",
    "newsletter": "yes/no",
    "channel": "category",
    "satisfaction": "ordered",
    "age": "number",
    "return rate": "number",
    "orders": "number",
    "basket": "number",
    "country": "constant",
    "status": "ordered",
}
CHANNELS = ("app", "web", "store", "phone")
CHANNEL_SHARES = ((0.7, 0.2, 0.05, 0.05), (0.15, 0.7, 0.1, 0.05), (0.05, 0.15, 0.7, 0.1), (0.05, 0.1, 0.15, 0.7))
ANSWERS = ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied")
STATUSES = ("bronze", "silver", "gold")
PHRASES = (
    "please call before delivery",
    "asked for an invoice by mail",
    "moved to a new address last year",
    "complained about a late parcel",
    "wants to hear about the new collection",
    "recommended us to a friend",
)
MEANS = {  # of each segment
    "revenue": (300, 1200, 4000, 15000),  # euros, of a lognormal
    "discount": (14.0, 8.0, 4.0, 1.5),
    "visits": (4000, 1500, 500, 12000),
    "age": (25, 38, 55, 47),
    "return rate": (28.0, 15.0, 6.0, 3.0),
    "orders": (6, 14, 20, 60),
    "basket": (35, 70, 140, 230),
    "days": (200, 800, 1800, 1300),  # since signup
}


def draw_customers(n_rows=20_000, seed=0):
    """Draw the table: names, rows of texts, and the segment of each row."""
    rng = np.random.default_rng(seed)
    segments = rng.choice(4, size=n_rows, p=SHARES)
    mean = {name: np.array(values, dtype=float)[segments] for name, values in MEANS.items()}
    revenue = mean["revenue"] * np.exp(rng.normal(0, 0.25, n_rows))
    visits = np.rint(mean["visits"] * np.exp(rng.normal(0, 0.3, n_rows))).astype(int)
    basket = mean["basket"] * np.exp(rng.normal(0, 0.15, n_rows))
    signup = [date(2024, 12, 31) - timedelta(int(d)) for d in mean["days"] + rng.normal(0, 60, n_rows)]
    last = [date(2024, 12, 31) - timedelta(int(d)) for d in rng.exponential(40, n_rows)]
    channel = [CHANNELS[rng.choice(4, p=CHANNEL_SHARES[s])] for s in segments]
    answers = np.clip(np.rint(segments + rng.normal(0.5, 0.6, n_rows)), 0, 4).astype(int)
    status = np.clip(np.rint(segments / 1.5 + rng.normal(0, 0.3, n_rows)), 0, 2).astype(int)
    age = np.clip(np.rint(mean["age"] + rng.normal(0, 4, n_rows)), 18, 90).astype(int)
    rate = np.abs(mean["return rate"] + rng.normal(0, 2, n_rows))
    orders = rng.poisson(mean["orders"])
    rows = [
        [
            f"C-{100_000 + int(rng.integers(800_000)) * 3 % 899_999:06d}-{i:05d}",
            str(i + 1),
            f"{signup[i]:%d.%m.%Y}",
            f"{last[i]:%Y-%m-%d}",
            euros(revenue[i]),
            f"{mean['discount'][i] + rng.normal(0, 1):.1f}%",
            f"{visits[i]:,}",
            f"{int(rng.integers(1001, 99999)):05d}",
            _comment(rng),
            ("nein", "ja")[int(rng.random() < 0.3 + 0.1 * segments[i])],
            channel[i],
            ANSWERS[answers[i]],
            str(age[i]),
            f"{rate[i]:.1f} %",
            str(orders[i]),
            euros(basket[i]),
            "DE",
            STATUSES[status[i]],
        ]
        for i in range(n_rows)
    ]
    _lose_cells(rows, rng)
    return list(KINDS), rows, segments


def euros(value):
    """Write an amount as in Germany."""
    return f"{value:,.2f} €".translate(str.maketrans(",.", ".,"))


def _comment(rng):
    if rng.random() < 0.6:
        return ""
    first, second = rng.choice(len(PHRASES), 2, replace=False)
    return f"{PHRASES[first]}; {PHRASES[second]}, {int(rng.integers(1, 400))} days ago"


def _lose_cells(rows, rng):
    """Leave cells empty, or mark them as missing in one of the usual ways."""
    marks = {"age": "", "satisfaction": "NA", "basket": "", "channel": "", "last order": "", "discount": "-"}
    for name, mark in marks.items():
        j = list(KINDS).index(name)
        for i in np.flatnonzero(rng.random(len(rows)) < 0.04):
            rows[i][j] = mark


def write_customers(path, n_rows=20_000, seed=0):
    """Write the table as CSV, and return the segments."""
    names, rows, segments = draw_customers(n_rows, seed)
    with Path(path).open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([names, *rows])
    return segments
