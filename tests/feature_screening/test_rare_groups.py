"""Small groups far from all others are found, and nothing else is taken for one."""

import numpy as np
import pytest

from clusterforests import ClusterForest
from clusterforests.feature_screening.rare_groups import draw_preferences, find_rare_groups, with_preferences
from clusterforests.table.feature_columns import DistinctRows, FeatureColumns, distinct_rows
from clusterforests.trees.forest import sample_rows


def views(p):
    every = np.arange(p, dtype=np.int32)
    return FeatureColumns(every[None, :], np.ones(p, np.int32), every)


def rare_groups(X, seed=0):
    return find_rare_groups(X, views(X.shape[1]), distinct_rows(X), seed)


def with_rare_group(n=4000, size=20, away=7.0, informative=3, p=8, seed=0):
    """A normal table whose first rows are a rare group."""
    X = np.random.default_rng(seed).normal(size=(n, p))
    X[:size, :informative] += away
    return X


@pytest.mark.parametrize("n", [1200, 4000, 20000])
def test_a_group_is_found_with_all_its_rows(n):
    (found,) = rare_groups(with_rare_group(n))
    np.testing.assert_array_equal(np.sort(found), np.arange(20))


def test_two_groups_are_two():
    X = with_rare_group()
    X[100:130, 4:] -= 9.0
    found = sorted(np.sort(group).tolist() for group in rare_groups(X))
    assert found == [list(range(20)), list(range(100, 130))]


def test_neither_the_order_of_the_rows_nor_their_units_show():
    X = with_rare_group()
    order = np.random.default_rng(1).permutation(len(X))
    (found,) = rare_groups((X * 4.0 ** np.arange(8))[order])
    np.testing.assert_array_equal(np.sort(order[found]), np.arange(20))


@pytest.mark.parametrize("kind", ["normal", "uniform", "t3", "cauchy", "lognormal", "one long axis", "counts"])
@pytest.mark.parametrize("p", [2, 3, 10])
def test_tables_without_clusters_have_no_groups(kind, p):
    rng = np.random.default_rng(p)
    n = 5000
    X = {
        "normal": lambda: rng.normal(size=(n, p)),
        "uniform": lambda: rng.random((n, p)),
        "t3": lambda: rng.standard_t(3, (n, p)),
        "cauchy": lambda: rng.standard_cauchy((n, p)),
        "lognormal": lambda: np.exp(rng.normal(size=(n, p))),
        "one long axis": lambda: rng.normal(size=(n, 1)) + 0.3 * rng.normal(size=(n, p)),
        "counts": lambda: rng.poisson(np.exp(rng.normal(size=(n, 1)) + 2), (n, p)).astype(float),
    }[kind]()
    assert rare_groups(X) == []


def test_what_is_no_group():
    assert rare_groups(with_rare_group(n=1000)) == []  # too few rows to miss any
    assert rare_groups(with_rare_group(informative=1, away=20.0)) == []  # what one feature shows is that feature
    assert rare_groups(with_rare_group(size=8)) == []  # too few rows
    assert rare_groups(with_rare_group(size=400)) == []  # too many: every draw has some
    assert rare_groups(np.round(with_rare_group())) == []  # steps of a scale
    assert rare_groups(with_rare_group()[:, :1]) == []


def test_draws_have_rows_of_groups():
    distinct = distinct_rows(with_rare_group(20000))
    group = np.arange(20)
    assert (draw_preferences(distinct, []) == 1).all()
    assert np.isin(sample_rows(distinct, 512, 0).rows, group).sum() < 5
    assert np.isin(sample_rows(distinct, 512, 0, [group]).rows, group).sum() >= 8
    preferred = with_preferences(distinct, [group]).weights
    assert preferred[np.isin(distinct.rows, group)].sum() == pytest.approx(20000 / 32, rel=0.05)
    assert draw_preferences(DistinctRows(np.arange(40), np.ones(40)), [np.arange(10)]).max() == 1


@pytest.mark.parametrize("n_large", [1, 3])
def test_a_rare_group_is_counted_and_found(n_large):
    rng = np.random.default_rng(5)
    group = np.append(rng.integers(0, n_large, 7976), np.full(24, n_large))
    centers = np.zeros((n_large + 1, 8))
    centers[np.arange(n_large), np.arange(n_large)] = 5.0 * (n_large > 1)
    centers[-1, -4:] = 8.0
    X = rng.normal(size=(8000, 8)) + centers[group]
    forest = ClusterForest("auto", n_estimators=60, random_state=0).fit(X)
    assert forest.n_clusters_ == n_large + 1
    np.testing.assert_array_equal(forest.labels_ == n_large, group == n_large)
    assert "a small group far from all other rows and, without it," in forest.n_clusters_evidence_.reason
    assert min(forest.n_clusters_evidence_.candidates) >= 2
    assert ClusterForest(range(2, 4), n_estimators=60, random_state=0).fit(X).n_clusters_ in (2, 3)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["power law", "wide lognormal"])
def test_long_tails_that_columns_share_are_no_groups(kind, seed):
    rng = np.random.default_rng(seed)
    if kind == "power law":
        X = (rng.pareto(0.3, size=(1300, 1)) + 1) * np.exp(0.2 * rng.normal(size=(1300, 5)))
    else:
        X = np.exp(6 * (rng.normal(size=(1300, 1)) + 0.1 * rng.normal(size=(1300, 4))))
    assert rare_groups(X) == []


def test_the_largest_numbers_do_not_overflow():
    X = with_rare_group(1200) * 2.0**1020
    (found,) = rare_groups(X)
    np.testing.assert_array_equal(np.sort(found), np.arange(20))
