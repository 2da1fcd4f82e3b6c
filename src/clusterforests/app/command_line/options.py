"""The options of all commands. Nothing that takes long is imported, so that `--help` answers at once."""

import argparse
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clusterforests.app.files.extensions import FORMATS

EXIT_CODES = """exit codes:
  0    success
  1    a problem with the input or a file, or something is not installed;
       one sentence on standard error says what
  2    a mistake in the command line
  130  stopped with Ctrl-C; no partly written file is left
"""
PROGRAM = """examples:
  clusterforests demo
  clusterforests fit data.csv --clusters 4 --out labels.csv \\
      --report report.html --model model.cf
  clusterforests predict model.cf new.csv --out new-labels.csv
  clusterforests fit --help

"""
FIT = """examples:
  clusterforests fit data.csv --clusters 4 --out labels.csv \\
      --report report.html --model model.cf
  clusterforests fit data.csv --id sample --ignore batch date --label diagnosis
  clusterforests fit counts.tsv --clusters 2-6 --out labels.tsv
  clusterforests fit table.parquet --json > result.json
  clusterforests fit survey.xlsx --sheet answers --out labels.csv
  clusterforests fit expression.tsv.gz --transpose --out labels.csv
  clusterforests fit data.csv --id sample --must-link same.csv --known-labels type
  cat data.csv | clusterforests fit - --clusters 3 --out - > labels.csv

The labels have a line for each row: its name (--id) or its number, from 1; its
cluster, where 0 is the largest; and its membership in it, from 0 to 1. With
--contamination, rows that lie apart from every cluster have the cluster -1. The
file's name says its format: .csv, .tsv, .jsonl, .parquet, .arrow or .npy; text
is compressed if .gz follows. With --json and without --out, the labels are part
of the JSON. A model holds every number of clusters: see `predict --clusters`.

"""
INSPECT = """examples:
  clusterforests inspect data.csv
  clusterforests inspect data.csv --category branch --date "first order"
  clusterforests inspect data.csv --json

Nothing is clustered and nothing is written. Where a column is read otherwise
than you want, say what it is, here and in `fit`: --number, --category,
--ordered, --date, --ignore. What keeps `fit` from reading the table is listed,
with a command that solves it; the exit code is then 1.

"""
PREDICT = """examples:
  clusterforests predict model.cf new.csv --out labels.csv
  clusterforests predict model.cf new.csv --id sample --json
  clusterforests predict model.cf data.csv --clusters 5 --out five.csv
  cat new.csv | clusterforests predict model.cf - > labels.csv

The columns that the model was fitted on are found by their names; others are
left out. Rows of the fitted table get the clusters that `fit` gave them, or
would have given them with this number of clusters (--clusters).

"""
REPORT = """examples:
  clusterforests report model.cf data.csv --out report.html
  clusterforests report model.cf data.csv --id sample --label diagnosis

DATA is the table that the model was fitted on, with its rows in the same order.

"""
DEMO = "example:\n  clusterforests demo\n\n"
SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}


def add_fit(parser: argparse.ArgumentParser) -> None:
    """Add the options of `fit`."""
    _describe(
        parser,
        "Cluster the rows of a table: CSV, TSV or JSON (also compressed), a workbook (.xlsx, .xls, .ods), Parquet, "
        "Arrow (.arrow, .feather), .npy or .h5ad.",
        FIT,
    )
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
        "--contamination",
        metavar="SHARE",
        type=share_or_auto,
        help="give rows that lie apart from every cluster the cluster -1: auto, or so large a share of the rows",
    )
    add("--seed", metavar="N", type=seed, default=0, help="random seed; the same gives the same result (default: 0)")
    add = parser.add_argument_group(
        "what you know of the clusters (kept exactly, or refused; see --known-labels too)"
    ).add_argument
    pairs = "two columns, each row by its name (--id) or its number, from 1"
    add("--must-link", metavar="FILE", help=f"pairs of rows that belong to one cluster: {pairs}")
    add("--cannot-link", metavar="FILE", help="pairs of rows that belong to different clusters, likewise")
    add("--min-size", metavar="N", type=size, help="least number of rows of a cluster, or their share: 50, 0.05")
    add("--max-size", metavar="N", type=size, help="largest number of rows of a cluster, or their share")
    _add_data_options(parser, fitting=True)
    _add_run_options(parser)


def add_inspect(parser: argparse.ArgumentParser) -> None:
    """Add the options of `inspect`."""
    _describe(parser, "Show how each column of a table is read, and why.", INSPECT)
    parser.add_argument("data", metavar="DATA", help="the table; - is standard input")
    _add_data_options(parser, fitting=True)
    _add_run_options(parser, threads=False)


def add_predict(parser: argparse.ArgumentParser) -> None:
    """Add the options of `predict`."""
    _describe(parser, "Find the clusters of the rows of a table with a model that `fit --model` wrote.", PREDICT)
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model that `fit --model` wrote")
    add("data", metavar="DATA", help="a table with the columns that the model was fitted on; - is standard input")
    add("--clusters", metavar="K", type=positive, help="another number of clusters than the model's: 5")
    add("--out", metavar="FILE", type=target, help="write the cluster of each row (default: CSV on standard output)")
    _add_data_options(parser, fitting=False)
    _add_run_options(parser)


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the options of `report`."""
    _describe(parser, "Write a page about a saved model: one HTML file that needs no network.", REPORT)
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model that `fit --model` wrote")
    add("data", metavar="DATA", help="the table it was fitted on; - is standard input")
    page = Path("report.html")
    add("--out", metavar="FILE", type=target, default=page, help=f"the page to write (default: {page})")
    add("--title", help="heading of the page")
    _add_data_options(parser, fitting=False)
    _add_run_options(parser)


def add_demo(parser: argparse.ArgumentParser) -> None:
    """Add the options of `demo`."""
    _describe(
        parser,
        "Cluster 178 wines by 13 measurements. Writes the data, the labels, a report and the model to a folder.",
        DEMO,
    )
    folder = Path("clusterforests-demo")
    parser.add_argument(
        "--out", metavar="FOLDER", type=target, default=folder, help=f"folder to write to (default: {folder})"
    )
    _add_run_options(parser)


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "fit": ("cluster the rows of a table", add_fit),
    "inspect": ("show how each column of a table is read", add_inspect),
    "predict": ("find the clusters of other rows with a saved model", add_predict),
    "report": ("write a page about a saved model", add_report),
    "demo": ("try everything on a small data set", add_demo),
}


def _describe(parser: argparse.ArgumentParser, text: str, examples: str) -> None:
    parser.description = textwrap.fill(text, 78)
    parser.epilog = examples + EXIT_CODES


def _add_data_options(parser: argparse.ArgumentParser, *, fitting: bool) -> None:
    """Add the options that say how to read the table."""
    group = parser.add_argument_group("reading the table")
    add = group.add_argument
    add("--id", metavar="COLUMN", help="column with row names: copied to the labels, not used for clustering")
    add("--label", metavar="COLUMN", help="column with known classes: only compared with the clusters")
    lists: dict[str, Any] = {"metavar": "COLUMN", "nargs": "+", "action": "extend", "default": []}
    if fitting:
        add("--known-labels", metavar="COLUMN", help="column with the classes of some rows: each becomes a cluster")
        add("--ignore", **lists, help="columns to leave out")
        add("--category", **lists, help="columns whose numbers or words are names of groups")
        add("--number", **lists, help="columns of numbers, whatever they look like")
        add("--date", **lists, help="columns of dates")
        add("--ordered", **lists, help="columns of words with an order; size=small,medium,large says which")
    add("--missing", **(lists | {"metavar": "TEXT"}), help="texts that stand for a missing value")
    add("--decimal", metavar="CHARACTER", choices=(".", ","), help="decimal sign of numbers like 1,234: . or ,")
    order = group.add_mutually_exclusive_group()
    order.add_argument("--day-first", action="store_true", help="dates like 03/04/2021 begin with the day")
    order.add_argument("--month-first", action="store_true", help="dates like 03/04/2021 begin with the month")
    add(
        "--format",
        choices=FORMATS,
        metavar="FORMAT",
        help=f"format of DATA: {', '.join(FORMATS)} (default: from its name; csv for -)",
    )
    add("--delimiter", metavar="CHARACTER", type=separator, help="separator of cells, or tab (default: detected)")
    add("--encoding", default="utf-8", help="encoding of a text file (default: utf-8)")
    add("--no-header", action="store_true", help="the first line is data, not column names")
    add("--sheet", metavar="NAME", help="sheet of a workbook, by name or number (default: the only one)")
    add("--transpose", action="store_true", help="samples are columns: turn the table, as for genes x samples")


def _add_run_options(parser: argparse.ArgumentParser, *, threads: bool = True) -> None:
    """Add the options that say how to run and what to print."""
    add = parser.add_argument_group("running").add_argument
    if threads:
        add(
            "--threads",
            metavar="N",
            type=positive,
            help="number of threads (default: all cores); never changes results",
        )
    add("--json", action="store_true", help="print the result as JSON on standard output")
    add("--quiet", action="store_true", help="print errors only: no progress, no summary")


# The values that options take.


def number_of_clusters(text: str) -> int | str | range:
    """Read a number such as 4, a range such as 2-6, or auto."""
    if text == "auto":
        return text
    low, dash, high = text.partition("-")
    if low.isdigit() and int(low) >= 1 and not dash:
        return int(low)
    if low.isdigit() and high.isdigit() and 1 <= int(low) <= int(high):
        return range(int(low), int(high) + 1)
    raise argparse.ArgumentTypeError(f"{text!r} must be a number such as 4, a range such as 2-6, or auto")


def positive(text: str) -> int:
    """Read a whole number of at least 1."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 1")
    return int(text)


def seed(text: str) -> int:
    """Read a whole number of at least 0."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 0")
    return int(text)


def share_or_auto(text: str) -> float | str:
    """Read a number between 0 and 1, or auto."""
    share = "auto" if text == "auto" else _share(text)
    if share is None:
        raise argparse.ArgumentTypeError(f"{text!r} must be auto or a number between 0 and 1, such as 0.05")
    return share


def size(text: str) -> int | float:
    """Read a number of rows, or a share of them between 0 and 1."""
    found = int(text) if text.isdecimal() and int(text) >= 1 else _share(text)
    if found is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} must be a number of rows such as 50, or a share of them between 0 and 1, such as 0.05"
        )
    return found


def _share(text: str) -> float | None:
    try:
        share = float(text)
    except ValueError:
        return None
    return share if 0 < share < 1 else None


def target(text: str) -> Path:
    """Read the name of a file to write."""
    if not text:
        raise argparse.ArgumentTypeError("must be the name of a file")
    return Path(text)


def separator(text: str) -> str:
    """Read a single character, or its name."""
    character = SEPARATORS.get(text, text)
    if len(character) != 1 or character in '"\r\n\0':
        raise argparse.ArgumentTypeError(f"{text!r} must be a single character, or tab")
    return character
