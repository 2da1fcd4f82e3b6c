"""The options of `clusterforests reproduce`."""

import argparse
from pathlib import Path

from paper.experiments.spec import NAMES, RUNS


def add_reproduce(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "Compute the tables and figures of the paper. Finished parts are kept: if it is stopped, the same command "
        "resumes and arrives at the same numbers."
    )
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help=f"what to compute: {', '.join(NAMES)} (default: all)")
    work, out = Path("build", "paper"), Path("paper", "results")
    add("--work", metavar="FOLDER", type=Path, default=work, help=f"folder for single runs (default: {work})")
    add("--out", metavar="FOLDER", type=Path, default=out, help=f"folder for summaries and figures (default: {out})")
    add("--runs", metavar="N", type=int, default=RUNS, help=f"runs of each cell (default: {RUNS}, as in the paper)")
    add("--jobs", metavar="N", type=int, help="processes (default: one per core)")
    add(
        "--document",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="Markdown file whose marked tables are updated",
    )
    parser.set_defaults(stopped="Stopped. The same command resumes from here.")
