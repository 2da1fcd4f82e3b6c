"""The reproduction: same numbers however often it is killed, and tables that say what the runs say."""

import subprocess
import sys

import numpy as np
import pytest

from clusterforests import PaperForest
from clusterforests._utils.random import stream
from clusterforests.backends import CpuBackend, KMeansJobs
from paper.experiments import reproduce, spec, tables
from paper.experiments.methods import METHODS
from paper.experiments.remember import RememberingBackend
from paper.experiments.runner import Row, read_table, run_cells, write_table
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
    first = run_cells(WINE, path, 4, 1, print)
    assert {row.run for row in first} == {0, 1, 2, 3}
    assert [tuple(line) for line in read_table(path, Row._fields)] == [tuple(map(str, row)) for row in first]
    monkeypatch.setitem(METHODS, "EA", None)  # from here on nothing can be run
    assert run_cells(WINE, path, 4, 1, print) == first
    assert run_cells(WINE, path, 2, 1, print) == [row for row in first if row.run < 2]


def test_a_run_that_was_stopped_goes_on(tmp_path, monkeypatch):
    whole = run_cells(WINE, tmp_path / "whole" / "small.csv", 6, 1, print)
    run, calls = METHODS["EA"], []

    def stopped_at_the_third(*given):
        calls.append(given)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return run(*given)

    monkeypatch.setitem(METHODS, "EA", stopped_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        run_cells(WINE, tmp_path / "small.csv", 6, 1, print)
    assert run_cells(WINE, tmp_path / "small.csv", 6, 1, print) == whole
    assert len(calls) == 3 + 4


def test_a_mark_without_an_end_is_named(tmp_path):
    document = tmp_path / "page.md"
    document.write_text("<!-- one -->\n<!-- two -->\n<!-- end -->\n", encoding="utf-8")
    with pytest.raises(ValueError, match="the mark <!-- one --> has no <!-- end -->"):
        tables.check_marks(document)


def test_two_processes_give_the_rows_of_one(tmp_path):
    one = run_cells(WINE, tmp_path / "one" / "small.csv", 4, 1, print)
    assert run_cells(WINE, tmp_path / "two" / "small.csv", 4, 2, print) == one


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


def test_a_file_of_another_kind_is_refused(tmp_path):
    write_table(tmp_path / "t.csv", ["a", "b"], [[1, 2.0], ["x", "y"]])
    assert (tmp_path / "t.csv").read_text(encoding="utf-8") == "a,b\n1,2.0000\nx,y\n"
    with pytest.raises(ValueError, match=r"t\.csv must have the columns a, c"):
        read_table(tmp_path / "t.csv", ["a", "c"])


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
