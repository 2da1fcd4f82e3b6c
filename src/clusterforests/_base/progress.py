"""The progress of a fit: one line that changes on a terminal, plain lines elsewhere."""

import sys
import time

WIDTH = 24  # characters of the bar
SETTLED = 1.0  # seconds: an earlier estimate of the time left would jump about


class ProgressBar:
    """Shows on standard error how far a fit is."""

    def __init__(self, total: int, enabled: bool) -> None:
        self.total = total
        self.enabled = enabled
        self.terminal = enabled and sys.stderr.isatty()
        self.started = time.perf_counter()
        self._task = ""
        self._task_started = self.started
        self._done_before = 0

    def grown(self, finished: int, rounds: int) -> None:
        """Show how many trees have stopped growing."""
        if self.terminal:
            times = self._times("growing", finished, self.total)
            self._write(f"growing [{_bar(finished, self.total)}] {finished}/{self.total} trees, {times}")

    def read(self, rows: int, total: int) -> None:
        """Show how many rows of a large table have been read, out of those to read."""
        if self.terminal:
            self._write(f"reading [{_bar(rows, total)}] {rows}/{total} rows, {self._times('reading', rows, total)}")

    def loaded(self, done: int, total: int) -> None:
        """Show how many bytes of a file have been read, out of its size, which is 0 if unknown."""
        if self.terminal and total:
            part = min(done, total)
            self._write(
                f"loading [{_bar(part, total)}] {100 * part // total:3d} %, {self._times('loading', part, total)}"
            )
        elif self.terminal:
            self._write(f"loading, {self._elapsed()}")

    def looking(self) -> None:
        """Show that the number of clusters is being searched, which cannot be counted."""
        if self.terminal:
            self._write("looking for the number of clusters")

    def stage(self, text: str) -> None:
        """Show what is done now."""
        if self.terminal:
            self._write(f"{text} {self._elapsed()}")
        elif self.enabled:
            sys.stderr.write(f"{text} {self._elapsed()}\n")
            sys.stderr.flush()

    def done(self, text: str) -> None:
        """Show a last line and end it."""
        self.stage(text)
        if self.terminal:
            sys.stderr.write("\n")
            sys.stderr.flush()

    def clear(self) -> None:
        """Empty the terminal's line for what follows."""
        if self.terminal:
            self._write("")

    def _elapsed(self) -> str:
        return f"{time.perf_counter() - self.started:.1f} s"

    def _times(self, task: str, done: int, total: int) -> str:
        """Write the time so far and, at the rate of the task so far, the time that is left."""
        if task != self._task:
            self._task, self._task_started, self._done_before = task, time.perf_counter(), done
        spent, more = time.perf_counter() - self._task_started, done - self._done_before
        if spent < SETTLED or not more:
            return self._elapsed()
        return f"{self._elapsed()}, about {_span(spent * (total - done) / more)} left"

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r\x1b[2K{text}")
        sys.stderr.flush()


def _bar(done: int, total: int) -> str:
    filled = WIDTH * done // total
    return "#" * filled + "." * (WIDTH - filled)


def _span(seconds: float) -> str:
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"
