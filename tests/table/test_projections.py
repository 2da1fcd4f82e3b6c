"""Columns that are linear combinations of scaled columns."""

import pickle

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from clusterforests import _core
from clusterforests.table.feature_columns import numeric_table
from clusterforests.table.scaling import NO_PROJECTIONS, WAYS, Projections, fit_scaling

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2500, 4)) * [1, 1e6, 1e-6, 1] + [0, 5, 0, 1e3]


def draw_projections(rng, columns, sizes):
    """Make projected columns of so many terms each, in which a column may occur twice."""
    count = int(np.sum(sizes))
    starts = np.cumsum([0, *sizes], dtype=np.int64)
    return Projections(starts, rng.integers(0, columns, count, dtype=np.int32), rng.normal(size=count))


def expected_table(scaling, rows):
    """The columns of the views, then the projected ones of the oracle."""
    views = fit_scaling(numeric_table(X), scaling).apply(rows)
    return views, lambda p: reference.project(views, p.starts, p.columns, p.coefficients)


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 1023, 1024, 1025, 2049])
@pytest.mark.parametrize("scale", WAYS)
def test_projected_columns_are_those_of_the_oracle(scale, rows):
    views, project = expected_table(scale, X[:rows])
    projections = draw_projections(RNG, views.shape[1], [1, 3, 0, 12])
    scaling = fit_scaling(numeric_table(X), scale).project(projections)
    for threads in (1, 2, 5):
        table = pickle.loads(pickle.dumps(scaling)).apply(X[:rows], threads)
        assert table.shape == (rows, scaling.width)
        assert (table == np.hstack([views, project(projections)])).all()


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 6), min_size=1, max_size=5), st.sampled_from(list(WAYS)))
def test_any_projections(seed, sizes, scale):
    rng = np.random.default_rng(seed)
    rows = X[rng.integers(0, len(X), 20)]
    views, project = expected_table(scale, rows)
    projections = draw_projections(rng, views.shape[1], sizes)
    scaling = fit_scaling(numeric_table(X), scale).project(projections)
    assert (scaling.apply(rows) == np.hstack([views, project(projections)])).all()
    ends = np.array([views.min(axis=0), views.max(axis=0)])
    low, high = projections.bounds(ends)
    assert (low <= project(projections)).all()
    assert (project(projections) <= high).all()


def test_a_scaling_without_views_gets_one():
    plain = fit_scaling(numeric_table(X), "none")
    scaling = plain.project(draw_projections(RNG, 4, [2, 2]))
    assert (plain.width, scaling.width) == (4, 6)
    assert plain.is_identity
    assert not scaling.is_identity
    assert scaling.views is plain.views
    assert (scaling.apply(X)[:, :4] == X).all()
    assert plain.project(NO_PROJECTIONS).apply(X) is X


def test_other_projections_replace_the_first():
    first = fit_scaling(numeric_table(X), "mixed").project(draw_projections(RNG, 8, [2, 2]))
    assert (first.width, first.project(draw_projections(RNG, 8, [5])).width) == (10, 9)
    assert first.project(NO_PROJECTIONS).apply(X[:2]).shape == (2, 8)


def test_columns_that_no_view_has_are_refused():
    scaling = fit_scaling(numeric_table(X), "standard")
    with pytest.raises(ValueError, match="out of range"):
        scaling.project(Projections(np.array([0, 1]), np.array([4], np.int32), np.ones(1))).apply(X)
    nothing = np.zeros(2, np.int64), np.empty(0, np.int32), np.empty(0)
    with pytest.raises(ValueError, match="need scaled ones"):
        _core.Scaling(
            *(np.zeros((0, 4), kind) for kind in ("i4", "f8", "f8", "u1")), np.zeros(5, np.int64), *np.zeros((2, 0)),
            *nothing,
        )  # fmt: skip


def test_bounds_and_the_farthest_source():
    projections = Projections(np.array([0, 2, 3]), np.array([0, 2, 1], np.int32), np.array([2.0, -3.0, 1e300]))
    ends = np.array([[-1.0, 0.0, 4.0], [1.0, 1e300, 5.0]])
    with np.errstate(over="ignore"):
        low, high = projections.bounds(ends)
    assert low.tolist() == [-17.0, 0.0]
    assert high.tolist() == [-10.0, np.inf]
    assert [projections.farthest(j, ends) for j in (0, 1)] == [2, 1]
