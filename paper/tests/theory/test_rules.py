"""Lemma 1: the K-means rule against samples and the optimal rule."""

import itertools

import numpy as np
import pytest
from scipy.stats import norm

from paper import theory


@pytest.mark.parametrize(("angle", "offset", "share"), [(0.0, 0.0, 0.5), (0.7, 0.4, 0.5), (1.2, -0.8, 0.3)])
def test_between_of_a_split_against_a_sample(angle, offset, share):
    rng = np.random.default_rng(0)
    strength, n = 1.3, 200_000
    X = np.where(rng.random(n) < share, 1.0, -1.0)[:, None] * [strength, 0.0] + rng.standard_normal((n, 2))
    upper = X @ [np.cos(angle), np.sin(angle)] > offset
    parts = [X[upper], X[~upper]]
    between = sum(len(p) / n * np.sum((p.mean(axis=0) - X.mean(axis=0)) ** 2) for p in parts)
    assert theory.between_of_split(strength, angle, offset, share=share) == pytest.approx(between, rel=0.01)


@pytest.mark.parametrize("strength", [0.4, 1.0, 3.0])
def test_lemma_1_kmeans_finds_the_optimal_rule(strength):
    found, best = theory.kmeans_rule(strength), theory.optimal_rule(strength)
    assert found.angle == pytest.approx(0.0, abs=1e-5)
    assert found.offset == pytest.approx(best.offset, abs=1e-5)
    assert found.risk == pytest.approx(best.risk, abs=1e-10)
    assert best.risk == pytest.approx(norm.sf(strength))
    rivals = itertools.product(np.linspace(0, np.pi, 17), np.linspace(-5, 5, 41))
    best_between = theory.between_of_split(strength, 0.0, 0.0)
    assert all(theory.between_of_split(strength, a, t) <= best_between + 1e-12 for a, t in rivals)


def test_lemma_1_needs_equal_clusters():
    found, best = theory.kmeans_rule(1.0, share=0.2), theory.optimal_rule(1.0, share=0.2)
    assert found.offset < 0 < best.offset  # K-means moves its cut into the larger cluster, the optimal rule away
    assert found.risk > best.risk + 0.1


def test_the_rule_of_a_sample_approaches_the_optimal_one():
    small, _ = theory.simulate_kmeans_rule(40, [1.0, 0.0], n_trials=30, random_state=0)
    large, error = theory.simulate_kmeans_rule(4000, [1.0, 0.0], n_trials=10, random_state=0)
    best = theory.optimal_rule(1.0).risk
    assert best < large.risk < best + 0.002 < small.risk
    assert 0 < error < 0.001
    assert large.angle < small.angle
