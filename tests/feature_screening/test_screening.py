"""Feature screening, on tables of known kind."""

import numpy as np
import pytest

from clusterforests import ClusterForest
from clusterforests.feature_screening import screen_by_trees, screen_features
from clusterforests.feature_screening.screening import draw_by_weight
from clusterforests.table.feature_columns import DistinctRows, EncodedTable, distinct_rows, numeric_table
from clusterforests.table.scaling import fit_scaling


def screen(X, n_clusters=3, seed=0, weights=None, threads=1, encoded=None):
    encoded = numeric_table(X) if encoded is None else encoded
    scaling = fit_scaling(encoded, "standard", weights)
    return screen_features(encoded.values, scaling, distinct_rows(encoded.values, weights), n_clusters, seed, threads)


def noisy(n, p, informative, effect, noise, seed=0):
    """Three groups that differ in the first features."""
    rng = np.random.default_rng(seed)
    X = noise(rng, (n, p))
    centres = np.column_stack([rng.permutation([-1.0, 0.0, 1.0]) for _ in range(informative)])
    X[:, :informative] = rng.normal(size=(n, informative)) + effect * centres[np.arange(n) % 3]
    return X


def normal(rng, shape):
    return rng.normal(size=shape)


def heavy(rng, shape):
    return rng.standard_t(2, size=shape)


def blocks(rng, shape):
    factors = np.repeat(rng.normal(size=(shape[0], -(-shape[1] // 8))), 8, axis=1)[:, : shape[1]]
    return 0.9 * factors + 0.45 * rng.normal(size=shape)


def binary(rng, shape):
    return (rng.random(shape) < rng.uniform(0.2, 0.8, shape[1])).astype(float)


def copies(rng, shape):
    X = rng.normal(size=shape)
    X[:, -16:] = X[:, -1:]
    return X


@pytest.mark.parametrize("noise", [normal, heavy, blocks, binary, copies])
@pytest.mark.parametrize("shape", [(300, 50, 6), (120, 2500, 60)])
def test_informative_features_are_found_among_noise(noise, shape):
    n, p, informative = shape
    found = screen(noisy(n, p, informative, 2.5, noise))
    assert found.informative[:informative].mean() > 0.95
    assert found.informative[informative:].mean() < 0.05
    assert (found.scores[~found.informative] == 0).all()


@pytest.mark.parametrize(("n", "p"), [(300, 60), (100, 30), (200, 1000)])
def test_a_table_of_noise_keeps_its_features(n, p):
    """Next to no feature is said to be informative."""
    found = [
        np.mean(screen(np.random.default_rng(seed).normal(size=(n, p)), seed=seed).scores > 0) for seed in range(6)
    ]
    assert np.mean(found) < 0.03


def test_where_nearly_all_features_are_informative_all_are_kept():
    X = noisy(300, 10, 10, 3.0, normal)
    found = screen(X)
    assert found.informative.all()
    assert "10 of 10" in found.reason


@pytest.mark.parametrize("p", [1, 2])
def test_tables_of_one_or_two_features(p):
    X = noisy(60, p, p, 4.0, normal)
    assert screen(X).informative.all()
    assert screen(np.ones((20, p))).informative.any() == (p > 0)


def test_a_random_category_is_not_informative():
    rng = np.random.default_rng(0)
    X = noisy(300, 4, 4, 3.0, normal)
    values = np.column_stack([X, np.eye(5)[rng.integers(0, 5, 300)]])
    encoded = EncodedTable(
        values,
        first=np.arange(5, dtype=np.int32),
        widths=np.array([1, 1, 1, 1, 5], np.int32),
        categorical=np.arange(5) == 4,
    )
    assert screen(None, encoded=encoded).informative.tolist() == [True, True, True, True, False]


def test_threads_do_not_matter_and_seeds_do():
    X = noisy(300, 40, 5, 1.5, normal)
    one, two, other = screen(X), screen(X, threads=2), screen(X, seed=1)
    assert (one.p_values == two.p_values).all()
    assert (one.p_values != other.p_values).any()


def test_a_weight_of_two_is_the_row_twice():
    X = noisy(90, 8, 3, 3.0, normal)
    weights = 1.0 + (np.arange(90) % 4 == 0)
    repeated = screen(np.repeat(X, weights.astype(int), axis=0))
    assert (screen(X, weights=weights).p_values == repeated.p_values).all()


def test_rows_are_drawn_by_weight():
    distinct = DistinctRows(np.array([5, 9, 7]), np.array([2.0, 1.0, 3.0]))
    assert sorted(draw_by_weight(distinct, 100, 0)) == [5, 5, 7, 7, 7, 9]
    many = DistinctRows(np.arange(1000), np.where(np.arange(1000) < 100, 9.0, 1.0))
    drawn = draw_by_weight(many, 400, 0)
    assert len(drawn) <= 400
    assert 0.4 < np.mean(drawn < 100) < 0.6
    tiny = draw_by_weight(DistinctRows(np.arange(50), np.full(50, 1e-3)), 100, 0)
    assert sorted(tiny) == list(range(50))


def test_trees_that_are_there_score_the_features_they_lack():
    X = noisy(200, 4, 2, 5.0, normal)
    labels = np.array([np.arange(200) % 3] * 4, dtype=np.int32)
    labels[3, 5] = -1
    features = [np.array([0], np.int32), np.array([1], np.int32), np.array([0, 2], np.int32), np.array([0], np.int32)]
    found = screen_by_trees(numeric_table(X), distinct_rows(X), labels, features, 0)
    assert (found.scores[:2] > 0.5).all()
    assert (found.scores[2:] == 0).all()
    assert found.informative.all()


@pytest.mark.parametrize("noise", [0, 4])
def test_columns_of_few_values_that_part_far_groups_are_no_copies(noise):
    """They are correlated nearly as copies are, but only because the groups are far apart."""
    rng, group = np.random.default_rng(1), np.arange(200) % 2
    informative = [rng.integers(0, 3, 200) + 100 * group for _ in range(3)]
    X = np.column_stack([*informative, group, *rng.normal(size=(noise, 200))]).astype(float)
    forest = ClusterForest(2, n_estimators=20, random_state=0).fit(X)
    assert (forest.feature_importances_[:4] > 0.9).all()
    assert (forest.feature_pvalues_[:4] < 1e-20).all()
    assert not forest.feature_importances_[4:].any()


def test_copies_of_noise_do_not_vouch_for_each_other():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=300)
    X[:, 2] = np.rint(3 * X[:, 0])
    forest = ClusterForest(2, n_estimators=20, random_state=0).fit(X)
    assert not forest.feature_importances_[:3].any()
