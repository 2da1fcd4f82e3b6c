"""Scalings of features and the views of the table that trees take in turn."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from clusterforests.table import scaling
from clusterforests.table.feature_columns import EncodedTable, FeatureColumns, numeric_table
from clusterforests.table.scaling import WAYS, Projections, column_distribution, fit_scaling

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)) * [1, 100, 0.01] + [0, 5, 1000]
X[:, 2] = X[:, 2].round(2)  # with ties


def by_hand(x, way):
    if way == "standard":
        return (x - x.mean()) / x.std()
    if way == "range":
        return (x - x.min()) / (x.max() - x.min())
    return (rankdata(x) - 0.5) / len(x)


def scale_table(encoded, scale):
    fitted = fit_scaling(encoded, scale)
    return fitted.apply(encoded.values), fitted.views


def scaled(x, way, weights=None):
    """Scale a column in NumPy."""
    column = column_distribution(x, weights)
    step = column.step(way)
    if step.ranked:
        return column.ranks[np.searchsorted(column.values, x)]
    return (np.ldexp(x, -step.exponent) - step.shift) / step.divisor


@pytest.mark.parametrize("scale", ["standard", "range", "rank", "mixed"])
def test_columns_are_scaled_as_their_names_say(scale):
    table, views = scale_table(numeric_table(X), scale)
    assert len(views) == len(WAYS[scale])
    for tree in range(2 * len(views)):
        for j in range(3):
            (column,) = views.columns(tree, np.array([j]))
            np.testing.assert_allclose(table[:, column], by_hand(X[:, j], WAYS[scale][tree % len(views)]), atol=1e-9)


def test_none_leaves_the_table_alone():
    table, views = scale_table(numeric_table(X), "none")
    assert table is X
    assert (views.columns(5, np.array([2, 0, 2])) == [2, 0, 2]).all()


@given(st.lists(st.integers(-3, 3), min_size=3, max_size=20), st.integers(0, 2**32 - 1))
def test_order_and_repeats_do_not_show(values, seed):
    """Scaling depends on the values and their weights alone, to the last bit."""
    x = np.array(values, dtype=float) * np.pi
    order = np.random.default_rng(seed).permutation(len(x))
    weights = np.random.default_rng(seed).integers(1, 4, len(x)).astype(float)
    for way in ("standard", "range", "rank"):
        expected = scaled(x, way, weights)
        assert (scaled(x[order], way, weights[order]) == expected[order]).all()
        repeated = scaled(np.repeat(x, weights.astype(int)), way)
        assert (repeated == np.repeat(expected, weights.astype(int))).all()


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300])
def test_sizes_that_would_overflow(size):
    x = np.array([1.0, 2.0, 4.0, 1.5]) * size
    for way in ("standard", "range", "rank"):
        found = scaled(x, way)
        assert np.isfinite(found).all()
        assert len(set(found)) == 4


def test_constant_features_are_not_drawn():
    table = np.column_stack([X[:, 0], np.full(40, 3.0), X[:, 1]])
    assert scale_table(numeric_table(table), "mixed")[1].drawable.tolist() == [0, 2]
    assert scale_table(numeric_table(table), "none")[1].drawable.tolist() == [0, 1, 2]
    assert scale_table(numeric_table(np.ones((5, 2))), "mixed")[1].drawable.tolist() == [0, 1]


def test_categories_bring_all_their_columns():
    levels = np.eye(3)[RNG.integers(0, 3, 40)]
    encoded = EncodedTable(
        np.column_stack([X[:, :1], levels, X[:, 1:2]]),
        first=np.array([0, 1, 4], np.int32),
        widths=np.array([1, 3, 1], np.int32),
        categorical=np.array([False, True, False]),
    )
    table, views = scale_table(encoded, "mixed")
    assert views.columns(0, np.array([2, 1, 0])).tolist() == [4, 1, 2, 3, 0]
    assert views.columns(1, np.array([1])).tolist() == [6, 7, 8]
    for tree, variance in ((0, 1), (1, 1 / 12), (2, 1)):
        part = table[:, views.columns(tree, np.array([1]))]
        assert part.var(axis=0).sum() == pytest.approx(variance)
        apart = np.linalg.norm(part[:, None] - part[None, :], axis=2)
        np.testing.assert_allclose(apart, apart.max() * (1 - levels @ levels.T), atol=1e-12)


def test_views_of_wide_features_repeat():
    views = FeatureColumns(np.array([[0, 2]], np.int32), np.array([2, 1], np.int32), np.arange(2, dtype=np.int32))
    assert views.columns(0, np.array([1, 0, 0])).tolist() == [2, 0, 1, 0, 1]


@pytest.mark.parametrize("size", [1e-310, 1.0, 1e300])
@pytest.mark.parametrize("threads", [1, 3])
def test_fitted_rows_are_scaled_as_their_column_is(size, threads):
    rows = np.vstack([X, X[:7]]) * size
    fitted = fit_scaling(numeric_table(rows), "mixed")
    table = pickle.loads(pickle.dumps(fitted)).apply(rows, threads)
    for view, way in enumerate(WAYS["mixed"]):
        for c in range(3):
            assert (table[:, 3 * view + c] == scaled(rows[:, c], way)).all()


def test_new_values_have_ranks_between_those_of_their_neighbours():
    fitted = fit_scaling(numeric_table(np.array([[0.0], [2.0], [2.0], [10.0]])), "rank")
    new = np.array([[-5.0], [0.0], [0.5], [2.0], [6.0], [10.0], [np.inf]])
    known, ranks = [0.0, 2.0, 10.0], [0.125, 0.5, 0.875]
    np.testing.assert_allclose(fitted.apply(new)[:, 0], np.interp(new[:, 0], known, ranks), rtol=1e-15)
    assert (fitted.apply(new[2:3]) == fitted.apply(new)[2:3]).all()


def test_outliers_do_not_disturb_the_search_for_ranks():
    x = np.concatenate([RNG.normal(size=500), RNG.normal(size=500) * 1e-9, [1e12, -1e300]])[:, None]
    column = column_distribution(x[:, 0])
    new = np.concatenate([RNG.normal(size=1000), RNG.normal(size=1000) * 1e-9, [1e11]])[:, None]
    expected = np.interp(new[:, 0], column.values, column.ranks)
    np.testing.assert_allclose(fit_scaling(numeric_table(x), "rank").apply(new)[:, 0], expected, rtol=1e-9)


def test_many_values_keep_a_few_knots():
    x = np.sort(RNG.exponential(size=1000))[:, None]
    fitted = fit_scaling(numeric_table(x), "rank", kept_values=500, knots=101)
    assert len(fitted.knots) <= 101
    assert fitted.knots[[0, -1]].tolist() == x[[0, -1], 0].tolist()
    np.testing.assert_allclose(fitted.apply(x)[:, 0], column_distribution(x[:, 0]).ranks, atol=0.01)


def test_the_levels_of_a_category_are_looked_at_once(monkeypatch):
    """A category of many levels would take the square of their number otherwise."""
    calls = []
    plain = scaling.level_step
    monkeypatch.setattr(scaling, "level_step", lambda levels, way: calls.append(len(levels)) or plain(levels, way))
    levels = np.eye(30)[RNG.integers(0, 30, 200)]
    encoded = EncodedTable(levels, np.zeros(1, np.int32), np.full(1, 30, np.int32), np.ones(1, bool))
    fit_scaling(encoded, "mixed")
    assert calls == [30, 30]


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 31.0)])
@pytest.mark.parametrize("scale", ["standard", "range", "rank", "mixed"])
def test_steps_are_those_of_each_column_alone(scale, weights, monkeypatch):
    """With ties and without, of any size, and whatever fits into a block."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 7)) * [1, 1e-8, 1e200, 1, 1, 0, 3]
    values[:, 3] = values[:, 3].round()
    values[::2, 4], values[::3, 4] = 0.0, -0.0
    whole = fit_scaling(numeric_table(values), scale, weights)
    monkeypatch.setattr("clusterforests._utils.arrays.BLOCK_CELLS", 60)
    for fitted in (whole, fit_scaling(numeric_table(values), scale, weights, threads=2)):
        for view, way in enumerate(WAYS[scale]):
            for c, x in enumerate(values.T):
                step = column_distribution(x, weights).step(way)
                steps = fitted.exponent, fitted.shift, fitted.divisor, fitted.ranked
                assert tuple(each[view, c] for each in steps) == step


@pytest.mark.parametrize("scale", WAYS)
@given(seed=st.integers(0, 2**32 - 1))
def test_some_columns_are_those_of_the_whole(scale, seed):
    """Whatever columns are asked for, projected ones and those of a table of which only some are kept included."""
    rng = np.random.default_rng(seed)
    table = numeric_table(rng.normal(size=(20, 6)).round(1))
    fitted = fit_scaling(table, scale)
    sizes = rng.integers(1, 4, 5)
    terms = rng.integers(0, fitted.width, int(sizes.sum()), dtype=np.int32)
    fitted = fitted.project(Projections(np.cumsum([0, *sizes]), terms, rng.normal(size=len(terms))))
    values, whole = table.values, fitted.apply(table.values)
    if rng.random() < 0.5:  # the columns lie among others
        fitted = replace(fitted, sources=np.array([1, 2, 4, 5, 7, 8], np.int32))
        values = np.zeros((20, 9))
        values[:, fitted.sources] = table.values
    columns = rng.choice(fitted.width, rng.integers(1, 6), replace=False).astype(np.int32)
    assert (fitted.take(values, columns) == whole[:, columns]).all()
    kept = fitted.part(columns)[1]
    assert np.isin(columns, kept).all()
    assert (np.diff(kept) > 0).all()


def test_the_first_view_is_a_part_of_all():
    table = numeric_table(np.random.default_rng(0).normal(size=(50, 4)))
    for scale in ("mixed", "standard", "rank", "none"):
        fitted = fit_scaling(table, scale)
        assert (fitted.first_view.apply(table.values) == fitted.apply(table.values)[:, :4]).all()
