"""The options of `clusterforests demo`."""

import argparse
from pathlib import Path

from clusterforests.app.command_line.arguments import EXIT_CODES, add_run_options

FOLDER = Path("clusterforests-demo")


def add_demo(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "Cluster 178 wines by 13 measurements. Writes the data, the labels, a report and the model to a folder."
    )
    parser.epilog = "example:\n  clusterforests demo\n\n" + EXIT_CODES
    parser.add_argument(
        "--out", metavar="FOLDER", type=Path, default=FOLDER, help=f"folder to write to (default: {FOLDER})"
    )
    add_run_options(parser)
