"""What a command says on the screen: progress and notes on standard error, results on standard output."""

import argparse
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from clusterforests._utils.progress import ProgressBar
from clusterforests.app.command_line.streams import writing_to_stdout


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
        self.notes.append(text)
        if not self.quiet:
            self.bar.clear()
            sys.stderr.write(f"{self.name}: note: {text}\n")  # at once, or a progress bar could come between

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
            self.note(str(message))
