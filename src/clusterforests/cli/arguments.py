"""Options that several commands share, and the values they accept."""

import argparse
from pathlib import Path
from typing import Any

from clusterforests.cli.readers import FORMATS, ReadProgress, Request

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
    add = parser.add_argument_group("reading the table").add_argument
    add("--id", metavar="COLUMN", help="column with row names: copied to the labels, not used for clustering")
    add("--label", metavar="COLUMN", help="column with known classes: only compared with the clusters")
    lists: dict[str, Any] = {"metavar": "COLUMN", "nargs": "+", "action": "extend", "default": []}
    if fitting:
        add("--ignore", **lists, help="columns to leave out")
        add("--category", **lists, help="columns whose numbers are names of groups, not quantities")
    else:
        add("--category", **lists, help="as for `fit`; not needed, because the model knows its categories")
    add("--format", choices=FORMATS, help="format of DATA (default: from its name; csv for -)")
    add("--delimiter", metavar="CHARACTER", type=separator, help="separator of cells, or tab (default: detected)")
    add("--decimal", metavar="CHARACTER", choices=(".", ","), help="decimal separator: . or , (default: detected)")
    add("--encoding", default="utf-8", help="encoding of a text file (default: utf-8)")
    add("--no-header", action="store_true", help="the first line is data, not column names")


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how to run and what to print."""
    add = parser.add_argument_group("running").add_argument
    add("--threads", metavar="N", type=positive, help="number of threads (default: all cores); never changes results")
    add("--json", action="store_true", help="print the result as JSON on standard output")
    add("--quiet", action="store_true", help="print errors only: no progress, no summary")


def request_of(given: argparse.Namespace, progress: ReadProgress, **more: Any) -> Request:
    """Say what to read, by the options that `add_data_options` added."""
    return Request(
        id=given.id,
        label=given.label,
        ignore=tuple(getattr(given, "ignore", ())),
        categories=tuple(given.category),
        delimiter=given.delimiter,
        decimal=given.decimal,
        encoding=given.encoding,
        header=not given.no_header,
        progress=progress,
        **more,
    )


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
