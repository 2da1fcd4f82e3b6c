"""`clusterforests reproduce`: compute the tables and figures of the paper."""

import argparse
import sys
from pathlib import Path

import joblib

from clusterforests.experiments.reproduce import NAMES, reproduce
from clusterforests.experiments.spec import RUNS


def add_reproduce(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "Compute the tables and figures of the paper. Finished parts are kept: if it is stopped, the same command "
        "resumes and arrives at the same numbers."
    )
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help=f"what to compute: {', '.join(NAMES)} (default: all)")
    results = Path("results")
    add("--out", metavar="FOLDER", type=Path, default=results, help=f"folder for the results (default: {results})")
    add("--runs", metavar="N", type=int, default=RUNS, help=f"runs of each cell (default: {RUNS}, as in the paper)")
    add("--jobs", metavar="N", type=int, default=joblib.cpu_count(), help="processes (default: one per core)")
    add(
        "--document",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="Markdown file whose marked tables are updated",
    )
    parser.set_defaults(run=run_reproduce, stopped="Stopped. The same command resumes from here.")


def run_reproduce(given: argparse.Namespace) -> int:
    """Check the options and compute."""
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
    """Print a line of progress over the last one; where there is no terminal, only finished parts get a line."""
    progress = line.endswith("left")
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="" if progress else "\n", file=sys.stderr, flush=True)
    elif not progress:
        print(line, file=sys.stderr, flush=True)
