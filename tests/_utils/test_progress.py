"""The line that says how far a fit is."""

import re
import time

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


def test_the_time_left_follows_from_the_rate_of_the_task(terminal, capsys):
    bar, clock = terminal
    bar.grown(0, 0)
    clock[0] = 0.5
    bar.grown(2, 1)
    clock[0] = 300.0
    bar.grown(4, 2)
    first, soon, later = capsys.readouterr().err.split("\r\x1b[2K")[1:]
    assert first == "growing [........................] 0/8 trees, 0.0 s"
    assert soon == "growing [######..................] 2/8 trees, 0.5 s"
    assert later == "growing [############............] 4/8 trees, 300.0 s, about 5 min left"


def test_rows_bytes_and_stages(terminal, capsys):
    bar, _ = terminal
    bar.read(1, 4)
    bar.loaded(30, 20)
    bar.loaded(30, 0)
    bar.stage("looking")
    bar.done("done")
    bar.clear()
    shown = capsys.readouterr().err.split("\r\x1b[2K")[1:]
    assert shown[0] == "reading [######..................] 1/4 rows, 0.0 s"
    assert shown[1] == "loading [########################] 100 %, 0.0 s"
    assert shown[2] == "loading, 0.0 s"
    assert shown[3] == "looking, 0.0 s"
    assert shown[4:] == ["done, 0.0 s\n", ""]


def test_the_clock_moves_a_line_that_nothing_counts(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(progress, "TICK", 0.01)
    with ProgressBar(8, enabled=True) as bar:
        bar.stage("looking")
        time.sleep(0.3)
        assert len(re.findall(r"\r\x1b\[2Klooking, 0\.[0-9] s", capsys.readouterr().err)) > 2
        bar.grown(8, 8)  # this line stays as it is
        capsys.readouterr()
        time.sleep(0.1)
        assert capsys.readouterr().err == ""
        bar.stage("cutting")
    capsys.readouterr()
    time.sleep(0.1)
    assert capsys.readouterr().err == ""
    bar._clock.join(5)
    assert not bar._clock.is_alive()


def test_times_are_those_of_the_stage_and_in_the_end_of_the_whole(terminal, capsys):
    bar, clock = terminal
    bar.grown(8, 1)
    clock[0] = 7.0
    bar.stage("cutting")
    clock[0] = 9.0
    bar.done("done")
    shown = capsys.readouterr().err.split("\r\x1b[2K")
    assert shown[2:] == ["cutting, 0.0 s", "done, 9.0 s\n"]


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


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (89.4, "89 s"), (90, "2 min"), (5340, "89 min"), (5400, "1.5 h")]
)
def test_spans(seconds, text):
    assert progress._span(seconds) == text
