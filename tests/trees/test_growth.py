"""Algorithms 1 and 2, step by step against plain loops."""

import numpy as np
import pytest
import reference

from clusterforests.backends import CpuBackend
from clusterforests.table.feature_columns import FeatureColumns, distinct_rows
from clusterforests.trees.forest import grow_forest, n_estimators_setting, sample_rows
from clusterforests.trees.growth import GrowthSettings, finish, grow, kappa, why_dropped


def plain_views(n_features):
    """Every feature is a column of the table as it is."""
    columns = np.arange(n_features, dtype=np.int32)
    return FeatureColumns(columns[None, :], np.ones(n_features, np.int32), columns)


def settings(n_trees, n_base_clusters=3, **changes):
    plain = {
        "n_base_clusters": np.full(n_trees, n_base_clusters, dtype=np.int32),
        "fewer_clusters": False,
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


@pytest.mark.parametrize("quality", ["centroid", "pairwise", "corrected"])
def test_kappas_are_those_of_the_final_partitions(quality):
    X = table()
    backend = Recorder(X)
    forest = grow_forest(backend, X, plain_views(8), settings(12, quality=quality), seed=1)
    for features, labels, value in zip(forest.features, forest.partitions, forest.kappas, strict=True):
        part = X[:, features]
        within, between = reference.within(part, labels), reference.between(part, labels)
        if quality == "pairwise":
            within, between = reference.pair_sums(part, labels)
        elif quality == "corrected":
            within, between = within * 3 ** (2 / len(set(features))), within + between
        assert value == pytest.approx(within / between)


def test_kappa_is_infinite_only_where_there_is_nothing_between_clusters():
    backend = Recorder(table())
    grow(backend, plain_views(8), settings(4, patience=1), seed=0)
    runs = backend.batches[0][1]
    solved = np.array([True, True, True, False])
    runs = runs._replace(solved=solved, within=np.ones(4), between=np.array([0.5, 2.0**-900, 0.0, 1.0]))
    assert kappa(runs, "centroid").tolist() == [2.0, 2.0**900, np.inf, np.inf]


def test_a_column_listed_again_is_no_growth():
    """The factor for the number of columns would go on falling, and growth with it, for tens of thousands of rounds."""
    X = np.ascontiguousarray(table()[:, :1])
    trees = grow(Recorder(X), plain_views(1), settings(20, quality="corrected"), seed=0)
    assert trees.rounds == 4  # three failures, and the round that finds no tree to grow


def test_growth_follows_algorithm_1():
    """Replay the recorded batches tree by tree: accept iff kappa falls, stop after tau_m failures in a row."""
    X, n_trees, patience = table(), 10, 2
    backend = Recorder(X)
    trees = grow(backend, plain_views(8), settings(n_trees, patience=patience), seed=4)
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


def test_kappa_path_is_what_growth_went_through():
    X = table()
    backend = Recorder(X)
    trees = grow(backend, plain_views(8), settings(6), seed=1)
    path = np.array(trees.path)
    assert len(path) == len(backend.batches)
    first = backend.batches[0][1]
    assert path[0] == pytest.approx(first.within / first.between)
    for t, kappas in enumerate(path.T):
        known = kappas[np.isfinite(kappas)]
        assert np.isnan(kappas[len(known) :]).all()
        assert known[-1] == trees.kappas[t]
        assert (np.diff(known) <= 0).all()
        assert (np.diff(known)[-3:] == 0).all()  # patience


def test_competition_keeps_the_smallest_kappa():
    X = table()
    backend = Recorder(X)
    trees = grow(backend, plain_views(8), settings(6, n_candidates=5, patience=1), seed=2)
    jobs, runs = backend.batches[0]
    values = (runs.within / runs.between).reshape(6, 5)
    assert len(jobs.features) == 30
    assert (trees.kappas <= values.min(axis=1)).all()
    assert len(backend.batches[1][0].features) == 6  # "start": later steps try one draw


def test_competition_at_every_step():
    backend = Recorder(table())
    grow(backend, plain_views(8), settings(6, n_candidates=4, compete_always=True), seed=2)
    assert all(len(jobs.features) % 4 == 0 for jobs, _ in backend.batches[1:])


def test_no_repeats():
    trees = grow(Recorder(table()), plain_views(8), settings(30, repeat_features=False, patience=5), seed=3)
    assert all(len(set(f)) == len(f) for f in trees.features)


@pytest.mark.parametrize(("repeat", "b", "q"), [(False, 1, 1), (False, 3, 1), (True, 2, 1), (False, 2, 3)])
def test_every_feature_is_tried_once(repeat, b, q):
    backend = Recorder(table())
    options = settings(
        1, patience=None, repeat_features=repeat, features_per_draw=b, n_candidates=q, compete_always=q > 1
    )
    trees = grow(backend, plain_views(8), options, seed=5)
    start = backend.batches[0][1]
    first = set(backend.batches[0][0].features[int(np.argmin(start.within / start.between))])
    tried = [f for jobs, _ in backend.batches[1:] for f in {tuple(v[-b:]) for v in jobs.features}]
    flat = {int(f) for draw in tried for f in draw}
    assert flat >= set(range(8)) - first
    assert len(trees.features[0]) >= 1


def test_unusable_draws_are_redrawn():
    X = np.zeros((40, 12))
    X[:, 3] = np.arange(40)
    trees = grow(Recorder(X), plain_views(12), settings(8, features_per_draw=1, patience=1), seed=0)
    assert all(3 in f for f in trees.features)


def test_no_usable_draw_is_an_error():
    X = np.random.default_rng(0).integers(0, 2, size=(40, 6)).astype(float)
    forest = grow_forest(Recorder(X), X, plain_views(6), settings(3, n_base_clusters=5), seed=0)
    assert forest.partitions.shape == (0, 40)
    with pytest.raises(ValueError, match=r"features_per_draw=2 .* n_base_clusters=5"):
        n_estimators_setting(3, forest, why_dropped(settings(3, n_base_clusters=5)))


def test_no_trees_are_finished_as_they_are():
    backend = Recorder(np.zeros((40, 6)))
    none = grow(backend, plain_views(6), settings(3, n_base_clusters=5), seed=0)
    assert finish(backend, plain_views(6), none, settings(3), seed=0) is none


def test_noise_features_stay_out():
    """Theorem 1: with one feature at a time and no repeats, noise raises kappa."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(400, 12))
    X[:, 9:] += np.where(rng.random(400) < 0.5, 4.0, -4.0)[:, None]
    options = settings(
        40, n_base_clusters=2, features_per_draw=1, n_candidates=20, patience=None, repeat_features=False
    )
    forest = grow_forest(Recorder(X), X, plain_views(12), options, seed=0)
    assert np.mean([np.mean(features >= 9) for features in forest.features]) > 0.95


def test_trees_have_their_own_number_of_clusters():
    clusters = np.array([2, 3, 4, 5, 2, 3], dtype=np.int32)
    X = table()
    forest = grow_forest(Recorder(X), X, plain_views(8), settings(6, n_base_clusters=clusters), seed=0)
    assert (forest.partitions.max(axis=1) + 1 == clusters).all()
    assert [len(c) for c in forest.centers] == clusters.tolist()


def test_too_few_distinct_rows_lower_the_number_of_clusters_if_allowed():
    X = np.random.default_rng(0).integers(0, 2, size=(50, 6)).astype(float)
    forest = grow_forest(Recorder(X), X, plain_views(6), settings(8, n_base_clusters=9, fewer_clusters=True), seed=0)
    assert (np.array([len(c) for c in forest.centers]) <= 6).all()


def test_trees_take_the_views_in_turn():
    X = np.column_stack([table(), 10 * table(1)])
    views = FeatureColumns(
        np.arange(16, dtype=np.int32).reshape(2, 8), np.ones(8, np.int32), np.arange(8, dtype=np.int32)
    )
    backend = Recorder(X)
    trees = grow(backend, views, settings(6), seed=0)
    first, _ = backend.batches[0]
    assert [set(f // 8) for f in first.features] == [{0}, {1}] * 3
    assert all((f < 8).all() for f in trees.features)


def test_only_drawable_features_are_drawn():
    for repeat in (True, False):
        for patience in (3, None):
            views = FeatureColumns(
                np.arange(8, dtype=np.int32)[None], np.ones(8, np.int32), np.array([1, 4, 6], np.int32)
            )
            options = settings(20, repeat_features=repeat, patience=patience)
            trees = grow(Recorder(table()), views, options, seed=0)
            assert set(np.concatenate(trees.features)) == {1, 4, 6}


def test_growth_on_part_of_the_rows():
    """The vectors are those grown on the part, the centres and labels those of K-means on all rows."""
    X = np.vstack([table(seed) for seed in range(4)])
    every = distinct_rows(X)
    part = sample_rows(every, 50, seed=0)
    assert len(set(part.rows)) == 50
    assert set(part.rows) != set(sample_rows(every, 50, seed=1).rows)
    shuffled = np.random.default_rng(0).permutation(len(X))
    assert (X[part.rows] == X[shuffled][sample_rows(distinct_rows(X[shuffled]), 50, seed=0).rows]).all()
    forest = grow_forest(CpuBackend(), X, plain_views(8), settings(10), seed=0, part=part)
    alone = grow_forest(CpuBackend(), X[part.rows], plain_views(8), settings(10), seed=0)
    for features, expected in zip(forest.features, alone.features, strict=True):
        assert (features == expected).all()
    for features, labels, value in zip(forest.features, forest.partitions, forest.kappas, strict=True):
        columns = X[:, features]
        assert value == pytest.approx(reference.within(columns, labels) / reference.between(columns, labels))
        assert reference.best_move_gain(columns, labels, 3) < 1e-9


def test_one_start_is_quick_and_more_are_polished():
    X = np.random.default_rng(0).normal(size=(200, 8))
    gains = {}
    for n_init in (1, 2):
        forest = grow_forest(CpuBackend(), X, plain_views(8), settings(10, 6, n_init=n_init), seed=0)
        trees = zip(forest.features, forest.partitions, strict=True)
        gains[n_init] = max(reference.best_move_gain(X[:, f], labels, 6) for f, labels in trees)
    assert gains[2] < 1e-9 < gains[1]


def features_and_seeds(batch):
    jobs, _ = batch
    return [f.tolist() for f in jobs.features], [f"{seed:016x}"[:4] for seed in jobs.seeds.tolist()]


def test_a_seed_means_the_same_trees_in_every_version():
    """Draws and seeds as they have always been, of the start, of a round, of the finish and of a pass in order."""
    backend, options = Recorder(table()), settings(3, n_candidates=2, compete_always=True, patience=2)
    trees = grow(backend, plain_views(8), options, seed=11)
    assert features_and_seeds(backend.batches[0]) == (
        [[2, 0], [3, 3], [1, 5], [2, 2], [6, 7], [3, 2]],
        ["144d", "7dd3", "1e32", "3823", "6062", "fda5"],
    )
    assert features_and_seeds(backend.batches[1]) == (
        [[2, 0, 2, 1], [2, 0, 7, 6], [2, 2, 4, 6], [2, 2, 0, 6], [3, 2, 6, 2], [3, 2, 3, 7]],
        ["1169", "0b04", "c129", "3737", "8776", "732a"],
    )
    done = finish(backend, plain_views(8), trees, options, seed=11)
    assert features_and_seeds(backend.batches[-1]) == ([[2, 0], [2, 2], [3, 2]], ["6839", "8339", "8f3b"])
    assert done.rounds == trees.rounds + 1
    np.testing.assert_array_equal(done.path, trees.path)
    backend = Recorder(table())
    grow(backend, plain_views(8), settings(2, patience=None), seed=11)
    tried = [f.tolist()[-2:] for jobs, _ in backend.batches[1:] for f in jobs.features]
    assert tried == [[6, 2], [4, 6], [0, 4], [1, 0], [7, 5], [2, 5], [1, 3], [7, 3]]


@pytest.mark.parametrize("changes", [{}, {"patience": None}, {"repeat_features": False}, {"n_candidates": 3}])
def test_part_of_a_forest_is_as_in_the_whole(changes):
    """Trees from a number on are those of the forest, round by round."""
    views = FeatureColumns(
        np.arange(12, dtype=np.int32).reshape(3, 4), np.ones(4, np.int32), np.arange(4, dtype=np.int32)
    )
    X = table(columns=12)
    whole, some = (settings(n, compete_always=True, **changes) for n in (7, 3))
    every = grow(Recorder(X), views, whole, seed=3)
    part = grow(Recorder(X), views, some, seed=3, first=4)
    assert [f.tolist() for f in part.features] == [f.tolist() for f in every.features[4:]]
    assert (part.kappas == every.kappas[4:]).all()
    finished = [finish(Recorder(X), views, trees, options, 3) for trees, options in ((every, whole), (part, some))]
    for a, b in zip(finished[0].centers[4:], finished[1].centers, strict=True):
        assert (a == b).all()


def test_progress_is_told():
    told = []
    trees = grow(Recorder(table()), plain_views(8), settings(6), seed=1, progress=lambda *now: told.append(now))
    stopped, rounds = zip(*told, strict=True)
    assert rounds == tuple(range(1, trees.rounds + 1))
    assert stopped[0] == 0
    assert stopped[-1] == 6
    assert list(stopped) == sorted(stopped)
    assert trees.rounds == len(trees.path)


def test_lower_numbers_of_clusters_go_down_by_a_third_to_two():
    """Every column has two values: only two clusters can be found, and a draw that fails asks for two thirds."""
    X = np.random.default_rng(0).integers(0, 2, size=(50, 6)).astype(float)
    backend = Recorder(X)
    options = settings(4, n_base_clusters=9, fewer_clusters=True, features_per_draw=1)
    trees = grow(backend, plain_views(6), options, seed=0)
    asked = [set(jobs.clusters.tolist()) for jobs, _ in backend.batches]
    assert asked[:5] == [{9}, {6}, {4}, {2}, {2}]
    assert trees.clusters.tolist() == [2] * 4
    assert options.n_base_clusters.tolist() == [9] * 4


def test_a_solution_with_nothing_between_its_clusters_beats_no_solution():
    """Sums that overflow to nothing: kappa is infinite, and the tree starts there all the same."""
    X = table()

    class Flat(Recorder):
        def kmeans(self, jobs):
            runs = super().kmeans(jobs)
            first = np.arange(len(runs.solved)) % 2 == 0
            return runs._replace(solved=~first, between=np.zeros_like(runs.between))

    trees = grow(Flat(X), plain_views(8), settings(3, n_candidates=2, compete_always=True, patience=1), seed=0)
    assert (trees.kappas == np.inf).all()
    assert all(len(c) == 3 for c in trees.centers)


def test_short_last_step_repeats_its_first_candidate():
    """Five features, steps of two by three: the last chunk has one feature, and there is no second step."""
    backend = Recorder(table(columns=5))
    options = settings(1, patience=None, n_candidates=3, compete_always=True)
    grow(backend, plain_views(5), options, seed=0)
    assert len(backend.batches) == 2
    drawn = [f.tolist()[2:] for f in backend.batches[1][0].features]
    assert [len(d) for d in drawn] == [2, 2, 1]
    assert sorted(np.concatenate(drawn)) == list(range(5))
    backend = Recorder(table(columns=5))
    grow(backend, plain_views(5), settings(1, patience=None, n_candidates=4, compete_always=True), seed=0)
    drawn = [f.tolist()[2:] for f in backend.batches[1][0].features]
    assert drawn[3] == drawn[0]
    assert len(backend.batches) == 2


def test_one_cluster_is_a_solution():
    """Nothing is between its clusters, so that kappa is infinite and no feature is added."""
    trees = grow(Recorder(table()), plain_views(8), settings(3, n_base_clusters=1), seed=0)
    assert [len(c) for c in trees.centers] == [1, 1, 1]
    assert (trees.kappas == np.inf).all()
    assert [len(f) for f in trees.features] == [2, 2, 2]
