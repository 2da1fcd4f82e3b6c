"""Standard output that is full or closed, and input that is: one sentence, exit code 1."""

import subprocess
import sys

import pytest

DATA = "a,b\n" + "".join(f"{i % 7},{10 * (i % 2)}\n" for i in range(40))


@pytest.mark.parametrize(
    ("command", "redirection", "sentence"),
    [
        ("fit t.csv", ">/dev/full", "fit: standard output: No space left on device. Send it elsewhere."),
        ("fit t.csv --out -", ">&-", "fit: standard output: Bad file descriptor. Send it elsewhere."),
        ("fit -", "<&-", "fit: standard input: Bad file descriptor."),
    ],
)
def test_streams_that_are_full_or_closed(tmp_path, command, redirection, sentence):
    (tmp_path / "t.csv").write_text(DATA)
    line = f"{sys.executable} -m clusterforests {command} --clusters 2 --trees 3 {redirection}"
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, f"clusterforests {sentence}")
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
