"""`clusterforests reproduce`: the tables, figures and theorems of the paper."""

import argparse
import sys
from pathlib import Path

import joblib

from clusterforests.cli.arguments import Command
from clusterforests.experiments.reproduce import NAMES, reproduce
from clusterforests.experiments.spec import RUNS


def add_reproduce(command: Command) -> None:
    command.parser.description = (
        "Compute what the paper contains. Finished parts are kept: after a stop the same command goes on and ends "
        "with the same numbers."
    )
    command.add("names", nargs="*", metavar="NAME", help=f"what to compute: {', '.join(NAMES)} (default: all)")
    command.words = tuple(NAMES)
    command.add(
        "--out", type=Path, file=True, default=Path("results"), help="folder for the results (default: results)"
    )
    command.add("--runs", type=int, default=RUNS, help=f"runs of each cell (default: {RUNS}, as the paper)")
    command.add("--jobs", type=int, default=joblib.cpu_count(), help="processes (default: one per core)")
    command.add(
        "--document",
        type=Path,
        file=True,
        action="append",
        default=[],
        help="Markdown file whose marked tables are renewed",
    )
    command.parser.set_defaults(run=run_reproduce, stopped="Stopped. The same command goes on from here.")


def run_reproduce(given: argparse.Namespace) -> int:
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        raise ValueError(f"there is no {unknown[0]!r} to reproduce; choose from {', '.join(NAMES)}.")
    for name in ("runs", "jobs"):
        if getattr(given, name) < 1:
            raise ValueError(f"--{name} {getattr(given, name)} must be at least 1.")
    for document in given.document:
        if not document.is_file():
            raise ValueError(f"--document {document} is not a file.")
    reproduce(given.names, given.out, runs=given.runs, jobs=given.jobs, documents=given.document, show=_show)
    return 0


def _show(line: str) -> None:
    """On a terminal a line of progress replaces the last one; in a pipe only what is finished is worth a line."""
    progress = line.endswith("left")
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="" if progress else "\n", file=sys.stderr, flush=True)
    elif not progress:
        print(line, file=sys.stderr, flush=True)
