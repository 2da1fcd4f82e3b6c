"""What a command says on the screen: progress and notes on stderr, results on stdout."""

import argparse
import errno
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from clusterforests._utils.progress import ProgressBar
from clusterforests._utils.validation import rename_places

# Standard input, output and error: where they are closed, a command says so; what is redirected is UTF-8.


def open_closed_streams() -> None:
    """Open what is closed such that reading and writing fail with an error of the system.

    It also keeps the numbers 0 to 2 taken: a file that were opened as 1 would receive what is printed.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is not None:
            continue
        wrong_way = os.O_WRONLY if mode == "r" else os.O_RDONLY
        given = os.open(os.devnull, os.O_WRONLY if name == "stderr" else wrong_way)
        if given != number:
            os.dup2(given, number)
            os.close(given)
        setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def write_any_character() -> None:
    """Write redirected output as files are written: in UTF-8, with plain line ends.

    Windows would write it in the encoding of the country, which lacks most characters. A terminal shows "?" for those
    that it lacks. PYTHONIOENCODING has the last word.
    """
    if "PYTHONIOENCODING" in os.environ:
        return
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if stream.isatty():
            stream.reconfigure(errors="replace")
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


@contextmanager
def writing_to_stdout() -> Iterator[None]:
    """Let errors of the system name standard output; what could not be written is then forgotten."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        with suppress(OSError):  # otherwise Python would try again when it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OSError(error.errno, error.strerror, "standard output") from error


OPTIONS = {
    "n_clusters": "--clusters",
    "n_estimators": "--trees",
    "random_state": "--seed",
    "n_jobs": "--threads",
    "must_link": "--must-link",
    "cannot_link": "--cannot-link",
    "known_labels": "--known-labels",
    "min_cluster_size": "--min-size",
    "max_cluster_size": "--max-size",
    "outliers=": "--outliers ",
}


@contextmanager
def naming_file(name: str, row_name: Callable[[int], str] | None = None) -> Iterator[None]:
    """Let errors of the estimator speak of the file, the options and names of rows instead of X and parameters."""
    try:
        yield
    except (ValueError, TypeError, MemoryError) as error:
        text = str(error)
        for parameter, option in OPTIONS.items():
            text = text.replace(f"{parameter}=", f"{option} ").replace(parameter, option)
        if row_name is not None:
            text = rename_places(text, row_name)
        raise ValueError(f"{'standard input' if name == '-' else name}: {text}") from error


@contextmanager
def reading_file(name: str) -> Iterator[None]:
    """Say which file does not fit into memory, or that it is standard input that cannot be read."""
    stdin, name = name == "-", "standard input" if name == "-" else name
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOMEM:  # a .npy file is mapped rather than read, and there may be no room for that
            raise _too_large(name, "") from error
        if stdin and error.errno is not None and error.filename is None:
            raise OSError(error.errno, error.strerror, name) from error
        raise
    except MemoryError as error:
        raise _too_large(name, " ".join(str(error).split()).rstrip(".")) from error


def _too_large(name: str, what: str) -> MemoryError:
    advice = "Leave columns out with --ignore, or save the table with numpy.save: a .npy file is not read as a whole."
    if name.endswith(".npy"):
        advice = "Save fewer rows or columns."
    return MemoryError(f"{name} does not fit into the memory that is left{f' ({what})' if what else ''}. {advice}")


class Screen:
    """Prints as much as was asked for. Progress is shown only on a terminal."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.quiet = given.quiet
        self.json = given.json
        self.name = f"clusterforests {given.command}"
        self.watched = not given.quiet and sys.stderr.isatty()
        self.bar = ProgressBar(1, enabled=self.watched)
        self.notes: list[str] = []  # what users should know, for JSON too
        self._told: set[str] = set()

    def note(self, text: str) -> None:
        """Print a note on stderr, and keep it."""
        self.notes.append(text.removeprefix("note: "))
        if not self.quiet:
            self.bar.clear()
            sys.stderr.write(f"{self.name}: {text}\n")  # at once, or a progress bar could come between

    @contextmanager
    def stage(self, text: str) -> Iterator[None]:
        """Show what is done now, until it is done or has failed. Only on a terminal."""
        self.bar.stage(text)
        try:
            yield
        finally:
            self.bar.clear()

    def tell(self, lines: list[str], *, on_stderr: bool = False) -> None:
        """Print the summary; on stderr if the labels go to stdout."""
        if not (self.quiet or self.json):
            self.bar.clear()
            if on_stderr:
                print("\n".join(lines), file=sys.stderr, flush=True)
            else:
                self.show("\n".join(lines))

    def show(self, text: str) -> None:
        """Print a result on standard output."""
        with writing_to_stdout():
            print(text, flush=True)

    @contextmanager
    def warnings_as_notes(self) -> Iterator[None]:
        """Print warnings as notes, without those that are meant for programmers."""
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            # The columns of a table without names are matched by their order.
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            warnings.filterwarnings("ignore", category=DeprecationWarning)
            warnings.filterwarnings("ignore", category=FutureWarning)
            warnings.showwarning = self._show_warning
            yield

    def _show_warning(self, message: Any, *_: Any, **__: Any) -> None:
        """Print a warning, but not twice: a command may call several methods that warn of the same."""
        if str(message) not in self._told:
            self._told.add(str(message))
            self.note(f"note: {message}")
