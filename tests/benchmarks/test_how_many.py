"""The benchmark of the number of clusters: its tables, its peers and what its report counts."""

import numpy as np
import pandas as pd
import pytest
from how_many import PARTS, load, plan_drawn, plan_real
from how_many_data import (
    CATEGORY,
    GENES,
    GROUPS,
    GROUPS_AND_CATEGORY,
    RECOVERABLE,
    SIMULATED,
    STRUCTURELESS,
    draw,
    draw_signal,
    oracle,
)
from how_many_rare import Case, Rare, draw_rare, read_rare
from how_many_speed import View, read_views
from how_many_tables import report
from peers import CHOOSING_PEERS, PEERS, noise_apart
from quality_data import HALVES, SET_NAMES
from runner import Row, Table, Task, fit
from variants import AUTO, DEFAULT

from paper.experiments.runner import write_table


def answer(name, method, seed, n_found, ari=0.0, error=""):
    return Row(name, method, "raw", seed, ari, 0.0, 0.0, np.nan, 1.0, n_found, "abc", error)


def blobs(n_groups, n_each=60):
    groups = np.repeat(np.arange(n_groups), n_each)
    X = np.random.default_rng(0).normal(size=(len(groups), 2)) + 12 * np.column_stack([groups, groups % 2])
    return Table(X, groups, n_groups)


def test_plans_count_the_tables_that_were_promised():
    assert {part: len(plan_drawn([part], [AUTO], 7)) for part in PARTS} == {
        "structureless": 200,
        "simulated": 60,
        "genes": 10,
        "categories": 10,
    }
    tasks = plan_drawn(list(PARTS), [AUTO, DEFAULT, *CHOOSING_PEERS], 7)
    assert len(tasks) == len(set(tasks))
    assert {task.set for task in tasks if task.method == DEFAULT} == {GROUPS, GROUPS_AND_CATEGORY}
    assert {task.scaling for task in tasks if task.method in PEERS} == {"z"}
    assert plan_drawn(["real", "speed"], [AUTO], 7) == []


def test_plan_of_one_half_names_no_set_of_the_other():
    tasks = plan_real(list(HALVES["odd"]), [AUTO, "HDBSCAN"], 3)
    assert {task.set for task in tasks} == set(HALVES["odd"])
    assert {method: sum(t.method == method for t in tasks) for method in (AUTO, "HDBSCAN")} == {AUTO: 39, "HDBSCAN": 13}


@pytest.mark.parametrize("name", STRUCTURELESS)
def test_structureless_tables_have_one_group_and_the_sizes_that_are_told(name):
    shapes = {draw(name, seed).X.shape for seed in range(12)}
    assert len(shapes) > 6
    assert all(100 <= n <= 2000 and 2 <= p <= 43 for n, p in shapes)
    X, groups = draw(name, 0)
    assert not groups.any()
    assert isinstance(X, pd.DataFrame) == ("categories" in name)


def test_categories_have_two_to_five_levels_and_become_numbers_for_peers():
    for seed in range(10):
        frame = draw("structureless: normal with random categories", seed).X
        levels = [frame[name].nunique() for name in frame if name.startswith("category")]
        assert 1 <= len(levels) <= 3
        assert all(2 <= n <= 5 for n in levels)
    X = load(Task(CATEGORY, "HDBSCAN", "z", 0)).X
    assert X.shape == (500, 12)
    np.testing.assert_allclose(X.std(axis=0), 1)


@pytest.mark.parametrize("name", SIMULATED)
def test_simulated_tables_have_their_groups(name):
    X, groups = draw(name, 0)
    assert np.bincount(groups).min() >= 8
    assert len(np.unique(groups)) == SIMULATED[name]
    assert 190 <= len(X) <= 3050
    assert draw(name, 1).X.shape != X.shape


def test_clusters_are_moved_apart_until_kmeans_finds_them():
    groups = np.arange(400) % 8
    for seed in range(3):
        assert oracle(draw_signal(np.random.default_rng(seed), "skewed", groups, 2), groups) >= RECOVERABLE


def test_a_random_column_stands_beside_the_same_three_groups():
    for seed in range(3):
        (X, groups), (wider, same) = draw(GROUPS, seed), draw(GROUPS_AND_CATEGORY, seed)
        np.testing.assert_array_equal(X, wider.iloc[:, :4])
        np.testing.assert_array_equal(groups, same)
        assert wider.shape == (300, 5)
        assert oracle(X.to_numpy(), groups) > 0.9


@pytest.mark.parametrize("method", [AUTO, "KMeans + silhouette", "GMM full + BIC", "GMM diag + BIC"])
def test_three_far_groups_are_counted(method):
    found = fit(Task("blobs", method, "raw", 0), blobs(3))
    assert (found.n_found, found.ari, found.error) == (3, 100.0, "")


def test_more_rows_than_k_is_chosen_on_are_all_clustered():
    for method in ("KMeans + silhouette", "GMM diag + BIC"):
        found = fit(Task("blobs", method, "raw", 0), blobs(2, 2600))
        assert (found.n_found, found.ari) == (2, 100.0)


def test_one_group_is_one_for_mixtures():
    assert fit(Task("blobs", "GMM full + BIC", "raw", 0), blobs(1, 200)).n_found == 1


def test_noise_is_a_group_that_is_not_counted():
    found = noise_apart(np.array([0, -1, 1, -1]))
    assert (found.labels.tolist(), found.n_found) == ([0, 2, 1, 2], 2)
    assert noise_apart(np.array([-1, -1])).n_found == 1
    row = fit(Task("blobs", "HDBSCAN, defaults", "raw", 0), blobs(3))
    assert (row.n_found, row.error) == (3, "")


def test_report_without_rows_says_what_was_not_looked_at():
    text = report([], [])
    assert text.count("Not looked at yet.") == 13
    assert "## Targets" not in text


def test_report_counts_right_answers_and_leaves_targets_open_until_all_are_there():
    rows = [answer(name, AUTO, seed, 1 + (seed == 3)) for name in STRUCTURELESS for seed in range(25)]
    rows += [answer(GENES, AUTO, seed, 3) for seed in range(4)]
    rows += [answer(GENES, "HDBSCAN", 0, 0, error="ValueError: failed")]
    rows += [answer(GROUPS, DEFAULT, seed, 3, 96.0) for seed in range(10)]
    rows += [answer(GROUPS_AND_CATEGORY, DEFAULT, seed, 3, 92.0) for seed in range(10)]
    text = report(rows, [])
    assert "| Structureless tables: 190 of 200 right | 192 of 200 | yes |" in text
    assert "| The gene table: 9 of 10 right | 4 of 4 | open: 4 of 10 tables |" in text
    assert "points of ARI | -4.0 | **no** |" in text
    assert f"Other answers of {AUTO}: 2 on structureless: normal (seed 3); 2 on" in text
    assert f"| {GENES} | 4 of 4 | 0 of 1 |" in text


def test_report_compares_on_labelled_sets_with_and_without_ours(monkeypatch):
    monkeypatch.setattr("how_many_tables.shape", lambda name: type("Shape", (), {"n_clusters": 3}))
    peers = [answer(name, "HDBSCAN", 0, 4 if name == "wine" else 9, 10.0) for name in SET_NAMES]
    text = report(peers, [])
    assert text.count("Ours was not looked at yet.") == 4
    assert "| HDBSCAN | 20 | 10.0 |  |  |  | 0% | 5% | 0% |" in text
    ours = [answer(name, AUTO, seed, 3 if seed else 1, 20.0) for name in SET_NAMES for seed in (0, 1)]
    ours += [answer(name, DEFAULT, 0, 3, 24.0) for name in SET_NAMES]
    text = report(peers + ours, [])
    assert "| **auto** | **45** | **20.0** |  |  |  | **50%** | **50%** | **50%** |" in text
    assert "| All 45 sets: at most 3 points below the true K | +4.0 | **no** |" in text
    assert "| All 45 sets: at least 3 points above every peer | +10.0 to HDBSCAN | yes |" in text
    assert "| wine | 3 | 20.0 (2) | 24.0 (3) | 10.0 (4) |" in text


def test_speed_is_read_back_and_judged(tmp_path):
    views = [View(2, 0.5, 4.0, 0, "abc"), View(3, 1.5, 4.0, 7, "abc")]
    write_table(tmp_path / "speed.csv", View._fields, views)
    assert read_views(tmp_path / "speed.csv") == views
    text = report([], views)
    assert "less than 1 s each | 1.50 s at most | **no** |" in text
    assert "equal to a fit | 7 labels differ | **no** |" in text


def test_rare_groups_are_as_rare_and_as_far_as_they_say():
    X, groups = draw_rare(Case(20_000, 0.2, 8, 1))
    assert np.bincount(groups).tolist() == [19_960, 40]
    distance = np.abs(X[groups == 1].mean(axis=0) - X[groups == 0].mean(axis=0))
    np.testing.assert_allclose(np.sort(distance), [0] * 6 + [8] * 4, atol=0.6)


def test_rare_groups_are_read_back_and_shown(tmp_path):
    rows = [Rare(20_000, 0.1, 6, seed, 2 + 2 * (seed == 2), 100.0, 50.0, 100.0, 90.0, 1.0, "abc") for seed in (1, 2, 3)]
    write_table(tmp_path / "rare.csv", Rare._fields, rows)
    assert read_rare(tmp_path / "rare.csv") == rows
    assert "| 20,000 | 0.1 % | 6 | 3 of 3 | 100.0 | 50.0 | 100.0 | 90.0 |" in report([], [], rows)
