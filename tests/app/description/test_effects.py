"""Effect sizes by ranks, against counts of pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterforests._utils.statistics import weighted_quantile
from clusterforests.app.description.traits import measure_effects, rank_columns, weighted_mean


def plain_delta(x, inside, weights):
    """Count the pairs of a row inside and a row outside, one by one."""
    pairs = [
        (weights[i] * weights[j], np.sign(x[i] - x[j]))
        for i in np.flatnonzero(inside)
        for j in np.flatnonzero(~inside)
        if not np.isnan(x[i] + x[j])
    ]
    total = sum(w for w, _ in pairs)
    return sum(w * s for w, s in pairs) / total if total else np.nan


@given(st.integers(0, 10**6))
def test_delta_counts_pairs(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 25)), int(rng.integers(1, 4))
    values = rng.integers(0, 5, size=(n, 2)).astype(float)
    values[rng.random(values.shape) < 0.2] = np.nan
    weights = rng.integers(0, 3, n) + rng.choice([0.0, 0.5])
    labels = rng.integers(0, k, n)
    found = measure_effects(rank_columns(values, weights), labels, weights, k).delta
    expected = [[plain_delta(x, labels == c, weights) for x in values.T] for c in range(k)]
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_delta_of_zeros_and_ones_is_the_difference_of_their_shares():
    values = np.array([1, 1, 1, 0, 0, 0, 0, 1.0])[:, None]
    labels, weights = np.repeat([0, 1], 4), np.ones(8)
    assert measure_effects(rank_columns(values, weights), labels, weights, 2).delta[:, 0] == pytest.approx([0.5, -0.5])


def test_the_error_is_that_of_a_shuffled_column():
    rng = np.random.default_rng(0)
    weights, labels = np.ones(40), np.repeat([0, 1], [10, 30])
    shuffled = np.array([rng.permutation(40) for _ in range(4000)]).T.astype(float)
    found = measure_effects(rank_columns(shuffled, weights), labels, weights, 2)
    assert found.delta[0].std() == pytest.approx(found.error[0, 0], rel=0.05)
    assert found.spread[0].mean() == pytest.approx(1, abs=0.05)


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=20), st.integers(0, 10**6))
def test_a_weight_is_so_many_rows(values, seed):
    x = np.array(values, dtype=float)
    weights = np.random.default_rng(seed).integers(1, 4, len(x))
    assert weighted_quantile(x, weights.astype(float), 0.5) == np.median(np.repeat(x, weights))
    assert weighted_mean(x, weights.astype(float)) == pytest.approx(np.repeat(x, weights).mean())
