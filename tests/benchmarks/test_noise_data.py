"""The tables with noise features: their shape, their noise, and an oracle that reaches what a cell was made for."""

import numpy as np
import pytest
from noise import ORACLES, TIMED_PEERS, load, plan
from noise_data import CELLS, GRID, KINDS, PLAIN, SUBTYPES, draw
from quality_data import z_scores
from runner import Task, fit

SMALL = [name for name, (_, cell) in CELLS.items() if cell.n * cell.p <= 100_000]


def test_the_grid_covers_what_it_should():
    assert len(CELLS) == len(GRID) == 28
    assert {cell.kind for cell in GRID} == set(KINDS)
    for values, low, high in (
        ([cell.n for cell in GRID], 100, 2000),
        ([cell.p for cell in GRID], 30, 20000),
        ([cell.m for cell in GRID], 3, 200),
        ([cell.k for cell in GRID], 2, 8),
        ([cell.copies for cell in GRID if cell.copies], 4, 32),
    ):
        assert (min(values), max(values)) == (low, high)


@pytest.mark.parametrize("name", SMALL)
def test_shape_groups_and_telling_features(name):
    _, cell = CELLS[name]
    X, groups, telling = draw(name, 7)
    assert X.shape == (cell.n, cell.p)
    assert set(groups) == set(range(cell.k))
    assert len(telling) == cell.m
    assert (X.max(axis=0) > X.min(axis=0)).all()  # so that z-scores keep the places of the columns
    Z = z_scores(X)
    between = sum((Z[groups == g].mean(axis=0) ** 2) * (groups == g).mean() for g in range(cell.k))
    noise = np.setdiff1d(np.arange(cell.p), telling)
    assert between[telling].min() > 0.1
    assert np.median(between[noise]) < 0.05
    again = draw(name, 7)
    np.testing.assert_array_equal(X, again.X)
    assert (draw(name, 8).X != X).any()


def test_noise_of_each_kind():
    by_kind = {cell.kind: name for name, (_, cell) in CELLS.items() if name in SMALL}
    for kind, name in by_kind.items():
        _, cell = CELLS[name]
        X, _, telling = draw(name, 3)
        noise = np.delete(X, telling, axis=1)
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
    for name in (name for name in SMALL if CELLS[name][1].n <= 500):
        data = [load(Task(name, "KMeans", "telling", seed)) for seed in (0, 1)]
        targets.append(CELLS[name][1].target)
        found.append(np.mean([fit(Task(name, "KMeans", "telling", 0), one).ari for one in data]) / 100)
    assert np.mean(found) >= np.mean(targets) - 0.05
    assert min(found) >= 0.5


def test_plan_has_an_oracle_for_every_table_and_ten_draws_of_subtypes():
    tasks = plan(["KMeans", "Ward", "default", *TIMED_PEERS], [500, 501])
    assert len(tasks) == len(set(tasks))
    oracle = {(task.set, task.seed) for task in tasks if task.scaling == "telling" and task.method in ORACLES}
    assert oracle == {(name, seed) for name in (*CELLS, *PLAIN) for seed in (500, 501)}
    for method in ("default", *TIMED_PEERS):
        drawn = {task.seed for task in tasks if task.set == SUBTYPES and task.method == method}
        assert drawn == set(range(500, 510))
    assert {task.scaling for task in tasks if task.method == "default"} == {"raw"}
    given = {(task.set in PLAIN, task.scaling) for task in tasks if task.method == "Ward"}
    assert given == {(False, "z"), (True, "z"), (True, "raw")}


def test_equal_units_favour_the_raw_table():
    name = "plain 120 x 500, 20 tell, effect 1.5"
    found = {scaling: Task(name, "KMeans", scaling, 0) for scaling in ("raw", "z")}
    assert fit(found["raw"], load(found["raw"])).ari == 100
    assert fit(found["z"], load(found["z"])).ari < 50
