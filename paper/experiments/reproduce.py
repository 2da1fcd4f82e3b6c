"""Everything the paper contains, from nothing or from where it stopped."""

import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from clusterforests._utils.files import replace_text
from paper.experiments.runner import Clock, Row, run_cells
from paper.experiments.simulations import run_simulations, write_outcomes
from paper.experiments.spec import EXPERIMENTS, GROUPS, NAMES, RUNS
from paper.experiments.summary import Results
from paper.experiments.tables import TABLES, check_marks, markdown, refresh, simulation_table
from paper.experiments.theory import theory_tables

Show = Callable[[str], None]


def reproduce(
    names: Sequence[str],
    work: Path,
    out: Path,
    *,
    runs: int = RUNS,
    jobs: int = 1,
    documents: Sequence[Path] = (),
    show: Show,
) -> None:
    """Compute what is asked for and not there yet, then write summaries, tables and figures.

    Single runs and tables go into `work`, where a killed run goes on; summaries and figures into `out`. `documents` are
    Markdown files into which the tables are put, between their marks.
    """
    wanted = NAMES[1:] if not names or "all" in names else names
    for document in documents:
        check_marks(document)
    work.mkdir(parents=True, exist_ok=True)
    groups = [group for name, group in GROUPS.items() if name in wanted]
    experiments = [name for name in EXPERIMENTS if any(name in group.experiments for group in groups)]
    results = Results.of_rows(row for name in experiments for row in run_experiment(name, work, runs, jobs, show))
    if experiments:
        results.write(out / "scores.csv" if experiments == list(EXPERIMENTS) else work / "scores.csv")
    tables = {table: TABLES[table](results) for group in groups for table in group.tables}
    if "simulations" in wanted:
        outcomes = run_simulations(work, jobs, Clock("simulations", show))
        write_outcomes(out, outcomes)
        tables["simulations"] = simulation_table(outcomes)
    theory = None
    if "theory" in wanted:
        theory = theory_tables(lambda name: show(f"theory: {name}"))
        for table, (header, lines) in theory.items():
            tables[f"theory-{table}"] = markdown(header, [[_text(value) for value in line] for line in lines])
    if "figures" in wanted:
        # matplotlib is an extra: these are loaded only when asked for.
        figures = import_module("paper.experiments.figures")
        theory_figures = import_module("paper.experiments.theory_figures")
        drawn = figures.paper_figures(work, out / "figures")
        drawn += theory_figures.theory_figures(out / "figures", theory)
        for path in drawn:
            show(f"wrote {path}")
    for table, text in tables.items():
        replace_text(work / "tables" / f"{table}.md", text)
    for document in documents:
        refresh(document, tables)
    show(f"{len(tables)} tables in " + ", ".join(map(str, [work / "tables", *documents])))


def run_experiment(name: str, folder: Path, runs: int, jobs: int, show: Show) -> list[Row]:
    """The rows of an experiment; beside them in the folder what was run."""
    cells = EXPERIMENTS[name]()
    rows = run_cells(cells, folder / f"{name}.csv", runs, jobs, Clock(name, show))
    packages = ("clusterforests", "numpy", "scipy", "scikit-learn")
    provenance = {
        "experiment": name,
        "versions": {"python": platform.python_version()} | {package: version(package) for package in packages},
        "runs": runs,
        "random_state": "the number of the run, 0, 1, ...",
        "cells": [asdict(cell) for cell in cells],
    }
    replace_text(folder / f"{name}.json", json.dumps(provenance, indent=1) + "\n")
    return rows


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
