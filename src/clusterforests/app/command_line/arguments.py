"""Options that several commands share, and the values they accept."""

import argparse
from pathlib import Path
from typing import Any

from clusterforests.app.files.formats import FORMATS

EXIT_CODES = """exit codes:
  0    success
  1    a problem with the input or a file, or something is not installed;
       one sentence on standard error says what
  2    a mistake in the command line
  130  stopped with Ctrl-C; no partly written file is left
"""
SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}


def add_data_options(parser: argparse.ArgumentParser, *, fitting: bool) -> None:
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
    else:
        add("--category", **lists, help="as for `fit`; not needed, because the model knows its categories")
    add("--missing", **(lists | {"metavar": "TEXT"}), help="texts that stand for a missing value")
    add(
        "--format",
        choices=FORMATS,
        metavar="FORMAT",
        help=f"format of DATA: {', '.join(FORMATS)} (default: from its name; csv for -)",
    )
    add("--delimiter", metavar="CHARACTER", type=separator, help="separator of cells, or tab (default: detected)")
    add("--decimal", metavar="CHARACTER", choices=(".", ","), help="decimal sign of numbers like 1,234: . or ,")
    order = group.add_mutually_exclusive_group()
    order.add_argument("--day-first", action="store_true", help="dates like 03/04/2021 begin with the day")
    order.add_argument("--month-first", action="store_true", help="dates like 03/04/2021 begin with the month")
    add("--encoding", default="utf-8", help="encoding of a text file (default: utf-8)")
    add("--no-header", action="store_true", help="the first line is data, not column names")
    add("--sheet", metavar="NAME", help="sheet of an Excel workbook, by name or number (default: the only one)")
    add("--transpose", action="store_true", help="samples are columns: turn the table, as for genes x samples")


def add_run_options(parser: argparse.ArgumentParser, *, threads: bool = True) -> None:
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


def share_or_auto(text: str) -> float | str:
    """Read a number between 0 and 1, or auto."""
    if text == "auto":
        return text
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be auto or a number between 0 and 1, such as 0.05")
    return share


def size(text: str) -> int | float:
    """Read a number of rows, or a share of them between 0 and 1."""
    if text.isdecimal() and int(text) >= 1:
        return int(text)
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} must be a number of rows such as 50, or a share of them between 0 and 1, such as 0.05"
        )
    return share


def seed(text: str) -> int:
    """Read a whole number of at least 0."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 0")
    return int(text)


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
