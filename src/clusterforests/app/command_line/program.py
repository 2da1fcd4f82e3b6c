"""The command line: `clusterforests fit | inspect | predict | report | demo`."""

import argparse
import importlib
import os
import shlex
import sys
import textwrap
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

from clusterforests import __version__
from clusterforests.app.command_line.options import COMMANDS, EXIT_CODES, PROGRAM
from clusterforests.app.command_line.streams import explain, open_closed_streams, write_any_character, writing_to_stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        What follows `clusterforests` on the command line; None takes the process's own.

    Returns
    -------
    status : int
        0 for success, 1 for a problem with the input, 2 for a mistake in the command line, 130 after Ctrl-C.
    """
    open_closed_streams()
    write_any_character()
    words = list(sys.argv[1:] if arguments is None else arguments)
    given = build_parser().parse_args(words)
    given.words = words
    given.command_line = shlex.join(["clusterforests", *words])
    try:
        # The libraries are loaded when a command runs: that takes a second, which `--help` need not wait for.
        commands = importlib.import_module("clusterforests.app.command_line.commands")
        status: int = getattr(commands, f"run_{given.command}")(given)
        with writing_to_stdout():
            sys.stdout.flush()
    except KeyboardInterrupt:
        return _fail(given, "Stopped. Nothing was written.", 130)
    except BrokenPipeError:  # whoever reads the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _fail(given, explain(error), 1)
    except (ValueError, TypeError, ImportError, MemoryError) as error:
        if isinstance(error, ModuleNotFoundError) and error.name == "pandas":
            return _fail(given, "The command line needs pandas: pip install clusterforests[app].", 1)
        if hasattr(error, "describe"):  # the problems of a table, in the words of the command line
            return _fail(given, error.describe(["clusterforests", *words]), 1)
        return _fail(given, " ".join(str(error).split()) or type(error).__name__, 1)
    return status


class _Parser(argparse.ArgumentParser):
    """A parser that says so when its help cannot be written."""

    def _print_message(self, message: str, file: Any = None) -> None:
        try:
            with writing_to_stdout() if file is sys.stdout else nullcontext():
                print(message, end="", file=file, flush=True)
        except OSError as error:
            if file is sys.stdout and not isinstance(error, BrokenPipeError):
                print(f"clusterforests: {explain(error)}", file=sys.stderr)
            sys.exit(1)


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    style = partial(argparse.RawDescriptionHelpFormatter, max_help_position=26)
    parser = _Parser(
        prog="clusterforests",
        description=textwrap.fill("Cluster tables with many columns, some of which may be noise.", 78),
        epilog=PROGRAM + EXIT_CODES,
        formatter_class=style,
        allow_abbrev=False,
    )
    parser.add_argument("-V", "--version", action="version", version=f"clusterforests {__version__}")
    parsers = parser.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for name, (text, add_options) in COMMANDS.items():
        command = parsers.add_parser(name, help=text, formatter_class=style, allow_abbrev=False)
        command.set_defaults(again=main, usage=command.error)
        add_options(command)
    return parser


def _fail(given: argparse.Namespace, text: str, status: int) -> int:
    start = "\r\033[K" if sys.stderr.isatty() else ""  # erases what is left of a progress bar
    # Libraries quote bytes of a file, which a terminal might obey.
    seen = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
    print(f"{start}clusterforests {given.command}: {seen}", file=sys.stderr)
    return status
