"""The committed results: tables are those of the recorded runs, and the theory's predictions are computed anew."""

import re
import shutil
from pathlib import Path

import pytest

from paper.datasets import UCI_NAMES
from paper.experiments import theory, theory_figures
from paper.experiments.reproduce import reproduce

ROOT = Path(__file__).parents[2]
TABLES = ROOT / "results" / "tables"
NAMES = ["datasets", "competition", "methods", "base-clusters", "claims", "simulations"]


def test_tables_are_those_of_the_runs(tmp_path, uci, record_property):
    """With nothing left to run, tables, summary and document come out as they were committed."""
    for name in UCI_NAMES:
        uci(name)
    for path in (ROOT / "results").glob("*.csv"):
        shutil.copy(path, tmp_path)
    document = tmp_path / "page.md"
    shutil.copy(ROOT / "docs" / "reproduction.md", document)
    runs = {path.name: path.read_bytes() for path in tmp_path.glob("*.csv")}
    (tmp_path / "summary.csv").unlink()
    told = []
    reproduce(NAMES, tmp_path, documents=[document], show=told.append)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.csv")} == runs
    written = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "tables").iterdir()}
    committed = {path.name: path.read_text(encoding="utf-8") for path in TABLES.glob("*.md")}
    assert written == {name: text for name, text in committed.items() if not name.startswith("theory-")}
    assert document.read_bytes() == (ROOT / "docs" / "reproduction.md").read_bytes()
    assert told[-1].startswith(f"{len(written)} tables in")
    record_property("tables recomputed from the committed runs, all identical", len(written))


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
    lines = (TABLES / f"theory-{table}.md").read_text(encoding="utf-8").splitlines()[2:]
    cells = ([cell.replace("\\|", "|") for cell in re.split(r" (?<!\\)\| ", line.strip("| "))] for line in lines)
    return [[number(cell) for cell in row] for row in cells]


def number(cell):
    try:
        return pytest.approx(float(cell), rel=6e-4)  # four digits are printed
    except ValueError:
        return cell


def test_theory_is_what_the_tables_say(short, tmp_path, record_property):
    names = []
    tables = theory.theory_tables(names.append)
    assert set(names) | {"slopes"} == set(tables)
    compared = 0
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
        compared += len(columns) * len(found)
    record_property("predictions recomputed, identical to those committed", compared)
    drawn = theory_figures.theory_figures(tmp_path, tables)
    assert {path.name for path in drawn} == {path.name for path in (ROOT / "results/figures").glob("theory_*")}
    assert all(path.stat().st_size > 10_000 for path in drawn)
