"""Hashes of rows, and the order that they give."""

import numpy as np
import reference

from clusterforests._utils.arrays import order_by_values, row_keys

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4)).round(1)
X[3, 1], X[4, 1] = np.nan, -0.0


def test_keys_depend_on_the_values_alone():
    other = X.copy()
    other[3, 1], other[4, 1] = -np.nan, 0.0
    assert (row_keys(other) == row_keys(X)).all()
    order = RNG.permutation(200)
    assert (row_keys(np.asfortranarray(X[order])) == row_keys(X)[order]).all()
    assert len(np.unique(row_keys(X))) == len(np.unique(X, axis=0))


def test_keys_are_those_of_the_plain_version():
    assert (row_keys(X, threads=2) == reference.row_keys(X)).all()


def test_the_order_does_not_depend_on_how_rows_came():
    order = RNG.permutation(200)
    weights = RNG.exponential(size=200)
    for mass in (None, weights):
        again = order_by_values(X[order], None if mass is None else mass[order])
        assert np.array_equal(X[order][again], X[order_by_values(X, mass)], equal_nan=True)
    assert (np.diff(order_by_values(X)) < 0).any()


def test_equal_rows_are_ordered_by_weight():
    rows = np.ones((5, 2))
    assert order_by_values(rows, np.array([3.0, 1, 2, 5, 4])).tolist() == [1, 2, 0, 4, 3]
