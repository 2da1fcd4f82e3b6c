"""Algorithms 1 and 2, step by step against plain loops."""

import numpy as np
import pytest
import reference

from clusterforests.backends import CpuBackend
from clusterforests.forest import feature_use, grow_forest
from clusterforests.growth import GrowthSettings, grow


def settings(**changes):
    plain = {
        "base_clusters": 3,
        "features_per_draw": 2,
        "n_candidates": 1,
        "patience": 3,
        "repeat_features": True,
        "compete_always": False,
        "quality": "centroid",
        "n_init": 10,
        "max_iter": 100,
    }
    return GrowthSettings(**(plain | changes))


class Recorder(CpuBackend):
    """A back end that remembers every batch of jobs."""

    def __init__(self, X):
        super().__init__(1)
        self.load(X)
        self.batches = []

    def kmeans(self, jobs):
        runs = super().kmeans(jobs)
        self.batches.append((jobs, runs))
        return runs


def table(seed=0, columns=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, columns))
    X[:, :3] += np.array([[0, 0, 0], [6, 6, 0], [0, 6, 6]])[rng.integers(0, 3, 60)]
    return X


@pytest.mark.parametrize("quality", ["centroid", "pairwise"])
def test_kappas_are_those_of_the_final_partitions(quality):
    X = table()
    backend = Recorder(X)
    forest = grow_forest(backend, 8, 12, settings(quality=quality), seed=1)
    for features, labels, kappa in zip(forest.features, forest.partitions, forest.kappas, strict=True):
        part = X[:, features]
        if quality == "centroid":
            within, between = reference.within(part, labels), reference.between(part, labels)
        else:
            within, between = reference.pair_sums(part, labels)
        assert kappa == pytest.approx(within / between)


def test_growth_follows_algorithm_1():
    """Replay the recorded batches tree by tree: accept iff kappa falls, stop after tau_m failures in a row."""
    X, n_trees, patience = table(), 10, 2
    backend = Recorder(X)
    trees = grow(backend, 8, n_trees, settings(patience=patience), seed=4)
    vectors, kappas, failures = [], [], np.zeros(n_trees, dtype=int)
    live = list(range(n_trees))
    for number, (jobs, runs) in enumerate(backend.batches):
        values = runs.within / runs.between
        if number == 0:
            vectors, kappas = [list(f) for f in jobs.features], list(values)
            continue
        assert len(jobs.features) == len(live)
        for t, features, value in zip(list(live), jobs.features, values, strict=True):
            assert list(features[:-2]) == vectors[t]
            if value < kappas[t] * (1 - 1e-9):
                vectors[t], kappas[t], failures[t] = list(features), value, 0
            else:
                failures[t] += 1
                if failures[t] >= patience:
                    live.remove(t)
    assert not live
    assert [list(f) for f in trees.features] == vectors
    assert list(trees.kappas) == kappas


def test_competition_keeps_the_smallest_kappa():
    X = table()
    backend = Recorder(X)
    trees = grow(backend, 8, 6, settings(n_candidates=5, patience=1), seed=2)
    jobs, runs = backend.batches[0]
    values = (runs.within / runs.between).reshape(6, 5)
    assert len(jobs.features) == 30
    assert (trees.kappas <= values.min(axis=1)).all()
    assert len(backend.batches[1][0].features) == 6  # "start": later steps try one draw


def test_competition_at_every_step():
    backend = Recorder(table())
    grow(backend, 8, 6, settings(n_candidates=4, compete_always=True), seed=2)
    assert all(len(jobs.features) % 4 == 0 for jobs, _ in backend.batches[1:])


def test_no_repeats():
    trees = grow(Recorder(table()), 8, 30, settings(repeat_features=False, patience=5), seed=3)
    assert all(len(set(f)) == len(f) for f in trees.features)


def test_no_repeats_ends_when_no_feature_is_left():
    backend = Recorder(table(columns=3))
    trees = grow(backend, 3, 5, settings(repeat_features=False, patience=1000), seed=3)
    assert all(len(f) <= 3 for f in trees.features)
    assert len(backend.batches) < 1100


@pytest.mark.parametrize(("repeat", "b", "q"), [(False, 1, 1), (False, 3, 1), (True, 2, 1), (False, 2, 3)])
def test_every_feature_is_tried_once(repeat, b, q):
    backend = Recorder(table())
    options = settings(patience=None, repeat_features=repeat, features_per_draw=b, n_candidates=q, compete_always=q > 1)
    trees = grow(backend, 8, 1, options, seed=5)
    start = backend.batches[0][1]
    first = set(backend.batches[0][0].features[int(np.argmin(start.within / start.between))])
    tried = [f for jobs, _ in backend.batches[1:] for f in {tuple(v[-b:]) for v in jobs.features}]
    flat = {int(f) for draw in tried for f in draw}
    assert flat >= set(range(8)) - first
    assert len(trees.features[0]) >= 1


def test_unusable_draws_are_redrawn():
    X = np.zeros((40, 12))
    X[:, 3] = np.arange(40)
    trees = grow(Recorder(X), 12, 8, settings(features_per_draw=1, patience=1), seed=0)
    assert all(3 in f for f in trees.features)


def test_no_usable_draw_is_an_error():
    X = np.random.default_rng(0).integers(0, 2, size=(40, 6)).astype(float)
    with pytest.raises(ValueError, match="features_per_draw=2 is too small for base_clusters=5"):
        grow(Recorder(X), 6, 3, settings(base_clusters=5), seed=0)


def test_noise_features_stay_out():
    """Theorem 1: with one feature at a time and no repeats, noise raises kappa."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(400, 12))
    X[:, 9:] += np.where(rng.random(400) < 0.5, 4.0, -4.0)[:, None]
    options = settings(base_clusters=2, features_per_draw=1, n_candidates=20, patience=None, repeat_features=False)
    forest = grow_forest(Recorder(X), 12, 40, options, seed=0)
    assert feature_use(forest.features, 12)[9:].sum() > 0.95


def test_feature_use_sums_to_one():
    use = feature_use([np.array([0, 0, 1]), np.array([2])], 4)
    assert use == pytest.approx([1 / 3, 1 / 6, 1 / 2, 0])
