"""The K-means kernel and its estimator."""

import pickle

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from clusterforests import HartiganWongKMeans
from clusterforests._utils.random import stream
from clusterforests.backends import CpuBackend, Effort, KMeansJobs


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64])
def test_numbers_of_clusters_are_integers_of_any_kind(kind):
    """A product with a number of few bits would have few bits, too."""
    X = np.random.default_rng(0).normal(size=(100, 2))
    expected = HartiganWongKMeans(3, random_state=0).fit_predict(X)
    found = HartiganWongKMeans(kind(3), n_init=kind(20), max_iter=kind(100), random_state=0).fit_predict(X)
    assert (found == expected).all()


def random_problem(seed):
    """Structureless, clustered, tied or duplicated rows, at any scale and offset."""
    rng = np.random.default_rng(seed)
    n = int(np.exp(rng.uniform(np.log(20), np.log(2000))))
    d, k, kind = int(rng.integers(1, 21)), int(rng.integers(2, 11)), rng.integers(4)
    X = rng.normal(size=(n, d))
    if kind == 1:
        X += rng.normal(scale=3, size=(k, d))[rng.integers(0, k, n)]
    elif kind == 2:
        X = np.round(X * rng.integers(1, 4))
    elif kind == 3:
        X = X[rng.integers(0, max(k + 5, n // 2), n) % n]
    X *= 10.0 ** rng.integers(-9, 10)
    if rng.random() < 0.3:
        X += np.abs(X).max() * rng.choice([10, 1e3, 1e6])
    if len(np.unique(X, axis=0)) < k:
        return random_problem(seed + 100_000)
    return X, k


def solve(X, features, k, *, weights=None, seed=0, n_init=20, max_iter=200, n_jobs=1):
    backend = CpuBackend(n_jobs)
    backend.load(np.ascontiguousarray(X, dtype=np.float64), weights)
    features = [np.array(features, dtype=np.int32)]
    clusters = np.array([k], np.int32)
    runs = backend.kmeans(KMeansJobs(features, clusters, stream(seed), n_init, max_iter, Effort.IMPROVED))
    return backend, runs, backend.assign(features, runs.centers)[0] if runs.solved[0] else None


def test_300_random_problems_are_optimal_and_rarely_beaten():
    beaten = 0
    with threadpool_limits(1):
        for seed in range(300):
            X, k = random_problem(seed)
            mine = HartiganWongKMeans(k, random_state=seed).fit(X)
            centred = X - X[0]
            assert reference.best_move_gain(centred, mine.labels_, k) < 1e-9, seed
            objective = reference.within(centred, mine.labels_)
            assert mine.inertia_ == pytest.approx(objective, rel=1e-6), seed
            theirs = KMeans(k, n_init=20, random_state=seed).fit(X - X.mean(axis=0))
            beaten += objective > theirs.inertia_ * (1 + 1e-9)
    assert beaten <= 9  # 3 % of 300


@pytest.mark.parametrize("seed", range(20))
def test_weighted_result_is_optimal(seed):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(60, 3)), rng.exponential(size=60)
    fitted = HartiganWongKMeans(4, random_state=seed).fit(X, sample_weight=weights)
    assert reference.best_move_gain(X, fitted.labels_, 4, weights) < 1e-9
    assert fitted.inertia_ == pytest.approx(reference.within(X, fitted.labels_, weights))


@pytest.mark.parametrize("quality", ["centroid", "pairwise"])
def test_sums_of_squares(blobs, quality):
    X, _ = blobs
    _, runs, labels = solve(X, [0, 1, 4], 3)
    if quality == "centroid":
        scale = 4.0 ** runs.exponent[0]
        expected = reference.within(X[:, [0, 1, 4]], labels), reference.between(X[:, [0, 1, 4]], labels)
        assert (runs.within[0] * scale, runs.between[0] * scale) == pytest.approx(expected)
    else:
        within, between = reference.pair_sums(X[:, [0, 1, 4]], labels)
        assert runs.within_pairs[0] / runs.between_pairs[0] == pytest.approx(within / between)


def test_repeated_column_counts_twice():
    X = np.random.default_rng(1).normal(size=(80, 3))
    _, runs, labels = solve(X, [2, 0, 2], 4)
    doubled = X[:, [0, 2, 2]]
    assert reference.best_move_gain(doubled, labels, 4) < 1e-9
    assert runs.within[0] / runs.between[0] == pytest.approx(
        reference.within(doubled, labels) / reference.between(doubled, labels)
    )


@given(
    arrays(np.float64, st.integers(4, 12), elements=st.integers(-20, 20).map(float)),
    st.integers(2, 4),
    st.booleans(),
)
@settings(max_examples=150)
def test_one_column_is_solved_exactly(x, k, repeated):
    if len(np.unique(x)) < k:
        return
    backend, _, labels = solve(x[:, None], [0, 0] if repeated else [0], k)
    assert backend.load(x[:, None]).n_distinct == len(np.unique(x))
    assert reference.within(x[:, None], labels) == pytest.approx(reference.optimal_line(x, k), abs=1e-9)


def test_constant_columns_change_nothing():
    X = np.random.default_rng(2).normal(size=(50, 2))
    padded = np.column_stack([np.full(50, 7.0), X, np.zeros(50)])
    plain = HartiganWongKMeans(3, random_state=0).fit(X)
    wide = HartiganWongKMeans(3, random_state=0).fit(padded)
    assert wide.inertia_ == pytest.approx(plain.inertia_)
    assert wide.cluster_centers_[:, 0] == pytest.approx(7.0)


def test_fewer_distinct_rows_than_clusters_is_an_outcome():
    X = np.array([[0.0, 1.0], [1.0, 1.0]] * 10)
    assert not solve(X, [0, 1], 3)[1].solved[0]
    assert not solve(X, [1], 2)[1].solved[0]
    assert solve(X, [0, 1], 2)[1].solved[0]
    with pytest.warns(ConvergenceWarning, match="2 distinct rows, fewer than n_clusters=3"):
        fitted = HartiganWongKMeans(3, random_state=0).fit(X)
    assert fitted.inertia_ == 0
    assert len(fitted.cluster_centers_) == 2


@pytest.mark.parametrize("columns", [1, 2, 9])
def test_rows_are_their_own_clusters(columns):
    X = np.random.default_rng(3).normal(size=(7, columns))
    fitted = HartiganWongKMeans(7, random_state=0).fit(X)
    assert sorted(fitted.labels_) == list(range(7))
    assert fitted.inertia_ == 0


def test_one_cluster():
    X = np.random.default_rng(3).normal(size=(30, 4))
    fitted = HartiganWongKMeans(1).fit(X)
    assert (fitted.labels_ == 0).all()
    assert fitted.cluster_centers_[0] == pytest.approx(X.mean(axis=0))
    assert fitted.inertia_ == pytest.approx(reference.within(X, fitted.labels_))


def test_duplicates_stay_together_and_weights_are_repeats():
    rng = np.random.default_rng(4)
    X, counts = rng.integers(0, 3, size=(40, 3)).astype(float), rng.integers(0, 4, size=40)
    repeated = HartiganWongKMeans(4, random_state=5).fit(np.repeat(X, counts, axis=0))
    weighted = HartiganWongKMeans(4, random_state=5).fit(X, sample_weight=counts)
    assert (np.repeat(weighted.labels_, counts) == repeated.labels_).all()
    assert (weighted.cluster_centers_ == repeated.cluster_centers_).all()
    for row in np.unique(X, axis=0):
        assert len(set(weighted.labels_[(row == X).all(axis=1)])) == 1


def test_labels_are_the_nearest_centres():
    X = np.random.default_rng(6).normal(size=(300, 4)) + 1e7
    fitted = HartiganWongKMeans(6, random_state=0).fit(X)
    assert (fitted.predict(X) == fitted.labels_).all()
    assert (reference.nearest(X - 1e7, fitted.cluster_centers_ - 1e7) == fitted.labels_).all()
    assert fitted.transform(X).argmin(axis=1) == pytest.approx(fitted.labels_)
    sizes = np.bincount(fitted.labels_)
    assert (np.diff(sizes) <= 0).all()


def test_many_rows_are_searched_on_a_sample():
    rng = np.random.default_rng(7)
    centers = rng.uniform(-10, 10, size=(6, 3))
    X = centers[rng.integers(0, 6, 40_000)] + rng.normal(size=(40_000, 3))
    fitted = HartiganWongKMeans(6, random_state=0).fit(X)
    assert reference.best_move_gain(X, fitted.labels_, 6) < 1e-9
    with threadpool_limits(1):
        theirs = KMeans(6, n_init=5, random_state=0).fit(X)
    assert fitted.inertia_ <= theirs.inertia_ * (1 + 1e-9)


def test_max_iter_and_n_init_matter():
    X = np.random.default_rng(8).normal(size=(400, 6))
    full = HartiganWongKMeans(8, random_state=0).fit(X)
    assert HartiganWongKMeans(8, random_state=0, n_init=1).fit(X).inertia_ > full.inertia_
    assert HartiganWongKMeans(8, random_state=0, max_iter=1).fit(X).n_iter_ == 1 < full.n_iter_


def test_rounding_does_not_cycle():
    """Groups far smaller than their distance: moves within rounding must end, with no cluster empty."""
    rng = np.random.default_rng(1)
    X = np.r_[1e-3 * rng.normal(size=(150, 2)), 1 + 2e-15 * rng.normal(size=(100, 2))]
    assert len(set(HartiganWongKMeans(15, random_state=0).fit_predict(X))) == 15
    Y = np.r_[1e-3 * rng.normal(size=(20, 3)), 1 + 2.0**-52 * rng.integers(0, 4, (12, 3))]
    assert len(set(HartiganWongKMeans(5, random_state=0, n_init=2).fit_predict(Y))) == 5


def test_columns_of_very_different_scale():
    rng = np.random.default_rng(0)
    small = np.r_[np.zeros(20), np.ones(20)] + 0.05 * rng.normal(size=40)
    X = np.column_stack([1e300 * rng.normal(size=40), 1e-300 * small])
    _, runs, labels = solve(X, [1], 2)
    assert runs.solved[0]
    assert (labels[:20] != labels[20]).all()
    beside_a_constant = np.column_stack([np.full(40, 1e200), small])
    fitted = HartiganWongKMeans(2, random_state=0).fit(beside_a_constant)
    assert (fitted.predict(beside_a_constant) == fitted.labels_).all()
    alone = HartiganWongKMeans(2, random_state=0).fit(small[:, None])
    assert fitted.transform(beside_a_constant) == pytest.approx(alone.transform(small[:, None]))


def test_differences_that_cannot_be_squared():
    with pytest.raises(ValueError, match="n_clusters=4 is more than the rows of X that float64 can tell apart"):
        HartiganWongKMeans(4, random_state=0).fit(np.array([[0.0], [1e-170], [2e-170], [1.0]]))


@pytest.mark.parametrize("factor", [1e-50, 1e39, 3.0])
def test_scale_of_the_weights(factor):
    X = np.random.default_rng(0).normal(size=(300, 3))
    plain = HartiganWongKMeans(6, random_state=0).fit(X)
    scaled = HartiganWongKMeans(6, random_state=0).fit(X, sample_weight=np.full(300, factor))
    assert scaled.inertia_ == pytest.approx(factor * plain.inertia_)
    assert HartiganWongKMeans(6, random_state=0).fit(X, sample_weight=2).inertia_ == 2 * plain.inertia_


def test_huge_values():
    X = 1e300 * np.random.default_rng(0).normal(size=(30, 2))
    fitted = HartiganWongKMeans(3, random_state=0).fit(X)
    assert fitted.inertia_ == np.inf
    assert np.isfinite(fitted.cluster_centers_).all()
    assert len(set(fitted.labels_)) == 3


def test_centres_can_be_used_without_the_table():
    """On a back end that holds no table, alone or in a batch, in the coordinates that travel with them."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4)) * [1e-3, 1, 1e5, 0] + [5, 0, -1e7, 2]
    features = [np.array([0, 2], np.int32), np.array([1, 1, 3], np.int32)]
    home = CpuBackend(1)
    loaded = home.load(X)
    jobs = KMeansJobs(features, np.array([4, 3], np.int32), stream(0, np.arange(2)), 3, 50)
    centers = home.kmeans(jobs).centers
    coordinates = pickle.loads(pickle.dumps(loaded.coordinates))
    away = CpuBackend(2)
    labels = home.assign(features, centers)
    assert (away.assign(features, centers, X, coordinates) == labels).all()
    assert (away.assign(features, centers, X[7:8].copy(), coordinates) == labels[:, 7:8]).all()
    with pytest.raises(ValueError, match="columns"):
        away.assign(features, centers, X[:, :3].copy(), coordinates)
