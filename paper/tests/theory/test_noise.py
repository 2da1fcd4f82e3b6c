"""Theorem 1: closed forms against integration and simulation."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from paper import theory


def mixture(x, strength):
    return (norm.pdf(x - strength) + norm.pdf(x + strength)) / 2


@pytest.mark.parametrize("strength", [0.0, 0.3, 1.0, 2.5])
@pytest.mark.parametrize("noise", [0, 1, 4])
def test_population_kappa_is_the_ratio_of_integrals(strength, noise):
    center = 2 * quad(lambda x: x * mixture(x, strength), 0, 40)[0]  # divided by the cluster's mass, 1/2
    within = 2 * quad(lambda x: (x - center) ** 2 * mixture(x, strength), 0, 40)[0] + noise
    mu = [strength] + [0.0] * noise
    assert theory.population_kappa(mu) == pytest.approx(within / center**2, rel=1e-8)
    # Pairs inside clusters over pairs between them, each cluster with mass 1/2.
    pairs_within, pairs_between = within / 2, within / 2 + center**2
    assert theory.population_kappa(mu, quality="pairwise") == pytest.approx(pairs_within / pairs_between, rel=1e-8)


def test_population_kappa_depends_on_the_length_of_mu_only():
    assert theory.population_kappa([3.0, -4.0]) == pytest.approx(theory.population_kappa([0.0, 5.0]))
    centers = theory.population_centers([3.0, -4.0])
    assert centers[0] == pytest.approx(-centers[1])
    assert centers[0] / np.linalg.norm(centers[0]) == pytest.approx([0.6, -0.8])


@pytest.mark.parametrize("quality", ["centroid", "pairwise"])
@pytest.mark.parametrize("mu", [[0.01], [1.0], [0.5, 0.5, 0.0], [4.0, 0.0], [0.0, 0.0]])
def test_theorem_1_noise_raises_kappa(mu, quality):
    assert theory.population_kappa([*mu, 0.0], quality=quality) > theory.population_kappa(mu, quality=quality)


@pytest.mark.parametrize("mu", [[0.1], [1.0], [2.0, 0.0], [1.0] * 6])
def test_break_even_strength_is_where_kappa_stays(mu):
    least = theory.break_even_strength(mu)
    before = theory.population_kappa(mu)
    assert theory.population_kappa([*mu, least]) == pytest.approx(before)
    assert theory.population_kappa([*mu, 0.9 * least]) > before > theory.population_kappa([*mu, 1.1 * least])


def test_break_even_strength_of_far_clusters():
    assert theory.break_even_strength([30.0] * 4) == pytest.approx(30.0, rel=0.01)


def test_simulated_kappa_is_the_population_one():
    found = theory.simulate_noise_rejection(4000, [1.5, 0.0], n_trials=5, random_state=0)
    assert found.kappa_before == pytest.approx(theory.population_kappa([1.5, 0.0]), rel=0.02)
    assert found.kappa_after == pytest.approx(theory.population_kappa([1.5, 0.0, 0.0]), rel=0.02)
    assert found.rate == 1.0
    assert found.std_error == 0.0


def test_rejection_grows_with_n_and_with_strength():
    def rate(n, strength):
        return theory.simulate_noise_rejection(n, [strength, 0.0, 0.0], n_trials=200, random_state=1).rate

    assert rate(8, 0.3) < rate(40, 0.3) - 0.05
    assert rate(8, 0.3) < rate(8, 2.0) - 0.05
    assert rate(200, 2.0) == 1.0


def test_a_strong_feature_is_accepted_and_a_weak_one_is_not():
    least = theory.break_even_strength([1.0, 1.0])
    weak, strong = (
        theory.simulate_noise_rejection(500, [1.0, 1.0], candidate=f * least, n_trials=20, random_state=2).rate
        for f in (0.5, 1.5)
    )
    assert (weak, strong) == (1.0, 0.0)
