"""The options of `clusterforests inspect`."""

import argparse

from clusterforests.app.command_line.arguments import EXIT_CODES, add_data_options, add_run_options

EXAMPLES = """examples:
  clusterforests inspect data.csv
  clusterforests inspect data.csv --category branch --date "first order"
  clusterforests inspect data.csv --json

Nothing is clustered and nothing is written. Where a column is read otherwise
than you want, say what it is, here and in `fit`: --number, --category,
--ordered, --date, --ignore. What keeps `fit` from reading the table is listed,
with a command that solves it; the exit code is then 1.

"""


def add_inspect(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = "Show how each column of a table is read, and why."
    parser.epilog = EXAMPLES + EXIT_CODES
    parser.add_argument("data", metavar="DATA", help="the table; - is standard input")
    add_data_options(parser, fitting=True)
    add_run_options(parser, threads=False)
