"""Options that several commands share, and what their values may be."""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clusterforests.cli.readers import FORMATS, Request

EXIT_CODES = """exit codes:
  0    done
  1    the input or a file is at fault, or something is not installed;
       one sentence on standard error says what
  2    the command line is at fault
  130  stopped with Ctrl-C; nothing half-written is left
"""


@dataclass(frozen=True)
class Option:
    """What shell completion needs to know of an option."""

    flags: tuple[str, ...]
    help: str
    choices: tuple[str, ...]
    takes: str  # "file", "value" or "nothing"


class Command:
    """A parser that remembers its options."""

    def __init__(self, parser: argparse.ArgumentParser, name: str, help: str) -> None:
        self.parser = parser
        self.name = name
        self.help = help
        self.options: list[Option] = []
        self.words: tuple[str, ...] = ()  # that may follow the command besides files

    def add(self, *flags: str, **settings: Any) -> None:
        file = settings.pop("file", False)
        self.parser.add_argument(*flags, **settings)
        if flags[0].startswith("-"):
            takes = "nothing" if "action" in settings and settings["action"] == "store_true" else "value"
            choices = tuple(map(str, settings.get("choices", ())))
            text = settings.get("help", "").replace("%%", "%")
            self.options.append(Option(flags, text, choices, "file" if file else takes))
        elif settings.get("choices"):
            self.words = tuple(map(str, settings["choices"]))


def add_data_options(command: Command, *, fitting: bool) -> None:
    """How to read the table."""
    command.add(
        "--id", metavar="COLUMN", help="column with the names of the rows: copied to the labels, not clustered by"
    )
    command.add("--label", metavar="COLUMN", help="column with known classes: only compared with the clusters found")
    if fitting:
        command.add("--ignore", metavar="COLUMN", nargs="+", action="extend", default=[], help="columns to leave out")
        command.add(
            "--category",
            metavar="COLUMN",
            nargs="+",
            action="extend",
            default=[],
            help="columns whose numbers are names of groups, not amounts",
        )
    command.add("--format", choices=FORMATS, help="format of DATA (default: by its name; csv for -)")
    command.add("--delimiter", metavar="CHARACTER", type=_character, help="between cells (default: found out)")
    command.add("--decimal", metavar="CHARACTER", choices=(".", ","), help=". or , (default: found out)")
    command.add("--encoding", default="utf-8", help="of a text file (default: utf-8)")
    command.add("--no-header", action="store_true", help="the first line is data, not names of columns")


def add_run_options(command: Command) -> None:
    command.add("--threads", metavar="N", type=positive, help="threads (default: all cores); never changes the result")
    command.add("--json", action="store_true", help="print the result as JSON on standard output")
    command.add("--quiet", action="store_true", help="no progress, no summary; only errors")


def request_of(given: argparse.Namespace, progress: Any, **more: Any) -> Request:
    return Request(
        id=given.id,
        label=given.label,
        ignore=tuple(getattr(given, "ignore", ())),
        categories=tuple(getattr(given, "category", ())),
        delimiter=given.delimiter,
        decimal=given.decimal,
        encoding=given.encoding,
        header=not given.no_header,
        progress=progress,
        **more,
    )


def number_of_clusters(text: str) -> int | str | range:
    """4, auto or 2-6."""
    if text == "auto":
        return text
    low, dash, high = text.partition("-")
    if low.isdigit() and int(low) >= 1 and not dash:
        return int(low)
    if low.isdigit() and high.isdigit() and 1 <= int(low) <= int(high):
        return range(int(low), int(high) + 1)
    raise argparse.ArgumentTypeError(f"{text!r} must be a number such as 4, a range such as 2-6, or auto")


def positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 1")
    return int(text)


def seed(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 0")
    return int(text)


def target(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("must be the name of a file")
    return Path(text)


def _character(text: str) -> str:
    named = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}
    character = named.get(text, text)
    if len(character) != 1 or character in '"\r\n\0':
        raise argparse.ArgumentTypeError(f"{text!r} must be one character, or tab")
    return character
