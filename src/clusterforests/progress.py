"""One line that says how far a fit is, on a terminal; plain lines elsewhere."""

import sys
import time

WIDTH = 24


class ProgressBar:
    """Trees that have stopped growing, out of all, then the stage that follows."""

    def __init__(self, total: int, enabled: bool) -> None:
        self.total = total
        self.enabled = enabled
        self.terminal = enabled and sys.stderr.isatty()
        self.started = time.perf_counter()

    def grown(self, finished: int, rounds: int) -> None:
        if self.terminal:
            bar = _bar(finished, self.total)
            self._write(f"\rgrowing [{bar}] {finished}/{self.total} trees, round {rounds}, {self._elapsed()}")

    def read(self, rows: int, total: int) -> None:
        """Rows of a large table that have been read, out of those to read."""
        if self.terminal:
            self._write(f"\r\x1b[2Kreading [{_bar(rows, total)}] {rows}/{total} rows, {self._elapsed()}")

    def stage(self, text: str) -> None:
        if self.enabled:
            self._write(f"\r\x1b[2K{text} {self._elapsed()}" if self.terminal else f"{text} {self._elapsed()}\n")

    def done(self, text: str) -> None:
        self.stage(text)
        if self.terminal:
            self._write("\n")

    def _elapsed(self) -> str:
        return f"{time.perf_counter() - self.started:.1f} s"

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _bar(done: int, total: int) -> str:
    filled = WIDTH * done // total
    return "#" * filled + "." * (WIDTH - filled)
