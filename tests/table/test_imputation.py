"""Missing cells filled from similar rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import reference
from sklearn.base import BaseEstimator

from clusterforests import _core
from clusterforests.table.encoding import encode
from clusterforests.table.feature_columns import distinct_rows, numeric_table
from clusterforests.table.imputation import KEPT_DONORS, NEIGHBOURS, complete, find_donors, keep_donors


def table(n=120, p=6, share=0.3, seed=0):
    """Three groups, cells missing at random, in every row at least one left."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 4 * rng.normal(size=(3, p))[rng.integers(0, 3, n)]
    X[:, 1] = np.round(X[:, 1])
    gone = rng.random(X.shape) < share
    gone[np.arange(n), rng.integers(0, p, n)] = False
    return np.where(gone, np.nan, X)


def mixed(n=120, seed=0):
    """Numbers, a category of two levels and one of four, and a constant."""
    X = table(n, 6, seed=seed)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X[:, :3], columns=list("abc"))
    for name, column, cuts in (("two", X[:, 3], [0]), ("four", X[:, 4], [-3, 0, 3])):
        levels = np.array(list("wxyz"))[np.searchsorted(cuts, np.nan_to_num(column))].astype(object)
        frame[name] = pd.Categorical(np.where(np.isnan(column), None, levels))
    frame["constant"] = np.where(rng.random(n) < 0.2, np.nan, 7.0)
    frame.loc[frame.isna().all(axis=1), "a"] = 0.0
    return encode(BaseEstimator(), frame)[0]


def filled(encoded, weights=None, threads=1):
    return complete(encoded, weights, threads)[0].values


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("nearest", [64, 8])
def test_fills_as_the_plain_loops_do(seed, weighted, nearest):
    encoded = mixed(n=50, seed=seed)
    rng = np.random.default_rng(seed)
    encoded.values[:, 0] = rng.normal(size=50)  # or equally near donors could come in any order
    weights = rng.integers(0, 4, 50) / 2 if weighted else np.ones(50)
    expected = reference.fill_missing(encoded.values, encoded.first, encoded.widths, weights, NEIGHBOURS, nearest)
    found = find_donors(encoded, weights).fill(encoded.values, nearest=nearest)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("instruction_set", _core.instruction_sets(), indirect=True)
def test_instruction_sets_agree(instruction_set):
    encoded = mixed()
    here = filled(encoded)
    _core.use_instruction_set("baseline")
    assert (filled(encoded) == here).all()


def test_what_is_known_stays():
    encoded = mixed()
    before = encoded.values.copy()
    found = filled(encoded)
    assert np.array_equal(encoded.values, before, equal_nan=True)
    known = ~np.isnan(before)
    assert not known.all()
    assert (found[known] == before[known]).all()
    assert np.isfinite(found).all()


def test_a_complete_table_is_left_alone():
    encoded = numeric_table(np.arange(6.0).reshape(3, 2))
    found, donors = complete(encoded)
    assert found is encoded
    assert donors is None


def test_donors_of_a_complete_table():
    X = np.random.default_rng(0).normal(size=(3000, 4))
    X[:, 1] = X[:, 0]
    encoded = numeric_table(X)
    donors = keep_donors(encoded, distinct_rows(X))
    assert donors.values.shape == (KEPT_DONORS, 4)
    holes = X[:50].copy()
    holes[:, 1] = np.nan
    assert np.corrcoef(donors.fill(holes)[:, 1], X[:50, 1])[0, 1] > 0.9
    order = np.random.default_rng(1).permutation(3000)
    again = keep_donors(numeric_table(X[order]), distinct_rows(X[order]))
    assert (again.fill(holes) == donors.fill(holes)).all()
    wide = np.random.default_rng(0).normal(size=(100, 2**15))
    assert keep_donors(numeric_table(wide), distinct_rows(wide)).values.shape == (64, 2**15)


def test_a_constant_stays_constant():
    X = table()
    X[:, 0] = np.where(np.isnan(X[:, 0]), np.nan, 0.1)
    X[:, 5] = np.where(np.isnan(X[:, 5]), np.nan, 1.7e308)
    found = filled(numeric_table(X))
    assert (found[:, [0, 5]] == [0.1, 1.7e308]).all()


def test_filled_categories_are_shares_of_levels():
    encoded = mixed()
    assert encoded.widths[4] == 4
    levels = filled(encoded)[:, encoded.first[4] : encoded.first[4] + 4]
    assert levels.sum(axis=1) == pytest.approx(1)
    assert (levels >= 0).all()
    assert ((levels > 0).sum(axis=1) > 1).any()


@pytest.mark.parametrize("make", [lambda: numeric_table(table(600)), lambda: mixed(600)])
def test_order_batches_threads_and_repeats_do_not_matter(make):
    encoded = make()
    n = len(encoded.values)
    found, donors = filled(encoded), complete(encoded)[1]
    assert (filled(encoded, threads=2) == found).all()
    order = np.random.default_rng(1).permutation(n)
    assert (filled(replace(encoded, values=encoded.values[order])) == found[order]).all()
    for start in range(0, n, 100):
        rows = slice(start, start + 1 + start // 100)
        assert (donors.fill(encoded.values[rows]) == found[rows]).all()
    weights = np.random.default_rng(2).integers(0, 4, n)
    rows = np.random.default_rng(3).permutation(np.repeat(np.arange(n), weights))
    repeated = filled(replace(encoded, values=encoded.values[rows]))
    assert (filled(encoded, weights.astype(float))[rows] == repeated).all()


def test_units_do_not_matter():
    X = table()
    found = filled(numeric_table(X))
    powers = 2.0 ** np.array([-900, 3, 0, 900, -1, 500])
    assert (filled(numeric_table(X * powers)) == found * powers).all()
    shift = np.array([1e3, 0, -5, 0, 7, 1])
    assert filled(numeric_table(X + shift)) == pytest.approx(found + shift)


def test_rows_without_weight_are_filled_but_fill_none():
    X = table()
    weights = np.ones(len(X))
    weights[:40] = 0
    far = X.copy()
    far[:40] += 1e6
    encoded = numeric_table(X)
    assert len(find_donors(encoded, weights).values) == 80
    found = filled(encoded, weights)
    assert np.isfinite(found).all()
    assert (filled(numeric_table(far), weights)[40:] == found[40:]).all()
    assert (filled(numeric_table(X[40:])) == found[40:]).all()
    X[40:, 0] = np.nan  # known of rows without weight alone
    assert np.isfinite(filled(numeric_table(X), weights)).all()


def test_a_feature_that_no_near_row_has_gets_its_mean():
    X = table(400)
    X[:, 2] = np.arange(400.0)
    X[3:, 0] = np.nan
    encoded = numeric_table(X)
    donors = find_donors(encoded, max_donors=20)
    assert donors.values.shape == (20, 6)
    assert np.isnan(donors.values[:, 0]).all()
    assert donors.fill(X)[3:, 0] == pytest.approx(np.nanmean(X[:, 0]))


def test_rows_that_share_nothing():
    X = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, np.nan]])
    assert filled(numeric_table(X)) == pytest.approx(np.array([[1, 2], [2, 2], [3, 2]]))


def test_filled_cells_are_near_the_truth(uci):
    X = uci("wine").data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    gone = np.random.default_rng(0).random(X.shape) < 0.3
    found = filled(numeric_table(np.where(gone, np.nan, X)))
    mean = np.nanmean(np.where(gone, np.nan, X), axis=0)
    assert ((found - X)[gone] ** 2).mean() < 0.65 * ((X - mean)[gone] ** 2).mean()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"places": np.zeros((2, 2))}, "shape of values"),
        ({"donor_values": np.zeros((4, 3))}, "columns of values"),
        ({"donor_places": np.zeros((3, 2))}, "shape of donors"),
        ({"weights": np.ones(3)}, "weight per donor"),
        ({"means": np.zeros(1)}, "mean per column"),
        ({"widths": np.ones(1, np.int32)}, "width per feature"),
        ({"first": np.array([0, 2], np.int32)}, "out of range"),
        ({"widths": np.array([1, 2], np.int32)}, "out of range"),
        ({"nearest": 0}, "at least 1"),
        ({"threads": 0}, "at least 1"),
    ],
)
def test_the_core_checks_its_arguments(changes, message):
    cells, donors = np.zeros((3, 2)), np.zeros((4, 2))
    arguments = {"values": cells, "places": cells, "donor_values": donors, "donor_places": donors}
    arguments |= {"weights": np.ones(4), "means": np.zeros(2), "neighbours": 5.0, "nearest": 64, "threads": 1}
    arguments |= {"first": np.array([0, 1], np.int32), "widths": np.ones(2, np.int32)}
    assert (_core.fill(**arguments) == 0).all()
    with pytest.raises(ValueError, match=message):
        _core.fill(**(arguments | changes))
