"""The command line: `clusterforests reproduce ...`."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from clusterforests.experiments.reproduce import NAMES, reproduce
from clusterforests.experiments.spec import RUNS


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="clusterforests", description="Cluster Forests from the command line.")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_reproduce(commands.add_parser("reproduce", help="the tables, figures and theorems of the paper"))
    given = parser.parse_args(arguments)
    try:
        status: int = given.run(given)
    except KeyboardInterrupt:
        print("Stopped. The same command goes on from here.", file=sys.stderr)
        return 130
    except (OSError, ValueError, ImportError, MemoryError) as error:
        print(f"clusterforests {given.command}: {error}", file=sys.stderr)
        return 1
    return status


def _add_reproduce(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compute what the paper contains. Finished parts are kept: after a stop the same command goes on and ends "
        "with the same numbers."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to compute: {', '.join(NAMES)} (default: all)")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder for the results (default: results)")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"runs of each cell (default: {RUNS}, as the paper)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per core)")
    parser.add_argument(
        "--document", type=Path, action="append", default=[], help="Markdown file whose marked tables are renewed"
    )
    parser.set_defaults(run=_run_reproduce)


def _run_reproduce(given: argparse.Namespace) -> int:
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
