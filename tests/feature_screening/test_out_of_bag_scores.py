"""Scores of features by clusterings that did not use them, and their null."""

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from clusterforests.feature_screening.out_of_bag_scores import _Clusterings, _overlap, score_features, significant
from clusterforests.feature_screening.screened_rows import ScreenedRows
from clusterforests.table.feature_columns import FeatureColumns

RNG = np.random.default_rng(0)


def plain_views(p):
    return FeatureColumns(np.arange(p, dtype=np.int32)[None, :], np.ones(p, np.int32), np.arange(p, dtype=np.int32))


def clusterings(n, count, most, rng=RNG):
    return np.array([np.r_[np.arange(most), rng.integers(0, most, n - most)] for _ in range(count)], dtype=np.int32)


@given(st.integers(0, 2**32 - 1))
def test_scores_are_those_of_the_oracle(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 5)) * 10.0 ** rng.integers(-8, 9, 5)
    X[:, 0] += np.repeat([0, 1], 15) * X[:, 0].std() * 3
    labels = np.vstack([clusterings(30, 4, 3, rng), np.repeat([[0, 1]], 15, axis=1).astype(np.int32)])
    used = rng.random((5, 5)) < 0.3
    found = score_features(ScreenedRows.plain(X), plain_views(5), labels, used)
    np.testing.assert_allclose(found.scores, reference.out_of_bag_scores(X, labels, used), atol=1e-6)
    assert (found.p_values[used.all(axis=0)] == 1).all()


def test_the_null_has_the_mean_and_the_variance_of_permuted_rows():
    labels = clusterings(60, 5, 4)
    labels[1] = labels[0]  # clusterings that agree make the sum vary more
    x = RNG.standard_t(5, size=60)
    X = np.column_stack([RNG.permutation(x) for _ in range(4000)])
    sums = sum(np.array([reference.eta_squared(column, one) for column in X.T]) for one in labels)
    square = _overlap(_Clusterings.of(labels)).sum()
    assert sums.mean() == pytest.approx(5 * 3 / 59, rel=0.02)
    assert sums.var() == pytest.approx(2 * (59 * square - 15**2) / (59**2 * 61), rel=0.1)


def test_p_values_of_noise_are_even():
    X = RNG.normal(size=(100, 1500))
    labels = clusterings(100, 30, 5)
    found = score_features(ScreenedRows.plain(X), plain_views(1500), labels, np.zeros((30, 1500), dtype=bool))
    for level in (0.5, 0.05, 0.01):
        assert np.mean(found.p_values < level) == pytest.approx(level, abs=4 * np.sqrt(level / 1500))
    assert not significant(found.p_values, 0.01).any()


def test_a_category_is_one_feature_however_many_columns():
    level = RNG.integers(0, 3, 200)
    X = np.column_stack([np.eye(3)[level], RNG.normal(size=200)])
    views = FeatureColumns(np.array([[0, 3]], np.int32), np.array([3, 1], np.int32), np.arange(2, dtype=np.int32))
    labels = np.array([level, RNG.integers(0, 3, 200)], dtype=np.int32)
    found = score_features(ScreenedRows.plain(X), views, labels[:1], np.zeros((1, 2), dtype=bool))
    assert found.scores[0] == pytest.approx(1 - 2 / 199)
    assert found.p_values[0] < 1e-10 < found.p_values[1]


def test_blocks_of_features_do_not_matter(monkeypatch):
    X, labels = RNG.normal(size=(50, 23)), clusterings(50, 6, 4)
    used = RNG.random((6, 23)) < 0.5
    whole = score_features(ScreenedRows.plain(X), plain_views(23), labels, used)
    monkeypatch.setattr("clusterforests.feature_screening.out_of_bag_scores.SUMS_AT_ONCE", 5 * 24)
    parts = score_features(ScreenedRows.plain(X), plain_views(23), labels, used)
    assert (whole.scores == parts.scores).all()
    assert (whole.p_values == parts.p_values).all()


def test_false_discoveries_are_limited():
    assert significant(np.array([0.001, 0.5, 0.004, 0.9]), 0.01).tolist() == [True, False, True, False]
    assert not significant(np.array([0.02, 0.5]), 0.01).any()
    # A larger p-value lets a smaller one in that would not pass alone.
    assert significant(np.array([0.009, 0.0095, 0.0099]), 0.01).all()
