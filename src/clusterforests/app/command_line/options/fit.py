"""The options of `clusterforests fit`."""

import argparse

from clusterforests.app.command_line.arguments import (
    EXIT_CODES,
    add_data_options,
    add_run_options,
    number_of_clusters,
    positive,
    seed,
    share_or_auto,
    size,
    target,
)

EXAMPLES = """examples:
  clusterforests fit data.csv --clusters 4 --out labels.csv \\
      --report report.html --model model.cf
  clusterforests fit data.csv --id sample --ignore batch date --label diagnosis
  clusterforests fit counts.tsv --clusters 2-6 --out labels.tsv
  clusterforests fit table.parquet --clusters auto --json > result.json
  clusterforests fit survey.xlsx --sheet answers --out labels.xlsx
  clusterforests fit expression.tsv.gz --transpose --out labels.csv
  clusterforests fit data.csv --id sample --must-link same.csv --known-labels type
  cat data.csv | clusterforests fit - --clusters 3 --out - > labels.csv

The labels have a line for each row: its name (--id) or its number, from 1; its
cluster, where 0 is the largest; and its membership in it, from 0 to 1. With
--outliers, rows that lie apart from every cluster have the cluster -1. The
file's name says its format: .csv, .tsv, .jsonl, .xlsx, .parquet, .arrow or
.npy; text is compressed if .gz or .zst follows. With --json and without --out,
the labels are part of the JSON. A model holds every number of clusters: see
`predict --clusters`.

"""


def add_fit(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "Cluster the rows of a table: CSV, TSV or JSON lines (also .gz, .zst), Excel (.xlsx), Parquet, Arrow (.arrow, "
        ".feather), .npy or .h5ad."
    )
    parser.epilog = EXAMPLES + EXIT_CODES
    add = parser.add_argument
    add("data", metavar="DATA", help="the table, one sample per row; - is standard input")
    add(
        "--clusters",
        metavar="K",
        type=number_of_clusters,
        default="auto",
        help="number of clusters: 4; 2-6 to choose among these; auto (the default) to choose from 1 to 50",
    )
    add("--out", metavar="FILE", type=target, help="write the cluster of each row; - is standard output")
    add("--report", metavar="FILE", type=target, help="write an HTML page about the result")
    add("--model", metavar="FILE", type=target, help="write the model, for `predict` and `report`")
    add(
        "--model-without-rows",
        action="store_true",
        help="leave out of the model the rows of DATA that fill missing cells in `predict`",
    )
    add("--trees", metavar="T", type=positive, default=200, help="number of trees in the forest (default: 200)")
    add(
        "--all-features",
        dest="select_features",
        action="store_false",
        help="let the trees use all columns, not only the informative ones",
    )
    add(
        "--outliers",
        metavar="SHARE",
        type=share_or_auto,
        help="give rows that lie apart from every cluster the cluster -1: auto, or so large a share of the rows",
    )
    add("--seed", metavar="N", type=seed, default=0, help="random seed; the same gives the same result (default: 0)")
    add("--dry-run", action="store_true", help="only show how each column is read, as `inspect` does")
    _add_guidance(parser)
    add_data_options(parser, fitting=True)
    add_run_options(parser)


def _add_guidance(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "what you know of the clusters (kept exactly, or refused; see --known-labels too)",
    )
    add = group.add_argument
    pairs = "two columns, each row by its name (--id) or its number, from 1"
    add("--must-link", metavar="FILE", help=f"pairs of rows that belong to one cluster: {pairs}")
    add("--cannot-link", metavar="FILE", help="pairs of rows that belong to different clusters, likewise")
    add("--min-size", metavar="N", type=size, help="least number of rows of a cluster, or their share: 50, 0.05")
    add("--max-size", metavar="N", type=size, help="largest number of rows of a cluster, or their share")
