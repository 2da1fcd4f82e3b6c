"""The progress of a fit: one line that changes on a terminal, plain lines elsewhere.

Every stage has its line. What can be counted has a bar, which ends with its stage; of other stages the line says how
long they have taken so far.
"""

import sys
import threading
import time
from types import TracebackType
from typing import Self

WIDTH = 24  # characters of the bar
SETTLED = 1.0  # seconds: an earlier estimate of the time left would jump about
TICK = 0.5  # seconds between updates of a line that nothing else updates


class ProgressBar:
    """Shows on standard error how far a fit is. Times are those of the stage; that of the last line is the whole."""

    def __init__(self, total: int, enabled: bool) -> None:
        self.total = total
        self.enabled = enabled
        self.terminal = enabled and sys.stderr.isatty()
        self.started = time.perf_counter()
        self._task = ""
        self._task_started = self.started
        self._done_before = 0
        self._waiting = False  # whether the clock alone moves the line
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._clock: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        with self._lock:
            self._waiting = False
        self._closed.set()

    def grown(self, finished: int, rounds: int) -> None:
        """Show how many trees have stopped growing."""
        if self.terminal:
            times = self._times("growing", finished, self.total)
            self._write(f"growing [{_bar(finished, self.total)}] {finished}/{self.total} trees, {times}")

    def read(self, rows: int, total: int) -> None:
        """Show how many rows of a large table have been read, out of those to read."""
        if self.terminal:
            times = self._times("reading", rows, total)
            self._write(f"reading [{_bar(rows, total)}] {rows}/{total} rows, {times}")

    def loaded(self, done: int, total: int) -> None:
        """Show how many bytes of a file have been read, out of its size, which is 0 if unknown."""
        part = min(done, total)
        times = self._times("loading", part, total)
        if self.terminal and total:
            self._write(f"loading [{_bar(part, total)}] {100 * part // total:3d} %, {times}")
        elif self.terminal:
            self._write(f"loading, {times}")

    def stage(self, text: str) -> None:
        """Show what is done now, which cannot be counted."""
        self._begin(text, 0)
        if self.terminal:
            self._write(f"{text}, {self._elapsed()}", waiting=True)
            if self._clock is None:
                self._clock = threading.Thread(target=self._tick, daemon=True)
                self._clock.start()
        elif self.enabled:
            self._end_line(f"{text} ...")

    def done(self, text: str) -> None:
        """Show a last line and end it."""
        self._task_started = self.started
        if self.terminal:
            self.clear()
        if self.enabled:
            self._end_line(f"{text}, {self._elapsed()}")

    def clear(self) -> None:
        """Empty the terminal's line for what follows."""
        if self.terminal:
            self._write("")

    def _tick(self) -> None:
        while not self._closed.wait(TICK):
            with self._lock:
                if self._waiting:
                    _send(f"\r\x1b[2K{self._task}, {self._elapsed()}")

    def _begin(self, task: str, done: int) -> None:
        self._task, self._task_started, self._done_before = task, time.perf_counter(), done

    def _elapsed(self) -> str:
        return f"{time.perf_counter() - self._task_started:.1f} s"

    def _times(self, task: str, done: int, total: int) -> str:
        """Write the time so far and, at the rate of the task so far, the time that is left."""
        if task != self._task:
            self._begin(task, done)
        spent, more = time.perf_counter() - self._task_started, done - self._done_before
        if spent < SETTLED or not more:
            return self._elapsed()
        return f"{self._elapsed()}, about {_span(spent * (total - done) / more)} left"

    def _write(self, text: str, *, waiting: bool = False) -> None:
        with self._lock:
            self._waiting = waiting
            _send(f"\r\x1b[2K{text}")

    def _end_line(self, text: str) -> None:
        with self._lock:
            _send(f"{text}\n")


def _send(text: str) -> None:
    sys.stderr.write(text)
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
