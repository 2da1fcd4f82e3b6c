"""Tables without clusters keep what they should of the table they resemble."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import kurtosis, rankdata

from clusterforests._utils.random import stream
from clusterforests.feature_screening.modes import dip
from clusterforests.judge.structure import elliptical, gaussian_copula, independent_sources, standardised, tidy_table

logcosh, cube = (partial(independent_sources, contrast=name) for name in ("logcosh", "cube"))
KINDS = {"elliptical": elliptical, "copula": gaussian_copula, "logcosh": logcosh, "cube": cube}


def key(number=0):
    return stream(5, number)


def tidy(values, categorical=None, seed=0):
    p = values.shape[1]
    marked = np.zeros(p, dtype=bool) if categorical is None else categorical
    return tidy_table(values, np.arange(p, dtype=np.int32), marked, seed)


def correlated(n=1500, p=4, seed=0):
    rng = np.random.default_rng(seed)
    return standardised(rng.exponential(size=(n, p)) @ (np.eye(p) + 0.5 * rng.normal(size=(p, p))))


@pytest.mark.parametrize("kind", ["elliptical", "logcosh", "cube"])
def test_covariance_is_kept(kind):
    table = correlated()
    drawn = KINDS[kind](table)(key())
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(table.T), atol=0.15)
    assert np.abs(np.corrcoef(table.ravel(), drawn.ravel())[0, 1]) < 0.1


def test_a_copula_keeps_each_column_and_the_correlation_of_ranks():
    table = correlated()
    drawn = gaussian_copula(table)(key())
    np.testing.assert_array_equal(np.sort(drawn, axis=0), np.sort(table, axis=0))
    ranks = [np.corrcoef(rankdata(values, axis=0).T) for values in (table, drawn)]
    np.testing.assert_allclose(ranks[0], ranks[1], atol=0.1)


def test_a_cloud_keeps_the_distances_from_the_centre():
    rng = np.random.default_rng(0)
    heavy = standardised(rng.normal(size=(2000, 3)) / np.sqrt(rng.chisquare(3, (2000, 1)) / 3))
    light = standardised(rng.normal(size=(2000, 3)))
    tails = [kurtosis(elliptical(table)(key()).ravel()) for table in (heavy, light)]
    assert tails[0] > 1.5 > 0.5 > abs(tails[1])
    radii = [np.sort(np.linalg.norm(table, axis=1)) for table in (heavy, elliptical(heavy)(key()))]
    assert np.median(radii[1]) == pytest.approx(np.median(radii[0]), rel=0.1)


def test_sources_stay_what_they_are():
    """Two flat sources, mixed: drawn tables are parallelograms too, not ellipses."""
    rng = np.random.default_rng(0)
    mixing = np.array([[1.0, 0.6], [-0.4, 1.0]])
    table = rng.uniform(-1, 1, (3000, 2)) @ mixing
    sources = cube(table)(key()) @ np.linalg.inv(mixing)
    assert (np.abs(sources) < 1.15).all()
    assert (np.abs(kurtosis(sources) + 1.2) < 0.15).all()  # as flat as before


@pytest.mark.parametrize("kind", KINDS)
def test_the_key_determines_the_table(kind):
    draw = KINDS[kind](correlated(n=200))
    np.testing.assert_array_equal(draw(key()), draw(key()))
    assert not np.array_equal(draw(key()), draw(key(1)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(80, 1), (30, 90), (16, 2)])
def test_narrow_wide_and_short_tables(kind, shape):
    table = standardised(np.random.default_rng(0).normal(size=shape))
    drawn = KINDS[kind](table)(key())
    assert drawn.shape == shape
    assert np.isfinite(drawn).all()
    assert np.square(drawn).mean() == pytest.approx(1, abs=0.5)
    assert not np.array_equal(drawn, table)


@pytest.mark.parametrize("kind", KINDS)
def test_copies_of_a_column_stay_copies(kind):
    column = np.random.default_rng(0).normal(size=(120, 1))
    drawn = KINDS[kind](standardised(np.hstack([column, column, -column])))(key())
    np.testing.assert_allclose(drawn[:, 0], drawn[:, 1], atol=1e-6)
    np.testing.assert_allclose(drawn[:, 0], -drawn[:, 2], atol=0.05 if kind == "copula" else 1e-6)


def test_tidying_leaves_out_constant_columns_and_parts_ties():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    X[:, 1] = 3.0
    X[:, 2] = rng.integers(0, 2, 200)
    X[0, 4] = 1e200
    table = tidy(X)
    assert table.owners.tolist() == [0, 2, 3, 4]
    np.testing.assert_allclose(table.numbers.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(table.numbers.std(axis=0), 1)
    assert all(len(np.unique(column)) == 200 for column in table.unclipped.T)
    assert np.sqrt(200) * dip(table.numbers[:, 1]) < 0.6  # yes and no are not two modes
    again, other = tidy(X), tidy(X, seed=1)
    np.testing.assert_array_equal(again.numbers, table.numbers)
    assert not np.array_equal(other.numbers[:, 1], table.numbers[:, 1])
    np.testing.assert_array_equal(other.numbers[:, 0], table.numbers[:, 0])


def test_extremes_are_pulled_in_but_stay_in_the_ranks():
    X = np.random.default_rng(0).normal(size=(500, 1))
    X[0] = 1e200
    table = tidy(X)
    assert np.abs(table.numbers).max() < 5
    assert np.corrcoef(table.numbers[1:, 0], X[1:, 0])[0, 1] > 0.99
    np.testing.assert_array_equal(np.argsort(table.unclipped[:, 0]), np.argsort(X[:, 0]))


def test_units_do_not_matter():
    X = np.random.default_rng(0).normal(size=(100, 3))
    np.testing.assert_allclose(tidy(X * [1e-9, -4, 1e150] + [0, 7, 0]).numbers, tidy(X).numbers * [1, -1, 1], atol=1e-9)


@pytest.mark.parametrize("X", [np.ones((30, 2)), np.ones((1, 3)), np.ones((30, 0))])
def test_nothing_is_left_of_constant_tables(X):
    table = tidy(X)
    assert table.numbers.shape == table.marks.shape == (len(X), 0)
    assert len(table.owners) == 0


def test_a_category_is_shuffled_as_a_whole():
    rng = np.random.default_rng(0)
    first, second = np.eye(3)[rng.integers(0, 3, 300)], np.eye(4)[rng.integers(0, 4, 300)]
    values = np.hstack([rng.normal(size=(300, 2)), first, second])
    owners = np.array([0, 1, 2, 2, 2, 3, 3, 3, 3], dtype=np.int32)
    table = tidy_table(values, owners, owners > 1, 0)
    other = table.with_numbers(table.numbers + 1, key())
    np.testing.assert_array_equal(other.numbers, table.numbers + 1)
    np.testing.assert_array_equal(other.unclipped, table.numbers + 1)
    places = {}
    for feature, columns in ((2, slice(0, 3)), (3, slice(3, 7))):
        rows = {tuple(row): i for i, row in enumerate(table.marks[:, columns])}
        places[feature] = [rows[tuple(row)] for row in other.marks[:, columns]]  # KeyError if a row was torn apart
        assert sorted(places[feature]) == list(range(300))
        assert places[feature] != list(range(300))
    assert places[2] != places[3]
