"""The command line: `clusterforests fit | predict | report | demo | reproduce | completion`."""

import argparse
import os
import shlex
import sys
import textwrap
from collections.abc import Callable, Sequence

from clusterforests import __version__
from clusterforests.cli.arguments import EXIT_CODES, Command
from clusterforests.cli.commands.completion import add_completion
from clusterforests.cli.commands.demo import add_demo
from clusterforests.cli.commands.fit import add_fit
from clusterforests.cli.commands.predict import add_predict, add_report
from clusterforests.cli.commands.reproduce import add_reproduce
from clusterforests.cli.outputs import explain

EXAMPLES = """examples:
  clusterforests demo
  clusterforests fit data.csv --clusters 4 --out labels.csv \\
      --report report.html --model model.cf
  clusterforests predict model.cf new.csv --out new-labels.csv
  clusterforests fit --help

"""
COMMANDS: tuple[tuple[str, str, Callable[[Command], None]], ...] = (
    ("fit", "cluster the rows of a table", add_fit),
    ("predict", "the clusters of other rows, by a saved model", add_predict),
    ("report", "a page about a saved model", add_report),
    ("demo", "all of it on data that comes along", add_demo),
    ("reproduce", "the tables, figures and theorems of the paper", add_reproduce),
    ("completion", "a script for bash, zsh or fish", add_completion),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit code.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        What follows `clusterforests` on the command line; None takes the process's own.

    Returns
    -------
    status : int
        0 if it went well, 1 if the input is at fault, 2 if the command line is, 130 after Ctrl-C.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    given = build_parser().parse_args(words)
    given.command_line = shlex.join(["clusterforests", *words])
    try:
        status: int = given.run(given)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _fail(given, given.stopped, 130)
    except BrokenPipeError:  # whoever read the output has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _fail(given, explain(error), 1)
    except (ValueError, TypeError, ImportError, MemoryError) as error:
        return _fail(given, " ".join(str(error).split()) or type(error).__name__, 1)
    return status


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="clusterforests",
        description="Clusters tables with many columns, some of them noise.",
        epilog=EXAMPLES + EXIT_CODES,
        formatter_class=_formatter,
    )
    parser.add_argument("--version", action="version", version=f"clusterforests {__version__}")
    parsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands: list[Command] = []
    for name, text, add in COMMANDS:
        one = parsers.add_parser(name, help=text, formatter_class=_formatter)
        one.set_defaults(stopped="Stopped. Nothing was written.", commands=commands, again=main, usage=one.error)
        commands.append(Command(one, name, text))
        add(commands[-1])
        one.description = textwrap.fill(one.description or text, 78)
    return parser


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.RawDescriptionHelpFormatter(prog, max_help_position=26)


def _fail(given: argparse.Namespace, text: str, status: int) -> int:
    start = "\r\033[K" if sys.stderr.isatty() else ""  # over what is left of a progress bar
    print(f"{start}clusterforests {given.command}: {text}", file=sys.stderr)
    return status
