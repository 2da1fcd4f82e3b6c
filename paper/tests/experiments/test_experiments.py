"""The reproduction: same numbers however often it is killed, and tables that say what the runs say."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from clusterforests import PaperForest
from clusterforests._utils.random import stream
from clusterforests.backends import CpuBackend, KMeansJobs
from paper.experiments import reproduce, spec, tables
from paper.experiments import runner as files
from paper.experiments.methods import METHODS
from paper.experiments.remember import RememberingBackend
from paper.experiments.runner import Row, read_rows, run_cells
from paper.experiments.summary import ANY, Choice, Entry, Results, Score, printed

WINE = [spec.Cell("small", "wine", "EA", (("n_base_clusters", "n_f"), ("n_init", 1)))]


def test_specification_covers_the_printed_tables():
    names = set(spec.DATASETS)
    assert {row["dataset"] for row in printed("methods")} == names
    assert {row["dataset"] for row in printed("competition")} == names
    for row in printed("datasets"):
        rows, features, classes = spec.DATASETS[row["dataset"]]
        assert [int(row[name]) for name in ("instances", "features", "classes")] == [rows, features, classes]
    for make in spec.EXPERIMENTS.values():
        cells = make()
        assert len({cell.key for cell in cells}) == len(cells)
        assert {cell.method for cell in cells} <= set(METHODS)
    needed = {name for group in reproduce.GROUPS.values() for name in group.tables}
    assert needed == set(tables.TABLES)


def test_runs_are_written_and_not_repeated(tmp_path, monkeypatch):
    path = tmp_path / "small.csv"
    first = run_cells(WINE, path, runs=3, jobs=1)
    assert {row.run for row in first} == {0, 1, 2}
    assert read_rows(path) == sorted(first)
    calls = []
    monkeypatch.setitem(METHODS, "EA", lambda *given: calls.append(given) or {})
    assert run_cells(WINE, path, runs=3, jobs=1) == first
    assert not calls


@pytest.mark.parametrize("cut", [0, 10, 400, 1000, -1, None])
def test_a_journal_cut_anywhere_is_completed(tmp_path, cut):
    whole, broken = tmp_path / "whole.csv", tmp_path / "broken.csv"
    run_cells(WINE, whole, runs=8, jobs=1)
    # As a kill leaves it: nothing in the table yet, some blocks in the journal.
    rows = [list(row) for row in read_rows(whole)]
    blocks = [[row for row in rows if row[4] in runs] for runs in ((4, 5), (0, 1), (2, 3))]
    journal = "".join(json.dumps(block) + "\n" for block in blocks)
    broken.with_suffix(".journal").write_text(journal[:cut], encoding="utf-8")
    run_cells(WINE, broken, runs=8, jobs=1)
    assert broken.read_bytes() == whole.read_bytes()
    assert not broken.with_suffix(".journal").exists()


def test_what_is_missing_or_damaged_is_computed_again(tmp_path):
    path = tmp_path / "small.csv"
    whole = run_cells(WINE, path, runs=4, jobs=1)
    older = whole[-1]._replace(rho_r="1.0000")
    files.write_table(path, Row._fields, [*whole[1:-1], older])  # one threshold of the first run is gone
    journal = "\0\0{not json\n" + json.dumps([list(whole[-1])]) + "\n"
    path.with_suffix(".journal").write_text(journal, encoding="utf-8")
    assert run_cells(WINE, path, runs=4, jobs=1) == whole
    assert {row.run for row in run_cells(WINE, path, runs=2, jobs=1)} == {0, 1}
    assert read_rows(path) == whole  # fewer runs asked for, none lost


def test_a_file_of_another_kind_is_refused(tmp_path):
    path = tmp_path / "small.csv"
    files.write_table(path, ["dataset", "score"], [["wine", 1.0]])
    with pytest.raises(ValueError, match=r"small.csv, line 1: expected the columns dataset, method"):
        run_cells(WINE, path, runs=1, jobs=1)


def test_a_mark_without_an_end_is_named(tmp_path):
    document = tmp_path / "page.md"
    document.write_text("<!-- one -->\n<!-- two -->\n<!-- end -->\n", encoding="utf-8")
    with pytest.raises(ValueError, match="the mark <!-- one --> has no <!-- end -->"):
        tables.check_marks(document)


@pytest.mark.slow
def test_killed_three_times_and_started_again_gives_the_same_files(tmp_path):
    """The real thing, on the sets that come with scikit-learn, killed without warning while it works."""
    script = """
import sys
from pathlib import Path
from paper.experiments import runner, spec
settings = (("n_base_clusters", "n_f"), ("n_init", 1))
cells = [spec.Cell("kill", name, "EA", settings) for name in ("wine", "wdbc")]
runner.run_cells(cells, Path(sys.argv[1]), 30, 1, lambda done, total, share: print(done, flush=True))
"""
    whole, killed = tmp_path / "whole.csv", tmp_path / "killed.csv"
    subprocess.run([sys.executable, "-c", script, str(whole)], check=True, timeout=120, stdout=subprocess.DEVNULL)
    for blocks in (3, 1, 5):
        command = [sys.executable, "-c", script, str(killed)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            while int(process.stdout.readline()) < blocks:
                pass
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
    assert 0 < len(read_rows(killed)) < len(read_rows(whole))
    subprocess.run([sys.executable, "-c", script, str(killed)], check=True, timeout=120, stdout=subprocess.DEVNULL)
    assert killed.read_bytes() == whole.read_bytes()


def test_two_processes_give_the_rows_of_one(tmp_path):
    one = run_cells(WINE, tmp_path / "one.csv", runs=4, jobs=1)
    assert run_cells(WINE, tmp_path / "two.csv", runs=4, jobs=2) == one


def test_remembered_problems_are_the_same_problems(blobs):
    X, _ = blobs
    backends = [CpuBackend(1), RememberingBackend()]
    features = [np.array(f, dtype=np.int32) for f in ([0, 1], [2], [0, 1], [3, 4, 4])]
    seeds = stream(5, np.arange(4))
    for backend in backends:
        backend.load(X)
    for chosen in ([0, 1], [1, 3], [0, 1, 2, 3]):
        jobs = KMeansJobs([features[i] for i in chosen], np.full(len(chosen), 3, np.int32), seeds[chosen], 4, 50)
        plain, kept = (backend.kmeans(jobs) for backend in backends)
        for name in ("solved", "within", "between", "within_pairs", "between_pairs", "exponent", "iterations"):
            np.testing.assert_array_equal(getattr(plain, name), getattr(kept, name))
        for a, b in zip(plain.centers, kept.centers, strict=True):
            np.testing.assert_array_equal(a, b)


def test_shared_forests_are_the_forests_alone(blobs):
    X, _ = blobs
    found = METHODS["CF"](X, 3, {}, 7)
    for q, tau in ((1, 1), (5, 3), (20, 1), (1, 8)):
        alone = PaperForest(3, n_candidates=q, patience=tau, random_state=7).fit_predict(X)
        np.testing.assert_array_equal(found[f"n_candidates={q};patience={tau}"], alone)
    np.testing.assert_array_equal(found["threshold=0.4"], found["n_candidates=1;patience=1"])
    assert list(METHODS["CF"](X, 3, {"n_base_clusters": 4}, 7)) == ["patience=1", "patience=3"]


def test_scores_are_means_and_medians_over_runs():
    rows = [Row("wine", "EA", "s", "v", run, f"{value}", "50.0") for run, value in enumerate([60.0, 70.0, 95.0])]
    results = Results.of_rows(rows)
    mean = results.score("wine", Choice("EA", "s", "v"), "rho_r")
    assert (mean.value, mean.runs) == (75.0, 3)
    assert mean.error == pytest.approx(np.std([60, 70, 95], ddof=1) / np.sqrt(3))
    assert results.score("wine", Choice("EA", "s", "v", "median"), "rho_r").value == 70
    better = [Row("wine", "EA", "other", "v", run, f"{value}", "50.0") for run, value in enumerate([90.0, 60.0, 0.0])]
    best = Results.of_rows([*rows, *better]).score("wine", Choice("EA", ANY, "v"), "rho_r")
    assert best.value == pytest.approx((90 + 70 + 95) / 3)
    with pytest.raises(ValueError, match="no runs of EA"):
        results.score("wdbc", Choice("EA", "s", "v"), "rho_r")


def test_a_cell_shows_value_error_and_distance():
    entry = Entry("methods", "wine", "rho_r", "EA", 70.0, Score(71.0, 0.5, 100), Choice("EA", "", ""))
    assert tables.cell(entry) == "71.00 ± 0.50 (+1.00, +2.0 se)"
    middle = Entry("methods", "wine", "rho_r", "NJW", 70.0, Score(71.0, 0.5, 100), Choice("NJW", "", "", "median"))
    assert tables.cell(middle) == "71.00 (median, +1.00)"
    assert tables.markdown(["|x|"], [["1"]]) == "| \\|x\\| |\n| --- |\n| 1 |\n"
    same = Entry("methods", "wine", "rho_r", "EA", 70.0, Score(70.02, 0.0, 100), Choice("EA", "", ""))
    assert tables.cell(same) == "70.02 ± 0.00 (+0.02)"


def test_tables_are_put_between_their_marks(tmp_path):
    document = tmp_path / "page.md"
    document.write_text("a\n<!-- one -->\nold\n<!-- end -->\nb\n<!-- two -->\n<!-- end -->\n", encoding="utf-8")
    tables.refresh(document, {"one": "| new |\n", "absent": "x"})
    assert document.read_text(encoding="utf-8").startswith("a\n<!-- one -->\n\n| new |\n\n<!-- end -->\nb\n")
    again = document.read_text(encoding="utf-8")
    tables.refresh(document, {"one": "| new |\n"})
    assert document.read_text(encoding="utf-8") == again


def test_a_whole_file_or_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    files.write_table(path, ["a", "b"], [[1, 2.0], ["x", "y"]])
    assert path.read_text(encoding="utf-8") == "a,b\n1,2.0000\nx,y\n"

    def full(_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        files.write_table(path, ["a"], [[3]])
    assert files.read_table(path, ["a", "b"]) == [["1", "2.0000"], ["x", "y"]]


def test_a_trial_computes_a_table_and_leaves_the_pages_alone(tmp_path, stand_ins, monkeypatch, capsys):
    monkeypatch.setattr(spec, "BASE_CLUSTERS", {"wdbc": 3, "spect": 3})
    monkeypatch.setattr(
        "paper.experiments.summary.printed", lambda name: [row for row in printed(name) if row["dataset"] != "imgseg"]
    )
    before = [page.read_bytes() for page in reproduce.PAGES]
    assert reproduce.main(["base-clusters", "--runs", "2", "--jobs", "1", "--work", str(tmp_path)]) == 0
    assert "| wdbc | n_b=3 | patience=1 | Rand | 82.04 |" in (tmp_path / "tables" / "base_clusters.md").read_text()
    assert '"runs": 2' in (tmp_path / "base_clusters.json").read_text(encoding="utf-8")
    assert "1 tables in" in capsys.readouterr().err
    assert [page.read_bytes() for page in reproduce.PAGES] == before


@pytest.mark.parametrize("arguments", [["everything"], ["--runs", "0"], ["--jobs", "-1"]])
def test_the_command_says_what_is_wrong(arguments, capsys):
    with pytest.raises(SystemExit):
        reproduce.main(arguments)
    assert " ".join(arguments).strip("-") in capsys.readouterr().err.replace("'", "")


def test_the_folder_runs_as_a_program():
    done = subprocess.run([sys.executable, "-m", "paper", "--help"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert "competition" in done.stdout
