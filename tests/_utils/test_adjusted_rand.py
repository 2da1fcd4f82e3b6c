"""The adjusted Rand index, weighted, with and without replacement, against scikit-learn's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from clusterforests._utils.statistics import adjusted_rand, contingency

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30)


@given(PAIRS, st.data())
def test_weights_are_repeated_rows(pairs, data):
    a, b = np.array(pairs).T
    assert adjusted_rand(a, b) == pytest.approx(adjusted_rand_score(a, b))
    counts = np.array(data.draw(st.lists(st.integers(1, 4), min_size=len(a), max_size=len(a))))
    expected = adjusted_rand_score(np.repeat(a, counts), np.repeat(b, counts))
    assert adjusted_rand(a, b, counts.astype(float)) == pytest.approx(expected)


@given(PAIRS)
def test_with_replacement_it_is_the_index_of_many_copies(pairs):
    a, b = np.array(pairs).T
    copies = 1000
    expected = adjusted_rand_score(np.repeat(a, copies), np.repeat(b, copies))
    assert adjusted_rand(a, b, replacement=True) == pytest.approx(expected, abs=5e-3)


def test_with_replacement_only_ratios_of_weights_matter():
    rng = np.random.default_rng(0)
    a, b, w = rng.integers(0, 3, 30), rng.integers(0, 4, 30), rng.integers(1, 5, 30)
    repeated = adjusted_rand(np.repeat(a, w), np.repeat(b, w), replacement=True)
    assert adjusted_rand(a, b, w.astype(float), replacement=True) == pytest.approx(repeated)
    assert adjusted_rand(a, b, w / 7, replacement=True) == pytest.approx(repeated)


def test_rows_without_a_label_are_left_out():
    rng = np.random.default_rng(1)
    a, b = rng.integers(-1, 3, (2, 40))
    both = (a >= 0) & (b >= 0)
    assert adjusted_rand(a, b) == pytest.approx(adjusted_rand_score(a[both], b[both]))


@pytest.mark.parametrize("labels", [np.zeros(5, int), np.arange(5), np.array([0, 0, 1, 1, 1])])
@pytest.mark.parametrize("weights", [None, np.full(5, 0.3), np.arange(1.0, 6.0)])
def test_equal_clusterings_have_one(labels, weights):
    assert adjusted_rand(labels, labels[::-1].max() - labels, weights) == 1


def test_without_a_pair_there_is_no_index():
    assert math.isnan(adjusted_rand(np.array([0, -1]), np.array([0, 0])))
    assert math.isnan(adjusted_rand(np.array([0, -1]), np.array([-1, 0])))
    assert math.isnan(adjusted_rand(np.array([0]), np.array([0]), np.array([0.3])))


def test_contingency():
    a, b = np.array([0, 0, 1, -1, 1]), np.array([1, 1, 0, 0, -1])
    assert contingency(a, b, np.array([1.0, 2.0, 4.0, 8.0, 16.0]), 3).tolist() == [[0, 3], [4, 0], [0, 0]]
