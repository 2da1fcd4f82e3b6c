"""The command line as people and programs use it: in a terminal, in a pipe, stopped half-way."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from clusterforests.app.command_line.options import COMMANDS
from clusterforests.app.command_line.program import main

COMMAND = [sys.executable, "-m", "clusterforests"]
WINE = ["--id", "wine", "--label", "cultivar", "--clusters", "3", "--trees", "20"]


def run(arguments, **options):
    return subprocess.run([*COMMAND, *arguments], capture_output=True, check=False, timeout=300, **options)


def test_a_pipe_has_no_progress(wine, read_labels):
    done = run(["fit", "-", *WINE, "--out", "-"], input=wine.read_bytes())
    assert done.returncode == 0
    header, names, _ = read_labels(done.stdout.decode())
    assert header == ["wine", "cluster", "membership"]
    assert len(names) == 178
    said = done.stderr.decode()
    assert "growing" not in said
    assert "\r" not in said
    assert "\x1b" not in said
    assert said.startswith("standard input: 178 rows, 13 features -> 3 clusters")


def in_terminal(arguments, until=None, stop=None):
    """Run in a pseudo-terminal; what it showed and its exit code. `stop` is sent when `until` is on the screen."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(COMMAND[0], [*COMMAND, *arguments])
    shown, stopped, deadline = b"", False, time.monotonic() + 300
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 1)
        if not ready:
            continue
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        shown += piece
        if until is not None and not stopped and until in shown:
            stopped = True
            if stop is None:
                os.write(terminal, b"\x03")
            else:
                os.kill(pid, stop)
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return shown.decode(), os.waitstatus_to_exitcode(status)


def test_a_terminal_has_progress(wine, tmp_path):
    shown, status = in_terminal(["fit", str(wine), *WINE, "--out", str(tmp_path / "labels.csv")])
    assert status == 0
    assert "loading [" in shown
    assert re.search(r"growing \[[#.]{24}\] \d+/20 trees", shown)
    for stage in (
        "reading the table",
        "screening the features",
        "cutting the graph",
        "placing the rows",
        "measuring",
        "writing",
    ):
        assert f"\x1b[2K{stage}" in shown
    assert shown.index("growing [") < shown.index("cutting the graph")
    assert "wrote " in shown
    quiet, status = in_terminal(["fit", str(wine), *WINE, "--quiet"])
    assert (quiet, status) == ("", 0)


@pytest.fixture(scope="module")
def long_fit(tmp_path_factory):
    """A table whose fit takes long enough to be stopped."""
    folder = tmp_path_factory.mktemp("long")
    np.save(folder / "x.npy", np.random.default_rng(0).normal(size=(20000, 40)))
    return folder, ["fit", str(folder / "x.npy"), "--clusters", "8", "--trees", "2000"]


def test_ctrl_c_in_a_terminal_leaves_no_file(long_fit):
    folder, arguments = long_fit
    files = ["--out", str(folder / "labels.csv"), "--model", str(folder / "model.cf")]
    shown, status = in_terminal([*arguments, *files], until=b"growing [")
    assert status == 130
    assert "clusterforests fit: Stopped. Nothing was written." in shown
    assert "Traceback" not in shown
    assert os.listdir(folder) == ["x.npy"]


def test_ctrl_c_while_the_table_is_read(tmp_path):
    path = tmp_path / "big.csv"
    path.write_text("a,b\n" + "1,2\n" * 1_000_000)
    shown, status = in_terminal(
        ["fit", str(path), "--out", str(tmp_path / "l.csv")], until=b"loading [", stop=signal.SIGINT
    )
    assert status == 130
    assert "Traceback" not in shown
    assert os.listdir(tmp_path) == ["big.csv"]


def test_a_reader_that_has_enough_is_no_error(wine):
    command = subprocess.list2cmdline([*COMMAND, "fit", str(wine), *WINE, "--out", "-", "--quiet"])
    done = subprocess.run(f"{command} | head -1", shell=True, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout.strip() == "wine,cluster,membership"
    assert done.stderr == ""


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help(name, capsys):
    with pytest.raises(SystemExit) as caught:
        main([*([name] if name else []), "--help"])
    text = capsys.readouterr().out
    assert caught.value.code == 0
    assert max(map(len, text.splitlines())) <= 82
    assert "example" in text
    assert "130  stopped with Ctrl-C" in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "required: COMMAND"),
        (["fit"], "required: DATA"),
        (["fit", "x.csv", "--clusters", "0"], "'0' must be a number such as 4"),
        (["fit", "x.csv", "--clusters", "6-2"], "'6-2' must be"),
        (["fit", "x.csv", "--trees", "none"], "'none' must be a whole number of at least 1"),
        (["fit", "x.csv", "--seed", "-1"], "seed"),
        (["fit", "x.csv", "--delimiter", "ab"], "'ab' must be a single character"),
        (["fit", "x.csv", "--format", "doc"], "invalid choice: 'doc'"),
        (["fit", "x.csv", "--cluster", "3"], "unrecognized arguments: --cluster"),
        (["fit", "x.csv", "--json", "--out", "-"], "both write to standard output"),
        (["fit", "x.csv", "--model", "-"], "Pass the name of a file"),
    ],
)
def test_usage_errors(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("line", ["--version", "--help", "fit --help", "inspect --help"])
def test_help_does_not_wait_for_libraries(line):
    code = f"""
import sys
from clusterforests.app.command_line.program import main
try:
    main({line.split()!r})
except SystemExit:
    sys.exit(any(name in sys.modules for name in ("numpy", "pandas", "scipy", "sklearn")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert b"clusterforests" in done.stdout


def test_stopped_while_libraries_are_imported(monkeypatch, capsys):
    def stop(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("importlib.import_module", stop)
    assert main(["fit", "data.csv"]) == 130
    assert capsys.readouterr().err == "clusterforests fit: Stopped. Nothing was written.\n"
