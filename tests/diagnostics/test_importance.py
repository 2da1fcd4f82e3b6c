"""Which features separate clusters: against all permutations, and on data whose answer is known."""

import itertools

import numpy as np
import pytest
import reference

from clusterforests import ClusterForest, consensus
from clusterforests.datasets import make_g1, make_g3
from clusterforests.diagnostics import feature_importance, feature_separation


@pytest.mark.parametrize("sizes", [(2, 2, 3), (1, 2, 4), (3, 4), (1, 1, 4), (1, 6)])
def test_null_moments_are_those_of_all_permutations(sizes):
    rng = np.random.default_rng(0)
    x, labels = rng.standard_t(2, size=sum(sizes)), np.repeat(np.arange(len(sizes)), sizes)
    shares, against = [], []
    for order in itertools.permutations(x):
        y = np.array(order)
        shares.append(reference.eta_squared(y, labels))
        against.append([reference.eta_squared(y, labels == c) for c in range(len(sizes))])
    found = feature_separation(x[:, None], labels)
    assert found.features.share[0] == pytest.approx(shares[0])
    assert found.features.expected[0] == pytest.approx(np.mean(shares))
    assert found.features.deviation[0] == pytest.approx(np.std(shares))
    assert found.clusters.share[:, 0] == pytest.approx(against[0])
    assert found.clusters.expected[:, 0] == pytest.approx(np.mean(against, axis=0))
    assert found.clusters.deviation[:, 0] == pytest.approx(np.std(against, axis=0))
    z = (shares[0] - np.mean(shares)) / np.std(shares)
    assert found.features.excess[0] == pytest.approx(z)


def test_separation_with_missing_cells():
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(60, 4)) * [1, 1e-150, 1e150, 1] + [0, 0, 0, 1e9], np.arange(60) % 3
    X[rng.random(X.shape) < 0.3] = np.nan
    found = feature_separation(X, labels)
    for j in range(4):
        known = ~np.isnan(X[:, j])
        alone = feature_separation(X[known, j : j + 1], labels[known])
        moved = X[:, j] - np.nanmin(X[:, j])
        scaled = np.ldexp(moved, -np.frexp(np.nanmax(moved))[1])
        assert found.features.share[j] == pytest.approx(reference.eta_squared(scaled, labels))
        assert found.features.deviation[j] == pytest.approx(alone.features.deviation[0])
        assert found.features.p_value[j] == pytest.approx(alone.features.p_value[0])
        means = [np.nanmean(X[labels == c, j]) - np.nanmean(X[:, j]) for c in range(3)]
        assert (found.direction[:, j] == np.sign(means)).all()


def test_separation_weights_are_repeated_rows():
    rng = np.random.default_rng(2)
    X, labels, counts = rng.normal(size=(20, 3)), np.arange(20) % 4, rng.integers(0, 4, size=20)
    X[rng.random(X.shape) < 0.2] = np.nan
    once = feature_separation(X, labels, counts)
    many = feature_separation(np.repeat(X, counts, axis=0), np.repeat(labels, counts))
    for side in ("features", "clusters"):
        for name in ("share", "expected", "deviation", "excess", "p_value"):
            assert getattr(getattr(once, side), name) == pytest.approx(getattr(getattr(many, side), name))
    assert (once.direction == many.direction).all()


def test_separation_p_values_are_those_of_shuffles():
    """The beta distribution with the two moments: right at the 5 % point even for a heavy-tailed feature."""
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1, 2], [40, 25, 10])
    X = np.array([rng.permutation(x) for x in rng.standard_t(4, size=(4, 75)) for _ in range(1000)]).T
    p = feature_separation(X, labels).features.p_value
    assert np.mean(p < 0.05) == pytest.approx(0.05, abs=0.012)
    assert np.mean(p < 0.5) == pytest.approx(0.5, abs=0.03)


def test_features_that_separate_nothing():
    X = np.column_stack([np.full(6, 0.1), [0, 0, 0, 1, 1, 1], [1, 2, np.nan, 3, np.nan, np.nan], np.full(6, np.nan)])
    found = feature_separation(X, [0, 0, 0, 1, 1, 1]).features
    assert found.share == pytest.approx([0, 1, 0, 0])
    assert found.p_value[[0, 2, 3]].tolist() == [1, 1, 1]
    assert found.excess[[0, 2, 3]].tolist() == [0, 0, 0]
    one = feature_separation(X[:, :2], np.zeros(6, dtype=int))
    assert one.features.p_value.tolist() == [1, 1]
    assert one.clusters.p_value.shape == (1, 2)


def test_importance_on_g1():
    """Every informative feature is above the null, and noise is so as often as the level of the test says."""
    rates = []
    for seed in range(40):
        data = make_g1(200, n_noise=20, n_informative=5, random_state=seed)
        forest = ClusterForest.from_paper(2, n_estimators=40, n_init=2, random_state=seed).fit(data.data)
        found = feature_importance(data.data, forest.labels_, forest.partitions_, forest.estimators_features_)
        p = found.separation.features.p_value
        assert (p[data.mu != 0] < 1e-6).all()
        rates.append(np.mean(p[data.mu == 0] < 0.05))
    assert np.mean(rates) == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize("settings", [{}, {"features_per_draw": 10, "repeat_features": False, "base_clusters": 6}])
def test_importance_of_noise_alone(settings):
    """Clusters of noise differ in what made them; the test is not taken in, also where all trees use all features."""
    rates, naive = [], []
    for seed in range(40):
        X = np.random.default_rng(seed).normal(size=(100, 10))
        forest = ClusterForest.from_paper(3, n_estimators=40, n_init=2, random_state=seed, **settings).fit(X)
        found = feature_importance(X, forest.labels_, forest.partitions_, forest.estimators_features_)
        rates.append(np.mean(found.separation.features.p_value < 0.05))
        naive.append(np.mean(feature_separation(X, forest.labels_).features.p_value < 0.05))
        assert (found.n_trees == 0).all() == bool(settings)
    assert np.mean(naive) > 0.15
    assert np.mean(rates) == pytest.approx(0.05, abs=0.03)


def test_importance_of_clusters_and_use():
    data = make_g3(300, n_noise=6, n_informative=3, signs=[1, 1, -1], random_state=0)
    forest = ClusterForest.from_paper(2, n_estimators=40, n_init=2, random_state=0).fit(data.data)
    found = feature_importance(data.data, forest.labels_, forest.partitions_, forest.estimators_features_)
    up = int(data.data[forest.labels_ == 1, 7].mean() > 0)  # the cluster with the positive means
    assert found.separation.direction[up, 6:].tolist() == [1, 1, -1]
    assert found.separation.clusters.excess[:, 6:].min() > 10
    used = np.array([np.isin(np.arange(9), f) for f in forest.estimators_features_])
    assert found.use == pytest.approx(used.mean(axis=0))
    free = (~used).sum(axis=0)
    assert ((found.n_trees == free) | ((found.n_trees >= 27) & (found.n_trees <= free))).all()
    assert found.use_excess.sum() == pytest.approx(0, abs=1e-9)
    assert found.n_rows == 300
    sample = feature_importance(
        data.data, forest.labels_, forest.partitions_, forest.estimators_features_, max_rows=100
    )
    assert sample.n_rows == 100
    assert (sample.separation.features.p_value[6:] < 0.001).all()


def test_importance_keeps_the_names_of_the_clusters():
    data = make_g3(100, n_noise=2, n_informative=3, random_state=0)
    trees = np.tile(data.target, (20, 1))
    features = [[0]] * 10 + [[1]] * 10
    up = (data.data[data.target == 1].mean(axis=0) > 0)[2:]
    for combine in (lambda p, k: p[0], lambda p, k: 1 - p[0]):
        found = feature_importance(data.data, data.target, trees, features, combine=combine)
        assert ((found.separation.direction[1, 2:] > 0) == up).all()


def test_importance_never_shows_a_feature_the_trees_that_use_it():
    X = np.random.default_rng(0).normal(size=(30, 3))
    partitions = (X.T > 0).astype(np.int32)  # tree t splits feature t
    partitions = np.repeat(partitions, 5, axis=0)
    features = [np.array([t // 5]) for t in range(15)]
    calls = []

    def spy(members, n_clusters):
        calls.append({t for t in range(3) if (members == partitions[5 * t]).all(axis=1).any()})
        return members[0]

    feature_importance(X, partitions[0], partitions, features, combine=spy)
    assert sorted(map(sorted, calls)) == [[0, 1], [0, 2], [1, 2]]


def test_importance_combines_once_for_features_that_few_trees_use():
    rng = np.random.default_rng(0)
    X, partitions = rng.normal(size=(40, 30)), rng.integers(0, 2, size=(20, 40))
    features = [[t, t + 1] for t in range(20)]  # 5 features use up a third of the trees; the last ones are in no tree
    calls = []

    def spy(members, n_clusters):
        calls.append(len(members))
        return consensus(members, n_clusters)

    found = feature_importance(X, np.arange(40) % 2, partitions, features, combine=spy)
    assert 3 <= len(calls) <= 6
    assert min(calls) >= 14
    assert (found.n_trees >= 14).all()
    for j in range(30):
        assert found.n_trees[j] <= 20 - sum(j in f for f in features)


def test_importance_with_missing_cells_and_rows_that_sit_out():
    data = make_g3(150, n_noise=3, n_informative=3, random_state=0)
    rng = np.random.default_rng(0)
    forest = ClusterForest.from_paper(2, n_estimators=40, n_init=2, random_state=0).fit(data.data)
    X, partitions = data.data.copy(), forest.partitions_.copy()
    X[rng.random(X.shape) < 0.2] = np.nan
    partitions[rng.random(partitions.shape) < 0.5] = -1
    for trees in (partitions, partitions[:3]):  # of three trees many rows are in none without some feature
        known = (trees >= 0).any(axis=0)
        found = feature_importance(
            X[known], forest.labels_[known], trees[:, known], forest.estimators_features_[: len(trees)]
        )
        assert np.isfinite(found.separation.features.excess).all()
    found = feature_importance(X, forest.labels_, partitions, forest.estimators_features_)
    assert (found.separation.features.p_value[3:] < 0.001).all()
    everywhere = [np.arange(6)] * 40
    fresh = feature_importance(X, forest.labels_, partitions, everywhere)
    assert (fresh.n_trees == 0).all()
    assert (fresh.separation.features.p_value[3:] < 0.001).all()


def test_importance_of_a_single_feature():
    x = np.repeat([0.0, 5.0], 10)[:, None]
    labels = np.repeat([0, 1], 10)
    found = feature_importance(x, labels, [labels, labels], [[0], [0]])
    assert found.separation.features.p_value.tolist() == [1]


PARTITIONS, LABELS = np.array([[0, 0, 1, 1], [0, 1, 1, 1]]), np.array([0, 0, 1, 1])
X4 = np.arange(8.0).reshape(4, 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: feature_separation([[1.0], [np.inf]], [0, 1]), "X contains infinity"),
        (lambda: feature_importance(X4, LABELS, PARTITIONS, [[0]]), "features has 1 entries"),
        (lambda: feature_importance(X4, LABELS, PARTITIONS, [[0], [2]]), r"features\[1\]"),
        (lambda: feature_importance(X4[:3], LABELS, PARTITIONS, [[0], [1]]), "4 columns but X has 3"),
        (lambda: feature_importance(X4, LABELS, PARTITIONS, [[0], [1]], max_rows=3), "max_rows=3"),
        (
            lambda: feature_importance(X4, LABELS, PARTITIONS, [[0], [1]], combine=lambda p, k: np.arange(4)),
            "combine returned 4 clusters",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
