"""The line that says how far a fit is."""

import pytest

from clusterforests._utils import progress
from clusterforests._utils.progress import ProgressBar


@pytest.fixture
def terminal(monkeypatch):
    """A bar on a terminal, and a clock that the test moves."""
    clock = [0.0]
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(progress.time, "perf_counter", lambda: clock[0])
    return ProgressBar(8, enabled=True), clock


def test_a_terminal_shows_what_is_counted_and_the_time_of_the_stage(terminal, capsys):
    bar, clock = terminal
    bar.grown(2, 1)
    clock[0] = 7.0
    bar.grown(8, 2)
    bar.read(1, 4)
    bar.loaded(30, 0)
    bar.stage("cutting")
    clock[0] = 9.0
    bar.done("done")
    assert capsys.readouterr().err.split("\r\x1b[2K")[1:] == [
        "growing [######..................] 2/8 trees, 0.0 s",
        "growing [########################] 8/8 trees, 7.0 s",
        "reading [######..................] 1/4 rows, 0.0 s",
        "loading [........................] 0/0 MB, 0.0 s",
        "cutting ...",
        "done, 9.0 s\n",
    ]


def test_elsewhere_only_stages_are_lines(capsys):
    bar = ProgressBar(8, enabled=True)
    bar.grown(3, 1)
    bar.read(1, 2)
    bar.loaded(1, 2)
    bar.clear()
    assert capsys.readouterr().err == ""
    bar.stage("cutting")
    assert capsys.readouterr().err == "cutting ...\n"
    ProgressBar(8, enabled=False).done("nothing")
    assert capsys.readouterr().err == ""
