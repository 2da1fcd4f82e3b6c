"""Tables that are drawn: their shape, their noise, their groups, and an oracle that reaches what they were made for."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import choosing_k, drawn_clusters
from benchmarks.drawn_noise import CELLS, PLAIN, SUBTYPES, draw
from benchmarks.fits import Task, fit
from benchmarks.labelled_sets import z_scores
from benchmarks.noise import ORACLES, TIMED_PEERS, load, plan

SMALL = [name for name, (_, cell) in CELLS.items() if cell.n * cell.p <= 100_000]


@pytest.mark.parametrize("name", SMALL)
def test_shape_groups_and_informative_features(name):
    _, cell = CELLS[name]
    X, groups, informative = draw(name, 7)
    assert X.shape == (cell.n, cell.p)
    assert set(groups) == set(range(cell.k))
    assert len(informative) == cell.m
    assert (X.max(axis=0) > X.min(axis=0)).all()  # so that z-scores keep the places of the columns
    Z = z_scores(X)
    between = sum((Z[groups == g].mean(axis=0) ** 2) * (groups == g).mean() for g in range(cell.k))
    noise = np.setdiff1d(np.arange(cell.p), informative)
    assert between[informative].min() > 0.1
    assert np.median(between[noise]) < 0.05
    again = draw(name, 7)
    np.testing.assert_array_equal(X, again.X)
    assert (draw(name, 8).X != X).any()


def test_noise_of_each_kind():
    by_kind = {cell.kind: name for name, (_, cell) in CELLS.items() if name in SMALL}
    for kind, name in by_kind.items():
        _, cell = CELLS[name]
        X, _, informative = draw(name, 3)
        noise = np.delete(X, informative, axis=1)
        correlation = np.abs(np.corrcoef(noise, rowvar=False)) - np.eye(noise.shape[1])
        same = (correlation > 1 - 1e-9).sum(axis=0)
        assert same.max() == (cell.copies - 1 if kind == "copies" else 0)
        if kind == "block":
            assert np.median(correlation.max(axis=0)) == pytest.approx(cell.rho, abs=0.1)
        two_valued = [len(np.unique(column)) == 2 for column in noise.T]
        assert all(two_valued) == (kind == "binary")
        spread = np.abs(z_scores(noise)).max()
        assert (spread > 6) == (kind == "heavy")


def test_oracle_reaches_the_target():
    targets, found = [], []
    for name in (name for name in SMALL if CELLS[name][1].n <= 300):
        data = [load(Task(name, "KMeans", "informative", seed)) for seed in (0, 1)]
        targets.append(CELLS[name][1].target)
        found.append(np.mean([fit(Task(name, "KMeans", "informative", 0), one).ari for one in data]) / 100)
    assert np.mean(found) >= np.mean(targets) - 0.05
    assert min(found) >= 0.5


def test_plan_has_an_oracle_for_every_table_and_ten_draws_of_subtypes():
    tasks = plan(["KMeans", "Ward", "default", *TIMED_PEERS], [500, 501], [*CELLS, *PLAIN])
    assert len(tasks) == len(set(tasks))
    oracle = {(task.set, task.seed) for task in tasks if task.input == "informative" and task.method in ORACLES}
    assert oracle == {(name, seed) for name in (*CELLS, *PLAIN) for seed in (500, 501)}
    for method in ("default", *TIMED_PEERS):
        drawn = {task.seed for task in tasks if task.set == SUBTYPES and task.method == method}
        assert drawn == set(range(500, 510))
    assert {task.input for task in tasks if task.method == "default"} == {"raw"}
    given = {(task.set in PLAIN, task.input) for task in tasks if task.method == "Ward"}
    assert given == {(False, "z"), (True, "z"), (True, "raw")}


def test_equal_units_favour_the_raw_table():
    name = "plain 120 x 500, 20 informative, effect 1.5"
    found = {which: Task(name, "KMeans", which, 0) for which in ("raw", "z")}
    assert fit(found["raw"], load(found["raw"])).ari == 100
    assert fit(found["z"], load(found["z"])).ari < 50


@pytest.mark.parametrize("name", drawn_clusters.STRUCTURELESS)
def test_structureless_tables_have_one_group_and_the_sizes_that_are_told(name):
    shapes = {drawn_clusters.draw(name, seed).X.shape for seed in range(12)}
    assert len(shapes) > 6
    assert all(100 <= n <= 2000 and 2 <= p <= 43 for n, p in shapes)
    X, groups = drawn_clusters.draw(name, 0)
    assert not groups.any()
    assert isinstance(X, pd.DataFrame) == ("categories" in name)


def test_categories_become_numbers_for_peers():
    X = choosing_k.load(Task(drawn_clusters.CATEGORY, "HDBSCAN", "z", 0)).X
    assert X.shape == (500, 12)
    np.testing.assert_allclose(X.std(axis=0), 1)


@pytest.mark.parametrize("name", drawn_clusters.SIMULATED)
def test_simulated_tables_have_their_groups(name):
    X, groups = drawn_clusters.draw(name, 0)
    assert np.bincount(groups).min() >= 8
    assert len(np.unique(groups)) == drawn_clusters.SIMULATED[name]
    assert 190 <= len(X) <= 3050
    assert drawn_clusters.draw(name, 1).X.shape != X.shape


def test_clusters_are_moved_apart_until_kmeans_finds_them():
    groups = np.arange(400) % 8
    signal = drawn_clusters.draw_signal(np.random.default_rng(0), "skewed", groups, 2)
    assert drawn_clusters.oracle(signal, groups) >= drawn_clusters.RECOVERABLE


def test_a_random_column_stands_beside_the_same_three_groups():
    names = drawn_clusters.GROUPS, drawn_clusters.GROUPS_AND_CATEGORY
    (X, groups), (wider, same) = (drawn_clusters.draw(name, 0) for name in names)
    np.testing.assert_array_equal(X, wider.iloc[:, :4])
    np.testing.assert_array_equal(groups, same)
    assert wider.shape == (300, 5)


def test_rare_groups_are_as_rare_and_as_far_as_they_say():
    X, groups = choosing_k.draw_rare(choosing_k.Case(20_000, 0.2, 8, 1))
    assert np.bincount(groups).tolist() == [19_960, 40]
    distance = np.abs(X[groups == 1].mean(axis=0) - X[groups == 0].mean(axis=0))
    np.testing.assert_allclose(np.sort(distance), [0] * 6 + [8] * 4, atol=0.6)
