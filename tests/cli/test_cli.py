"""The command line as people and programs use it: in a terminal, in a pipe, stopped half-way."""

import csv
import json
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
from sklearn.datasets import load_wine

from clusterforests import ClusterForest
from clusterforests.cli.commands.demo import wine_as_text
from clusterforests.cli.program import COMMANDS, build_parser, main

COMMAND = [sys.executable, "-m", "clusterforests"]
WINE = ["--id", "wine", "--label", "cultivar", "--clusters", "3", "--trees", "20"]


@pytest.fixture
def wine(tmp_path):
    path = tmp_path / "wine.csv"
    path.write_text(wine_as_text())
    return path


def read_labels(text):
    rows = list(csv.reader(text.splitlines()))
    return rows[0], [row[0] for row in rows[1:]], np.array([int(row[1]) for row in rows[1:]])


def test_labels_are_those_of_the_estimator_and_predict_gives_them_again(wine, tmp_path, capsys):
    out, model, again = (tmp_path / name for name in ("labels.csv", "model.cf", "again.csv"))
    assert main(["fit", str(wine), *WINE, "--out", str(out), "--model", str(model)]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "178 rows, 13 features -> 3 clusters by 20 trees" in printed.out
    assert "agreement with cultivar, 178 rows" in printed.out
    header, names, labels = read_labels(out.read_text())
    forest = ClusterForest(3, n_estimators=20, random_state=0).fit(load_wine().data)
    assert header == ["wine", "cluster", "membership"]
    assert names[:2] == ["wine 1", "wine 2"]
    assert np.array_equal(labels, forest.labels_)
    assert main(["predict", str(model), str(wine), "--id", "wine", "--out", str(again)]) == 0
    assert read_labels(again.read_text())[1] == names
    assert np.array_equal(read_labels(again.read_text())[2], labels)
    assert np.array_equal(ClusterForest.load(model).labels_, labels)
    assert sorted(os.listdir(tmp_path)) == ["again.csv", "labels.csv", "model.cf", "wine.csv"]


def test_threads_do_not_change_the_files(wine, tmp_path):
    for threads in ("1", "2"):
        files = ["--out", str(tmp_path / f"l{threads}"), "--model", str(tmp_path / f"m{threads}")]
        assert main(["fit", str(wine), *WINE, *files, "--quiet", "--threads", threads]) == 0
    for kind in "lm":
        assert (tmp_path / f"{kind}1").read_bytes() == (tmp_path / f"{kind}2").read_bytes()


def test_json(wine, tmp_path, capsys):
    assert main(["fit", str(wine), *WINE, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["clusters"] == len(facts["sizes"]) == 3
    assert len(facts["labels"]) == len(facts["ids"]) == facts["rows"] == 178
    assert facts["scores"]["accuracy"] > 0.9
    assert sum(facts["feature_importances"].values()) == pytest.approx(1)
    model = tmp_path / "m.cf"
    assert main(["fit", str(wine), *WINE, "--json", "--model", str(model), "--out", str(tmp_path / "l.tsv")]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["files"] == {"out": str(tmp_path / "l.tsv"), "model": str(model)}
    assert "labels" not in facts
    assert (tmp_path / "l.tsv").read_text().startswith("wine\tcluster\tmembership\n")
    assert main(["predict", str(model), str(wine), "--label", "cultivar", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert len(facts["labels"]) == 178
    assert facts["scores"]["accuracy"] > 0.9


def test_one_cluster_is_json_too(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i * 7 % 11},{i * 5 % 13}\n" for i in range(50)))
    assert main(["fit", str(path), "--clusters", "1", "--trees", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sizes"] == [50]


@pytest.mark.parametrize("ending", ["parquet", "feather", "npy"])
def test_other_formats_of_labels(wine, tmp_path, ending):
    out = tmp_path / f"labels.{ending}"
    assert main(["fit", str(wine), *WINE, "--out", str(out), "--quiet"]) == 0
    if ending == "npy":
        labels = np.load(out)
    else:
        import pandas as pd

        frame = pd.read_parquet(out) if ending == "parquet" else pd.read_feather(out)
        assert list(frame.columns) == ["wine", "cluster", "membership"]
        labels = frame["cluster"]
    assert np.bincount(labels).sum() == 178


def test_npy_and_columns_in_another_order(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 3)) + np.repeat([[0], [9]], 30, axis=0), 3)
    np.save(tmp_path / "x.npy", X)
    model = tmp_path / "m.cf"
    assert (
        main(["fit", str(tmp_path / "x.npy"), "--clusters", "2", "--trees", "9", "--model", str(model), "--quiet"]) == 0
    )
    table = "\n".join(["a,b,c", *(",".join(map(str, row)) for row in X.tolist())])
    (tmp_path / "x.csv").write_text(table)
    assert main(["predict", str(model), str(tmp_path / "x.csv"), "--quiet"]) == 0
    first = capsys.readouterr().out
    assert (
        main(["fit", str(tmp_path / "x.csv"), "--clusters", "2", "--trees", "9", "--model", str(model), "--quiet"]) == 0
    )
    shuffled = "\n".join(["extra,c,a,b", *(",".join(map(str, ["?", *row[[2, 0, 1]]])) for row in X)])
    (tmp_path / "y.csv").write_text(shuffled)
    for name in ("y.csv", "x.npy"):
        assert main(["predict", str(model), str(tmp_path / name), "--quiet"]) == 0
        assert capsys.readouterr().out == first


def test_unknown_categories_are_a_note(tmp_path, capsys):
    rows = [f"{i % 2 * 9 + i % 3},{'xy'[i % 2]}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *rows, "3,"]))
    model = tmp_path / "m.cf"
    assert (
        main(["fit", str(tmp_path / "t.csv"), "--clusters", "2", "--trees", "9", "--model", str(model), "--quiet"]) == 0
    )
    (tmp_path / "new.csv").write_text("a,b\n1,z\n")
    assert main(["predict", str(model), str(tmp_path / "new.csv")]) == 0
    err = capsys.readouterr().err
    assert "clusterforests predict: note: Column 'b' has levels that were not seen in fit: 'z'" in err


def test_report_and_demo(tmp_path, capsys):
    folder = tmp_path / "demo"
    assert main(["demo", "--out", str(folder)]) == 0
    assert "accuracy" in capsys.readouterr().out
    assert sorted(os.listdir(folder)) == ["labels.csv", "model.cf", "report.html", "wine.csv"]
    page = tmp_path / "page.html"
    options = ["--id", "wine", "--label", "cultivar", "--title", "Wines <b>"]
    assert main(["report", str(folder / "model.cf"), str(folder / "wine.csv"), *options, "--out", str(page)]) == 0
    assert page.read_text().lstrip().lower().startswith("<!doctype html>")
    assert "Wines <b>" not in page.read_text()


def run(arguments, **options):
    return subprocess.run([*COMMAND, *arguments], capture_output=True, check=False, timeout=300, **options)


def test_a_pipe_has_no_progress(wine):
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
    assert "\x1b[2K" in shown
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


@pytest.mark.parametrize("name", ["", *(name for name, _, _ in COMMANDS)])
def test_help(name, capsys):
    with pytest.raises(SystemExit) as caught:
        main([*([name] if name else []), "--help"])
    text = capsys.readouterr().out
    assert caught.value.code == 0
    assert max(map(len, text.splitlines())) <= 82
    if name != "reproduce":
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
        (["fit", "x.csv", "--delimiter", "ab"], "'ab' must be one character"),
        (["fit", "x.csv", "--format", "xlsx"], "invalid choice: 'xlsx'"),
        (["fit", "x.csv", "--json", "--out", "-"], "both write to standard output"),
        (["fit", "x.csv", "--model", "-"], "give the name of a file"),
        (["completion", "tcsh"], "invalid choice: 'tcsh'"),
    ],
)
def test_usage_errors(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command_and_option(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    commands = build_parser().parse_args(["completion", shell]).commands
    for command in commands:
        assert command.name in script
        for option in command.options:
            assert option.flags[0].lstrip("-") in script


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["clusterforests", "pre"], ["predict"]),
        (["clusterforests", "fit", "--cl"], ["--clusters"]),
        (["clusterforests", "fit", "--format", "p"], ["parquet"]),
        (["clusterforests", "completion", ""], ["bash", "zsh", "fish"]),
    ],
)
def test_bash_completes(words, expected, capsys, tmp_path):
    assert main(["completion", "bash"]) == 0
    script = tmp_path / "completion.bash"
    script.write_text(capsys.readouterr().out)
    given = " ".join(f"'{word}'" for word in words)
    line = (
        f"source {script}; COMP_WORDS=({given}); COMP_CWORD={len(words) - 1}; _clusterforests; echo ${{COMPREPLY[@]}}"
    )
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout.split() == expected
    assert done.stderr == ""
