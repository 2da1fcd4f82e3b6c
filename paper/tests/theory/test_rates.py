"""Theorem 2: mis-clustering rates against simulation of the model itself."""

import numpy as np
import pytest
from scipy.stats import norm

from paper import theory
from paper.experiments import theory as experiment


def test_exponents():
    assert theory.misclustering_exponent(1.0, 2.0) == -1 / 32
    assert theory.misclustering_exponent(1.0, 2.0, as_printed=True) == -1 / 32
    for gamma in (0.2, 0.5, 0.9):
        ratio = theory.misclustering_exponent(gamma, 1.0) / theory.misclustering_exponent(gamma, 1.0, as_printed=True)
        assert ratio == pytest.approx(gamma)
    gammas = np.linspace(0.01, 1, 100)
    for printed in (True, False):  # the remark: best at gamma = 1, worse with sigma
        exponents = [theory.misclustering_exponent(g, 1.0, printed) for g in gammas]
        assert (np.diff(exponents) < 0).all()
    assert theory.misclustering_exponent(0.5, 2.0) == pytest.approx(theory.misclustering_exponent(0.5, 1.0) / 4)


@pytest.mark.parametrize("gamma", [1.0, 0.5, 0.2])
def test_the_tail_has_the_exponent(gamma):
    n, sigma = np.array([2000, 4000]), 1.5 * gamma**0.5

    def slope(**form):
        tails = [theory.misclustering_probability(int(i), gamma, sigma, **form) for i in n]
        # Q(z) is about exp(-z^2/2) / z, and z grows like sqrt(n).
        return np.diff(np.log(tails) + np.log(n) / 2)[0] / 2000

    assert slope() == pytest.approx(theory.misclustering_exponent(gamma, sigma), rel=0.01)
    assert slope(second_order=True) == pytest.approx(theory.misclustering_exponent(gamma, sigma), rel=0.01)
    assert slope(as_printed=True) == pytest.approx(theory.misclustering_exponent(gamma, sigma, True), rel=0.01)
    shifted = slope(cutoff=theory.best_cutoff(gamma))
    assert shifted == pytest.approx(theory.shifted_exponent(gamma, sigma), rel=0.01)


def test_first_order_noise_has_the_variance_of_the_tail():
    model = theory.perturbed_model(60, 0.5, 0.8, nu=0.0)
    rng = np.random.default_rng(0)
    wrong = np.zeros(60)
    for _ in range(1500):
        wrong += np.sign(model.x2 + model.draw_noise(rng) @ model.x2) != model.target
    predicted = theory.misclustering_probability(60, 0.5, 0.8)
    assert wrong.mean() / 1500 == pytest.approx(predicted, rel=0.15)


@pytest.mark.parametrize(("n", "gamma", "sigma"), [(64, 0.6, 1.25), (60, 0.5, 1.0), (65, 0.3, 0.6)])
def test_simulation_supports_the_corrected_form(n, gamma, sigma):
    found = theory.simulate_misclustering(n, gamma, sigma, n_trials=500, random_state=0)
    second = theory.misclustering_probability(n, gamma, sigma, second_order=True)
    assert abs(found.rate - second) < 4 * found.std_error
    assert found.rate == pytest.approx(theory.misclustering_probability(n, gamma, sigma), rel=0.35)
    printed = theory.misclustering_probability(n, gamma, sigma, as_printed=True)
    assert found.rate - printed > 10 * found.std_error
    assert found.rate > 4 * printed
    assert found.larger > found.smaller


def test_simulation_at_equal_sizes_needs_the_second_order():
    found = theory.simulate_misclustering(80, 1.0, 1.8, n_trials=500, random_state=0)
    z = np.sqrt(80) / (2 * 1.8)
    assert theory.misclustering_probability(80, 1.0, 1.8) == pytest.approx(norm.sf(z))
    second = theory.misclustering_probability(80, 1.0, 1.8, second_order=True)
    assert second == pytest.approx(norm.sf(np.sqrt(z**2 - 1)))
    assert abs(found.rate - second) < 4 * found.std_error
    assert found.rate > 1.5 * norm.sf(z)


def test_simulated_slope_is_the_corrected_exponent():
    gamma, sigma = 0.5, 1.0
    half = []
    for n in (30, 75):
        found = theory.simulate_misclustering(n, gamma, sigma, n_trials=800, random_state=n)
        half.append(experiment._tail_quantile(found.rate, gamma) ** 2 / 2)
    slope = (half[0] - half[1]) / 45
    assert slope == pytest.approx(theory.misclustering_exponent(gamma, sigma), rel=0.1)
    assert slope > 0.7 * theory.misclustering_exponent(gamma, sigma, as_printed=True)


def test_rate_rises_with_sigma_and_imbalance():
    def rate(gamma, sigma):
        return theory.simulate_misclustering(60, gamma, sigma, n_trials=100, random_state=0).rate

    assert rate(1.0, 1.0) < rate(1.0, 2.0) < rate(1.0, 3.0)
    assert rate(1.0, 1.5) < rate(0.5, 1.5) < rate(0.2, 1.5)


def test_the_best_cutoff_is_shifted_to_the_smaller_cluster():
    gain = theory.simulate_best_cutoff(90, 0.5, 1.5, n_trials=200, random_state=0)
    assert gain.cutoff == pytest.approx(theory.best_cutoff(0.5), abs=0.08)
    assert gain.rate < gain.rate_at_zero / 3
    there = theory.simulate_misclustering(90, 0.5, 1.5, n_trials=100, cutoff=theory.best_cutoff(0.5), random_state=1)
    assert there.rate < gain.rate_at_zero / 3
    assert theory.best_cutoff(1.0) == 0
    assert theory.shifted_exponent(1.0, 1.0) == theory.misclustering_exponent(1.0, 1.0)


def test_the_second_eigenvector_is_the_projection_only_when_nu_is_large():
    def rate(nu, vector):
        return theory.simulate_misclustering(60, 1.0, 1.0, n_trials=100, nu=nu, vector=vector, random_state=0).rate

    assert rate(0.001, "eigenvector") > rate(0.001, "projection") + 0.1
    assert rate(0.2, "eigenvector") == pytest.approx(rate(0.2, "projection"), abs=0.005)


def test_the_same_random_state_gives_the_same_numbers():
    for call in (
        lambda seed: theory.simulate_misclustering(20, 0.7, 1.0, n_trials=20, random_state=seed),
        lambda seed: theory.simulate_noise_rejection(20, [0.5], n_trials=20, random_state=seed),
        lambda seed: theory.simulate_kmeans_rule(20, [0.5], n_trials=5, random_state=seed),
        lambda seed: theory.simulate_best_cutoff(20, 0.7, 1.5, n_trials=20, random_state=seed),
        lambda seed: theory.noise_norm(20, random_state=seed),
    ):
        assert call(3) == call(3) != call(4)
