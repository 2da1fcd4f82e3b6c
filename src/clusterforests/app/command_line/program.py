"""The command line: `clusterforests fit | inspect | predict | report | demo`."""

import argparse
import importlib
import os
import shlex
import sys
import textwrap
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from clusterforests import __version__
from clusterforests.app.command_line.arguments import EXIT_CODES
from clusterforests.app.command_line.options.demo import add_demo
from clusterforests.app.command_line.options.fit import add_fit
from clusterforests.app.command_line.options.inspect import add_inspect
from clusterforests.app.command_line.options.predict import add_predict
from clusterforests.app.command_line.options.report import add_report
from clusterforests.app.command_line.outputs import explain
from clusterforests.app.command_line.problems import FileProblems
from clusterforests.app.command_line.screen import open_closed_streams, write_any_character, writing_to_stdout

EXAMPLES = """examples:
  clusterforests demo
  clusterforests fit data.csv --clusters 4 --out labels.csv \\
      --report report.html --model model.cf
  clusterforests predict model.cf new.csv --out new-labels.csv
  clusterforests fit --help

"""
COMMANDS: tuple[tuple[str, str, Callable[[argparse.ArgumentParser], None]], ...] = (
    ("fit", "cluster the rows of a table", add_fit),
    ("inspect", "show how each column of a table is read", add_inspect),
    ("predict", "find the clusters of other rows with a saved model", add_predict),
    ("report", "write a page about a saved model", add_report),
    ("demo", "try everything on a small data set", add_demo),
)


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
        # A command is imported when it runs: that takes a second, which `--help` need not wait for.
        command = importlib.import_module(f"clusterforests.app.command_line.commands.{given.command}")
        status: int = getattr(command, f"run_{given.command}")(given)
        with writing_to_stdout():
            sys.stdout.flush()
    except KeyboardInterrupt:
        return _fail(given, given.stopped, 130)
    except BrokenPipeError:  # whoever reads the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _fail(given, explain(error), 1)
    except FileProblems as error:
        return _fail(given, error.describe(["clusterforests", *words]), 1)
    except (ValueError, TypeError, ImportError, MemoryError) as error:
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
    parser = _Parser(
        prog="clusterforests",
        description="Cluster tables with many columns, some of which may be noise.",
        epilog=EXAMPLES + EXIT_CODES,
        formatter_class=_formatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"clusterforests {__version__}")
    parsers = parser.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")
    for name, text, add_options in COMMANDS:
        command = parsers.add_parser(name, help=text, formatter_class=_formatter)
        command.set_defaults(stopped="Stopped. Nothing was written.", again=main, usage=command.error)
        add_options(command)
        command.description = textwrap.fill(command.description or text, 78)
    return parser


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=26)


def _fail(given: argparse.Namespace, text: str, status: int) -> int:
    start = "\r\033[K" if sys.stderr.isatty() else ""  # erases what is left of a progress bar
    # Libraries quote bytes of a file, which a terminal might obey.
    seen = "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
    print(f"{start}clusterforests {given.command}: {seen}", file=sys.stderr)
    return status
