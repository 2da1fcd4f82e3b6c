"""The options of `clusterforests predict`."""

import argparse

from clusterforests.app.command_line.arguments import EXIT_CODES, add_data_options, add_run_options, positive, target

EXAMPLES = """examples:
  clusterforests predict model.cf new.csv --out labels.csv
  clusterforests predict model.cf new.csv --id sample --json
  clusterforests predict model.cf data.csv --clusters 5 --out five.csv
  cat new.csv | clusterforests predict model.cf - > labels.csv

The columns that the model was fitted on are found by their names; others are
left out. Rows of the fitted table get the clusters that `fit` gave them, or
would have given them with this number of clusters (--clusters).

"""


def add_predict(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = "Find the clusters of the rows of a table with a model that `fit --model` wrote."
    parser.epilog = EXAMPLES + EXIT_CODES
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model that `fit --model` wrote")
    add("data", metavar="DATA", help="a table with the columns that the model was fitted on; - is standard input")
    add("--clusters", metavar="K", type=positive, help="another number of clusters than the model's: 5")
    add("--out", metavar="FILE", type=target, help="write the cluster of each row (default: CSV on standard output)")
    add_data_options(parser, fitting=False)
    add_run_options(parser)
