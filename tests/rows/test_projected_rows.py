"""Passes over all rows for trees that have projected columns."""

from dataclasses import replace

import numpy as np
import pytest
import reference

from clusterforests import _core
from clusterforests._utils.memory import SizeLimits
from clusterforests.backends import CpuBackend
from clusterforests.rows.lloyd_pass import LloydPass, Measure
from clusterforests.table.feature_columns import FeatureColumns, numeric_table
from clusterforests.table.row_sources import ArraySource
from clusterforests.table.scaling import Projections, fit_scaling
from clusterforests.trees.forest import grow_forest
from clusterforests.trees.growth import GrowthSettings

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 5)) + 4 * RNG.integers(0, 3, (3000, 1)) * [1, 1, 1, 0, 0]
X[:, 3] = X[:, 3] * 1e-3 + 1e6
WEIGHTS = {"none": None, "whole": RNG.integers(0, 4, 3000).astype(float), "real": RNG.exponential(size=3000)}
SUMS = Projections(
    np.array([0, 3, 4, 8]),
    np.array([0, 1, 2, 4, 3, 0, 3, 2], np.int32),
    np.array([0.5, 2.0, -1.0, 3.0, 1e3, 0.25, -1e3, 1.0]),
)


def grown(scale):
    """A forest whose features are the scaled and the projected columns, with its scaling."""
    part = np.ascontiguousarray(X[::7])
    scaling = fit_scaling(numeric_table(part), scale).project(SUMS)
    every = np.arange(scaling.width, dtype=np.int32)
    views = FeatureColumns(every[None, :], np.ones_like(every), every)
    settings = GrowthSettings(np.arange(2, 12, dtype=np.int32), True, 4, 1, 2, True, False, "centroid", 1, 50)
    return grow_forest(CpuBackend(1), scaling.apply(part), views, settings, 0), replace(scaling, views=views)


def passed(scale, weights=None, rows=X):
    total = len(rows) if weights is None else weights.sum()
    whole = weights is None or bool((weights == np.floor(weights)).all())
    forest, scaling = grown(scale)
    return LloydPass.of(
        forest, scaling, Measure(np.array([rows.min(axis=0), rows.max(axis=0)]), len(rows), total, whole)
    )


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("scale", ["mixed", "none", "rank"])
def test_labels_and_sums_are_those_of_the_projected_table(scale, weights):
    trees = passed(scale, WEIGHTS[weights])
    assert max(columns.max() for columns in trees.columns) == trees.scaling.width - 1
    table = trees.scaling.apply(X)
    expected = CpuBackend(1).assign(trees.columns, trees.centers, table, trees.coordinates)
    source = ArraySource(X)
    for threads, limits in ((1, SizeLimits()), (2, SizeLimits(block_bytes=1, least_block_rows=1025))):
        assert (trees.label(source, threads, limits=limits) == expected).all()
    assert (np.ptp(expected, axis=1) > 0).all()
    sums = trees.add_up(source, WEIGHTS[weights], 1)
    for threads, rows in ((2, 1023), (5, 1024), (1, 1)):
        again = trees.add_up(source, WEIGHTS[weights], threads, limits=SizeLimits(block_bytes=1, least_block_rows=rows))
        assert (again.values == sums.values).all()
        assert (again.mass == sums.mass).all()
    exponent, origin, _ = trees.coordinates
    true = [np.ldexp(c + origin[f], exponent[f]) for c, f in zip(trees.centers, trees.columns, strict=True)]
    means, _ = reference.spread(table, trees.columns, true, WEIGHTS[weights])
    for mine, columns, theirs in zip(trees.move(sums).centers, trees.columns, means, strict=True):
        there = np.ldexp(theirs, -exponent[columns]) - origin[columns]
        np.testing.assert_allclose(mine, there, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("instruction_set", _core.instruction_sets(), indirect=True)
def test_instruction_sets_agree(instruction_set):
    trees = passed("mixed")
    table = trees.scaling.apply(X)
    views = table[:, : -len(SUMS)]
    assert (table[:, -len(SUMS) :] == reference.project(views, SUMS.starts, SUMS.columns, SUMS.coefficients)).all()
    expected = CpuBackend(1).assign(trees.columns, trees.centers, table, trees.coordinates)
    assert (trees.label(ArraySource(X)) == expected).all()


def test_bits_hold_rows_that_are_no_corner():
    """The largest row of a projected column has the least of one column and the most of another."""
    rows = np.array([[-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [1.0, 1.0]]) * 1e12
    part = RNG.normal(size=(50, 2))
    apart = Projections(np.array([0, 2]), np.array([0, 1], np.int32), np.array([1.0, -1.0]))
    scaling = fit_scaling(numeric_table(part), "none").project(apart)
    only = FeatureColumns(np.array([[2]], np.int32), np.ones(1, np.int32), np.zeros(1, np.int32))
    settings = GrowthSettings(np.array([1], np.int32), True, 1, 1, 1, True, False, "centroid", 1, 50)
    forest = grow_forest(CpuBackend(1), scaling.apply(part), only, settings, 0)
    heavy = np.full(4, 1e6)
    measure = Measure(np.array([rows.min(axis=0), rows.max(axis=0)]), 4, heavy.sum(), True)
    trees = LloydPass.of(forest, replace(scaling, views=only), measure)
    assert trees.coordinates.exponent[2] < 10
    sums = trees.add_up(ArraySource(rows[:1]), heavy[:1])
    mean = trees.move(sums).centers[0][0, 0] + trees.coordinates.origin[2]
    assert np.ldexp(mean, trees.coordinates.exponent[2]) == pytest.approx(-2e12, rel=1e-9)


@pytest.mark.parametrize(("column", "scale"), [(2, "none"), (3, "standard")])
def test_values_that_are_too_far_name_the_column_of_the_table(column, scale):
    far = X.copy()
    far[0, column] = 1e200
    forest, scaling = grown(scale)
    projected = np.arange(scaling.width - len(SUMS), scaling.width, dtype=np.int32)
    views = FeatureColumns(projected[None, :], np.ones_like(projected), projected - projected[0])
    few = replace(forest, features=[np.array([0, 2], np.int32)], centers=[np.zeros((1, 2))], numbers=np.zeros(1, int))
    measure = Measure(np.array([far.min(axis=0), far.max(axis=0)]), len(far), float(len(far)), True)
    with pytest.raises(ValueError, match=f"values in column {column} that are more than"):
        LloydPass.of(few, replace(scaling, views=views), measure)
