"""The options of `clusterforests report`."""

import argparse
from pathlib import Path

from clusterforests.app.command_line.arguments import EXIT_CODES, add_data_options, add_run_options, target

EXAMPLES = """examples:
  clusterforests report model.cf data.csv --out report.html
  clusterforests report model.cf data.csv --id sample --label diagnosis

DATA is the table that the model was fitted on, with its rows in the same order.

"""


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = "Write a page about a saved model: one HTML file that needs no network."
    parser.epilog = EXAMPLES + EXIT_CODES
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model that `fit --model` wrote")
    add("data", metavar="DATA", help="the table it was fitted on; - is standard input")
    page = Path("report.html")
    add("--out", metavar="FILE", type=target, default=page, help=f"the page to write (default: {page})")
    add("--title", help="heading of the page")
    add_data_options(parser, fitting=False)
    add_run_options(parser)
