"""Hartigan's dip against its definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from clusterforests.feature_screening.modes import dip


def dip_by_definition(values):
    """The least distance to a distribution function that is convex up to a mode and concave after it: linear programs.

    Unknown are its values at the different data, two at the mode (where it may jump), and the distance.
    """
    x, counts = np.unique(values, return_counts=True)
    above = np.cumsum(counts) / counts.sum()
    below = above - counts / counts.sum()
    best = np.inf
    for mode in range(len(x)):
        places = list(range(mode + 1)) + list(range(mode, len(x)))
        size = len(places)
        rows, limits = [], []

        def at_most(coefficients, limit, size=size, rows=rows, limits=limits):
            row = np.zeros(size + 1)
            for index, value in coefficients:
                row[index] += value
            rows.append(row)
            limits.append(limit)

        for i, j in enumerate(places):
            left_limit, right_limit = i == mode, i == mode + 1
            at_most([(i, 1), (size, -1)], above[j] if right_limit else below[j])
            at_most([(i, -1), (size, -1)], -(below[j] if left_limit else above[j]))
            if i:
                at_most([(i - 1, 1), (i, -1)], 0)
        for i in range(size - 2):
            if mode in (i, i + 1) and i + 2 > mode:  # across the jump
                continue
            a, b = x[places[i + 1]] - x[places[i]], x[places[i + 2]] - x[places[i + 1]]
            sign = 1 if i + 2 <= mode else -1
            at_most([(i, -sign / a), (i + 1, sign / a + sign / b), (i + 2, -sign / b)], 0)
        cost = np.eye(size + 1)[-1]
        solution = linprog(cost, np.array(rows), np.array(limits), bounds=[(None, None)] * size + [(0, None)])
        best = min(best, solution.fun)
    return best


@pytest.mark.parametrize("seed", range(8))
def test_dip_is_the_distance_to_the_nearest_unimodal_distribution(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=rng.integers(3, 14)) + 4 * rng.integers(0, 2)
    values[::2] += rng.uniform(0, 6)
    if seed % 2:
        values = values.round(seed % 4 == 1)
    assert dip(values) == pytest.approx(dip_by_definition(values), abs=1e-9)


def test_dip_of_textbook_cases():
    assert dip(np.arange(10.0)) == pytest.approx(1 / 20)
    assert dip([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]) == pytest.approx(0.25)
    assert dip([3.0, 3.0]) == 0


@given(st.lists(st.integers(-20, 20), min_size=2, max_size=30), st.floats(0.1, 10), st.integers(-5, 5))
@settings(max_examples=50)
def test_dip_ignores_unit_origin_and_direction(values, unit, origin):
    x = np.array(values, dtype=float)
    assert dip(-unit * x + origin) == pytest.approx(dip(x), abs=1e-9)
    assert 0 <= dip(x) <= 0.25 + 1e-12
