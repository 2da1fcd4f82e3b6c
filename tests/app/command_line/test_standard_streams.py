"""Standard output that is full or closed, and input that is: one sentence, exit code 1. Redirected, it is UTF-8."""

import io
import subprocess
import sys

import pytest

from clusterforests.app.command_line.program import main

DATA = "a,b\n" + "".join(f"{i % 7},{10 * (i % 2)}\n" for i in range(40))


@pytest.mark.parametrize(
    ("command", "redirection", "sentence"),
    [
        ("fit t.csv", ">/dev/full", " fit: standard output: No space left on device. Send it elsewhere."),
        ("fit t.csv", ">&-", " fit: standard output: Bad file descriptor. Send it elsewhere."),
        ("fit t.csv --out -", ">&-", " fit: standard output: Bad file descriptor. Send it elsewhere."),
        ("fit -", "<&-", " fit: standard input: Bad file descriptor."),
        ("--help", ">/dev/full", ": standard output: No space left on device. Send it elsewhere."),
        ("--version", ">&-", ": standard output: Bad file descriptor. Send it elsewhere."),
        ("fit --help", ">&-", ": standard output: Bad file descriptor. Send it elsewhere."),
    ],
)
@pytest.mark.parametrize("buffered", ["1", ""])
def test_streams_that_are_full_or_closed(tmp_path, monkeypatch, command, redirection, sentence, buffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", buffered)
    (tmp_path / "t.csv").write_text(DATA)
    line = f"{sys.executable} -m clusterforests {command} --clusters 2 --trees 3 {redirection}"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, f"clusterforests{sentence}")
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


class OfWindows(io.TextIOWrapper):
    """Standard output as Windows has it: the characters of Western Europe, and other line ends."""

    def __init__(self, terminal):
        super().__init__(io.BytesIO(), encoding="cp1252", newline="\r\n")
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.mark.parametrize(("terminal", "name"), [(False, "\u039b7".encode()), (True, b"?7")])
def test_names_that_the_encoding_of_windows_lacks(tmp_path, monkeypatch, terminal, name):
    """Redirected labels are as in a file; a terminal shows a question mark."""
    lines = DATA.splitlines()
    named = [f"name,{lines[0]}", *(f"\u039b{i},{line}" for i, line in enumerate(lines[1:]))]
    (tmp_path / "t.csv").write_text("\n".join(named) + "\n", encoding="utf-8")
    out = OfWindows(terminal)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    command = ["fit", str(tmp_path / "t.csv"), "--clusters", "2", "--trees", "3", "--quiet", "--id", "name"]
    assert main([*command, "--out", "-"]) == 0
    written = out.buffer.getvalue().split(b"\r\n" if terminal else b"\n")
    assert written[0] == b"name,cluster,membership"
    assert written[8].split(b",")[0] == name
    assert len(written) == 42
    if not terminal:
        assert main([*command, "--out", str(tmp_path / "labels.csv")]) == 0
        assert out.buffer.getvalue() == (tmp_path / "labels.csv").read_bytes()
