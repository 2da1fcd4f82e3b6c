"""Everything the paper contains, from nothing or from where it stopped."""

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib

from clusterforests._utils.files import replace_text
from paper.experiments.runner import Row, Show, run_cells
from paper.experiments.simulations import run_simulations, write_outcomes
from paper.experiments.spec import EXPERIMENTS, GROUPS, NAMES, RUNS
from paper.experiments.summary import Results
from paper.experiments.tables import TABLES, check_marks, markdown, refresh, simulation_table
from paper.experiments.theory import theory_tables

COMMITTED = Path(__file__).parents[1] / "results"
PAGES = tuple(Path(__file__).parents[1] / name for name in ("README.md", "THEORY.md"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and compute."""
    parser = argparse.ArgumentParser(
        prog="python -m paper",
        description="Compute the tables and figures of the paper. Finished parts are kept: if it is stopped, the same "
        "command resumes and arrives at the same numbers.",
    )
    work, out = Path("build", "paper"), Path("paper", "results")
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help=f"what to compute: {', '.join(NAMES)} (default: all)")
    add("--work", metavar="FOLDER", type=Path, default=work, help=f"folder for single runs (default: {work})")
    add("--out", metavar="FOLDER", type=Path, default=out, help=f"folder for summaries and figures (default: {out})")
    add(
        "--runs",
        metavar="N",
        type=int,
        default=RUNS,
        help=f"runs of each cell; with another number than the paper's {RUNS}, README.md and THEORY.md stay "
        "as they are",
    )
    add("--jobs", metavar="N", type=int, default=joblib.cpu_count(), help="processes (default: one per core)")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.names if name not in NAMES]:
        parser.error(f"there is no {unknown[0]!r} to reproduce; choose from {', '.join(NAMES)}.")
    for name in ("runs", "jobs"):
        if getattr(given, name) < 1:
            parser.error(f"--{name} {getattr(given, name)} must be at least 1.")
    pages = PAGES if given.runs == RUNS else ()
    # A trial with fewer runs leaves the committed summaries alone, too.
    out = given.out if given.runs == RUNS or given.out != out else given.work / "results"
    try:
        reproduce(given.names, given.work, out, runs=given.runs, jobs=given.jobs, pages=pages, show=_show)
    except KeyboardInterrupt:
        print("Stopped. The same command resumes from here.", file=sys.stderr)
        return 130
    return 0


def _show(line: str) -> None:
    """Print a line of progress over the last one; where there is no terminal, only finished parts get a line."""
    progress = line.endswith("left")
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="" if progress else "\n", file=sys.stderr, flush=True)
    elif not progress:
        print(line, file=sys.stderr, flush=True)


def reproduce(
    names: Sequence[str],
    work: Path,
    out: Path,
    *,
    runs: int = RUNS,
    jobs: int = 1,
    pages: Sequence[Path] = (),
    show: Show,
) -> None:
    """Compute what is asked for and not there yet, then write summaries, tables and figures.

    Single runs and tables go into `work`, where a killed run goes on; summaries and figures into `out`. `pages` are
    Markdown files into which the tables are put, between their marks.
    """
    wanted = NAMES[1:] if not names or "all" in names else names
    for page in pages:
        check_marks(page)
    work.mkdir(parents=True, exist_ok=True)
    # Runs of methods on data sets, and what they come to.
    groups = [group for name, group in GROUPS.items() if name in wanted]
    experiments = [name for name in EXPERIMENTS if any(name in group.experiments for group in groups)]
    results = Results.of_rows(row for name in experiments for row in run_experiment(name, work, runs, jobs, show))
    if experiments:
        results.write(out / "scores.csv" if experiments == list(EXPERIMENTS) else work / "scores.csv")
    tables = {table: TABLES[table](results) for group in groups for table in group.tables}
    # Simulated sets.
    simulated = run_simulations(work, jobs, show) if {"simulations", "figures"} & set(wanted) else []
    if "simulations" in wanted:
        outcomes = [run.outcome for run in simulated]
        write_outcomes(out / "simulations.csv", outcomes)
        tables["simulations"] = simulation_table(outcomes)
    # The theorems.
    theory = None
    if "theory" in wanted:
        theory = theory_tables(lambda name: show(f"theory: {name}"))
        for table, (header, lines) in theory.items():
            tables[f"theory-{table}"] = markdown(header, [[_text(value) for value in line] for line in lines])
    if "figures" in wanted:
        # matplotlib is an extra: these are loaded only when asked for.
        figures = import_module("paper.experiments.figures")
        theory_figures = import_module("paper.experiments.theory_figures")
        scores = results if experiments == list(EXPERIMENTS) else Results.read(COMMITTED / "scores.csv")
        vectors = {run.outcome.set: run.vectors for run in simulated if run.outcome.seed == 0}
        drawn = figures.paper_figures(scores, vectors, out / "figures")
        drawn += theory_figures.theory_figures(out / "figures", theory)
        for path in drawn:
            show(f"wrote {path}")
    for table, text in tables.items():
        replace_text(work / "tables" / f"{table}.md", text)
    for page in pages:
        refresh(page, tables)
    show(f"{len(tables)} tables in " + ", ".join(map(str, [work / "tables", *pages])))


def run_experiment(name: str, folder: Path, runs: int, jobs: int, show: Show) -> list[Row]:
    """The rows of an experiment; beside them in the folder what was run."""
    cells = EXPERIMENTS[name]()
    rows = run_cells(cells, folder / f"{name}.csv", runs, jobs, show)
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
