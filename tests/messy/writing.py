"""Columns of messy files: the cells as people write them, the numbers they stand for, and the kind of the column."""

import csv
import datetime
from typing import NamedTuple

import numpy as np

NBSP, THIN, MINUS = "\u00a0", "\u202f", "\u2212"
EPOCH = datetime.date(1970, 1, 1).toordinal()


class Column(NamedTuple):
    """A column, what a careful analyst would call it, and its numbers: None where there are none to compare."""

    name: str
    kind: str  # several that are as good are separated by |
    cells: list
    values: list | None = None


class MessyFile(NamedTuple):
    """A file to read, with its separator."""

    name: str
    columns: list
    delimiter: str = ","

    def write(self, folder):
        path = folder / f"{self.name}.csv"
        with path.open("w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out, delimiter=self.delimiter)
            writer.writerow([column.name for column in self.columns])
            writer.writerows(zip(*(column.cells for column in self.columns), strict=True))
        return path


def stream(name):
    """Return a generator of random numbers that belongs to a file."""
    return np.random.default_rng(list(name.encode()))


def numbers(name, values, write, kind="number"):
    """Write numbers; each is compared with what was written, rounded as it was."""
    cells = [write(value) for value in values]
    return Column(name, kind, cells, [float(value) for value in values])


def rounded(values, digits):
    return [round(float(value), digits) for value in values]


def plain(digits):
    return lambda value: f"{value:.{digits}f}"


def english(digits=2, before="", after=""):
    return lambda value: f"{before}{value:,.{digits}f}{after}"


def european(digits=2, before="", after="", group="."):
    def write(value):
        text = f"{value:,.{digits}f}".replace(",", "_").replace(".", ",").replace("_", group)
        return f"{before}{text}{after}"

    return write


def swiss(digits=2, before="", after=""):
    return lambda value: f"{before}{value:,.{digits}f}{after}".replace(",", "'")


def dates(name, days, pattern, kind="date"):
    """Write dates, given as days since 1970."""
    moments = [datetime.date.fromordinal(EPOCH + int(day)) for day in days]
    return Column(name, kind, [f"{moment:{pattern}}" for moment in moments], [float(int(day)) for day in days])


def ordered(name, ranks, words):
    """Write ranks from 0 as words."""
    return Column(name, "ordered", [words[rank] for rank in ranks], [float(rank) for rank in ranks])


def choice(name, rng, n, levels, kind="category", p=None):
    return Column(name, kind, [str(level) for level in rng.choice(levels, n, p=p)])


def texts(name, kind, cells):
    return Column(name, kind, list(cells))


def losing(column, rng, share=0.05, mark=""):
    """Lose some cells of a column."""
    lost = rng.random(len(column.cells)) < share
    cells = [mark if gone else cell for cell, gone in zip(column.cells, lost, strict=True)]
    values = column.values
    if values is not None:
        values = [np.nan if gone else value for value, gone in zip(values, lost, strict=True)]
    return column._replace(cells=cells, values=values)


def _words(text):
    return text.split()


FIRST = _words("Anna Ben Clara David Emma Felix Greta Hugo Ida Jonas Klara Leo Mia Noah Olga Paul Rosa Sven Tina Ulf")
LAST = _words("Adler Berg Conti Dubois Evans Fischer Garcia Hansen Ito Jansen Keller Lopez Meyer Novak Olsen Petit")
WORDS = _words("the delivery was late but staff very friendly and package arrived in good condition would order again")


def people(rng, n):
    return [f"{rng.choice(FIRST)} {rng.choice(LAST)}-{rng.choice(LAST)}" for _ in range(n)]


def sentences(rng, n, empty=0.2):
    return ["" if rng.random() < empty else " ".join(rng.choice(WORDS, rng.integers(5, 14))) for _ in range(n)]
