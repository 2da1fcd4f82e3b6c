"""`clusterforests reproduce`: compute the tables and figures of the paper."""

import argparse
import sys

import joblib

from paper.experiments.reproduce import reproduce
from paper.experiments.spec import NAMES


def run_reproduce(given: argparse.Namespace) -> int:
    """Check the options and compute."""
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        raise ValueError(f"there is no {unknown[0]!r} to reproduce; choose from {', '.join(NAMES)}.")
    given.jobs = joblib.cpu_count() if given.jobs is None else given.jobs
    for name in ("runs", "jobs"):
        if getattr(given, name) < 1:
            raise ValueError(f"--{name} {getattr(given, name)} must be at least 1.")
    for document in given.document:
        if not document.is_file():
            raise ValueError(f"--document {document} is not a file.")
    folders = given.work, given.out
    reproduce(given.names, *folders, runs=given.runs, jobs=given.jobs, documents=given.document, show=_show)
    return 0


def _show(line: str) -> None:
    """Print a line of progress over the last one; where there is no terminal, only finished parts get a line."""
    progress = line.endswith("left")
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="" if progress else "\n", file=sys.stderr, flush=True)
    elif not progress:
        print(line, file=sys.stderr, flush=True)
