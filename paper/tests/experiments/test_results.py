"""The documents show what the committed summaries say, and the theory's predictions, which are computed anew."""

import re
import shutil
from pathlib import Path

import pytest

from paper.datasets import UCI_NAMES
from paper.experiments import theory, theory_figures
from paper.experiments.simulations import read_outcomes
from paper.experiments.summary import Results
from paper.experiments.tables import TABLES, refresh, simulation_table

PAPER = Path(__file__).parents[2]
RESULTS = PAPER / "results"
NEED_DATA = ("datasets", "profile")


def assert_document_stays(tables, tmp_path):
    document = tmp_path / "page.md"
    shutil.copy(PAPER / "README.md", document)
    refresh(document, tables)
    assert document.read_text(encoding="utf-8") == (PAPER / "README.md").read_text(encoding="utf-8")


def test_tables_are_those_of_the_summaries(tmp_path):
    results = Results.read(RESULTS / "scores.csv")
    tables = {name: table(results) for name, table in TABLES.items() if name not in NEED_DATA}
    assert_document_stays(
        tables | {"simulations": simulation_table(read_outcomes(RESULTS / "simulations.csv"))}, tmp_path
    )


def test_tables_of_the_data_sets_are_those_of_the_data(tmp_path, uci):
    for name in UCI_NAMES:
        uci(name)
    results = Results.read(RESULTS / "scores.csv")
    assert_document_stays({name: TABLES[name](results) for name in NEED_DATA}, tmp_path)


# Columns that do not depend on random numbers.
EXACT = {
    "theorem1": [0, 1, 2, 3, 5],
    "theorem1_weak_features": [0, 1, 2, 3, 4],
    "lemma1": [0, 1, 2, 5, 7],
    "expansions": [0, 1, 2, 3],
    "lemma3": [0],
    "remarks": [0, 1, 2, 3],
    "theorem2": [0, 1, 2, 5, 6, 7, 8, 9],
    "slopes": [0, 1, 2, 7, 8],
}


@pytest.fixture
def short(monkeypatch):
    """Run few trials of each simulation, and of each setting the two smallest tables."""
    grid = tuple((gamma, sigma, sizes[:2]) for gamma, sigma, sizes in theory.RATE_GRID)
    for module in (theory, theory_figures):
        monkeypatch.setattr(module, "RATE_GRID", grid)
        for name in [name for name in vars(module) if name.startswith("simulate_")]:
            simulate = getattr(module, name)
            monkeypatch.setattr(module, name, few_trials(simulate))
    monkeypatch.setattr(theory, "_lemma2", lambda: ([], []))


def few_trials(simulate):
    return lambda *given, n_trials, **options: simulate(*given, n_trials=min(n_trials, 20), **options)


def committed_rows(table):
    document = (PAPER / "THEORY.md").read_text(encoding="utf-8")
    lines = re.search(f"<!-- theory-{table} -->\n\n(.*?)\n\n<!-- end -->", document, re.S)[1].splitlines()[2:]
    cells = ([cell.replace("\\|", "|") for cell in re.split(r" (?<!\\)\| ", line.strip("| "))] for line in lines)
    return [[number(cell) for cell in row] for row in cells]


def number(cell):
    try:
        return pytest.approx(float(cell), rel=6e-4)  # four digits are printed
    except ValueError:
        return cell


def test_theory_is_what_the_tables_say(short, tmp_path):
    names = []
    tables = theory.theory_tables(names.append)
    assert set(names) | {"slopes"} == set(tables)
    for name, columns in EXACT.items():
        committed = committed_rows(name)
        if name == "theorem2":
            tried = [[gamma, sigma, n] for gamma, sigma, sizes in theory.RATE_GRID for n in sizes]
            committed = [row for row in committed if row[:3] in tried]
        found = tables[name][1]
        assert len(found) == len(committed)
        for row, expected in zip(found, committed, strict=True):
            for column in columns:
                assert row[column] == expected[column], (name, tables[name][0][column])
    drawn = theory_figures.theory_figures(tmp_path, tables)
    assert {path.name for path in drawn} == {path.name for path in (RESULTS / "figures").glob("theory_*")}
    assert all(path.stat().st_size > 10_000 for path in drawn)
