"""Valleys of density between groups, against the definition and on groups of known kind."""

import numpy as np
import pytest
from scipy.stats import binom

from clusterforests._utils.statistics import VALLEY_TRIES, VALLEY_WIDTHS, valley
from clusterforests.judge.structure import find_valleys


def mixture(n_clusters, n_noise, seed=0, n=400, distance=7.0):
    """Clusters along the edges of a triangle or longer polygon in two columns, and columns of noise."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_clusters, n)
    angle = 2 * np.pi * np.arange(n_clusters) / n_clusters
    radius = distance / 2 / np.sin(np.pi / max(2, n_clusters))
    centers = radius * np.column_stack([np.cos(angle), np.sin(angle)]) * (n_clusters > 1)
    return np.hstack([rng.normal(size=(n, 2)) + centers[labels], rng.normal(size=(n, n_noise))]), labels


def test_valley_counts_rows_in_three_intervals():
    rng = np.random.default_rng(3)
    first, second = rng.normal(0, 0.2, 40), rng.normal(1, 0.2, 25)
    middle = first.std() / (first.std() + second.std())
    places = np.concatenate([first, second])
    tests = []
    for h in VALLEY_WIDTHS:
        intervals = [(-h, min(h, middle - h)), (middle - h, middle + h), (max(1 - h, middle + h), 1 + h)]
        low, between, high = (int(((places > a) & (places < b)).sum()) for a, b in intervals)
        w_low, w, w_high = (b - a for a, b in intervals)
        sides = [(low, w_low), (high, w_high)]
        tests.append(max(binom.cdf(between, between + count, w / (w + width)) for count, width in sides))
    assert valley(first, second)[0] == pytest.approx(VALLEY_TRIES * min(tests))
    mirrored = valley(1 - second, 1 - first)
    assert mirrored == pytest.approx(valley(first, second))


def test_valleys_of_flat_rows_are_as_rare_as_their_p_values_say():
    """Flat is the worst case of one mode: there the tests are not conservative."""
    rng = np.random.default_rng(0)
    p = []
    for _ in range(600):
        flat = rng.uniform(-0.5, 1.5, 120)
        p.append(valley(flat[flat < 0.5], flat[flat >= 0.5])[0])
    assert 0.002 < np.mean(np.array(p) <= 0.05) < 0.08


def test_valleys_lie_between_groups_and_not_inside_one():
    X, labels = mixture(3, 2)
    valleys = find_valleys(X, labels, 0)
    off = ~np.eye(3, dtype=bool)
    assert valleys.p_values[off].max() < 1e-6
    assert valleys.depths[off].min() > 0.8
    np.testing.assert_array_equal(valleys.p_values, valleys.p_values.T)
    halves = np.where(labels == 2, np.where(X[:, 0] > X[labels == 2, 0].mean(), 2, 3), labels)
    assert find_valleys(X, halves, 0).p_values[2, 3] > 0.5


def test_an_axis_that_fits_noise_shows_no_valley():
    """With more columns than rows any two groups are apart along some axis, but not for rows it was not fitted to."""
    X = np.random.default_rng(0).normal(size=(60, 200))
    labels = (X[:, :20].sum(axis=1) > 0).astype(int)
    assert find_valleys(X, labels, 0).p_values[0, 1] > 0.2
