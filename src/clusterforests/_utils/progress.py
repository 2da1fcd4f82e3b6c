"""The progress of a fit: one line that changes on a terminal, a plain line for each stage elsewhere."""

import sys
import time
from types import TracebackType
from typing import Self

# Characters of the bar.
BAR_WIDTH = 24


class ProgressBar:
    """Shows on standard error how far a fit is. Times are those of the stage; that of the last line is the whole."""

    def __init__(self, total: int, enabled: bool) -> None:
        self.total = total
        self.enabled = enabled
        self.terminal = enabled and sys.stderr.isatty()
        self.started = self._stage_started = time.perf_counter()
        self._stage = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        """Leave the last line as it is."""

    def grown(self, finished: int, rounds: int) -> None:
        """Show how many trees have stopped growing."""
        self._count("growing", finished, self.total, "trees")

    def read(self, rows: int, total: int) -> None:
        """Show how many rows of a large table have been read, out of those to read."""
        self._count("reading", rows, total, "rows")

    def loaded(self, done: int, total: int) -> None:
        """Show how many MB of a file have been read, out of its size, which is 0 if unknown."""
        self._count("loading", done // 10**6, max(done, total) // 10**6, "MB")

    def stage(self, text: str) -> None:
        """Show what is done now, which cannot be counted."""
        self._stage, self._stage_started = text, time.perf_counter()
        if self.enabled:
            self._write(f"\r\x1b[2K{text} ..." if self.terminal else f"{text} ...\n")

    def done(self, text: str) -> None:
        """Show a last line and end it."""
        self.clear()
        if self.enabled:
            self._write(f"{text}, {time.perf_counter() - self.started:.1f} s\n")

    def clear(self) -> None:
        """Empty the terminal's line for what follows."""
        if self.terminal:
            self._write("\r\x1b[2K")

    def _count(self, stage: str, done: int, total: int, unit: str) -> None:
        if not self.terminal:
            return
        if stage != self._stage:
            self._stage, self._stage_started = stage, time.perf_counter()
        filled = BAR_WIDTH * done // max(1, total)
        bar = "#" * filled + "." * (BAR_WIDTH - filled)
        self._write(
            f"\r\x1b[2K{stage} [{bar}] {done}/{total} {unit}, {time.perf_counter() - self._stage_started:.1f} s"
        )

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
