"""The perturbed affinity model and its expansions against brute force."""

import numpy as np
import pytest

from paper import theory
from paper.datasets import make_perturbed_affinity


@pytest.mark.parametrize(("gamma", "nu"), [(1.0, 0.01), (0.5, 0.0), (0.3, 0.1)])
def test_the_spectrum_is_exact(gamma, nu):
    model = theory.perturbed_model(52, gamma, 1.0, nu=nu)
    inside = np.equal.outer(model.target, model.target)
    scale = 1 / np.sqrt(model.expected_degrees)
    normalised = np.where(inside, 1 - nu, nu) * np.outer(scale, scale)
    assert model.clean == pytest.approx(normalised, abs=1e-14)
    assert normalised @ model.x1 == pytest.approx(model.x1)
    assert normalised @ model.x2 == pytest.approx(model.spectrum.lambda2 * model.x2)
    assert [model.x1 @ model.x1, model.x2 @ model.x2] == pytest.approx([1, 1])
    assert model.x1 @ model.x2 == pytest.approx(0, abs=1e-14)


def test_remainders_of_the_eigen_expansions():
    def errors(nu):
        model = theory.perturbed_model(300, 0.5, 1.0, nu=nu)
        exact, leading = model.spectrum, theory.eigen_expansion(model)
        vector = np.subtract(exact.x1 + exact.x2, leading.x1 + leading.x2)
        return abs(exact.lambda2 - leading.lambda2), np.abs(vector).max()

    (value, vector), (value_10, vector_10) = errors(0.001), errors(0.01)
    assert value_10 / value == pytest.approx(100, rel=0.05)
    assert vector_10 / vector == pytest.approx(10, rel=0.05)


def test_the_model_is_that_of_make_perturbed_affinity():
    data = make_perturbed_affinity(30, gamma=0.6, sigma=0.7, nu=0.02, random_state=5)
    model = theory.perturbed_model(30, 0.6, 0.7, nu=0.02)
    assert data.expected_degrees == pytest.approx(model.expected_degrees)
    scale = 1 / np.sqrt(data.expected_degrees)
    noisy = model.clean + model.draw_noise(np.random.default_rng(5))
    assert noisy == pytest.approx(data.affinity * np.outer(scale, scale))


def test_projected_vector_is_the_contour_integral():
    model = theory.perturbed_model(24, 0.5, 0.2, nu=0.01)
    noise = model.draw_noise(np.random.default_rng(0))
    matrix = model.clean + noise
    steps = np.exp(2j * np.pi * np.arange(400) / 400)
    around = 1.0 + 0.6 * steps  # encloses the two leading eigenvalues, not the rest
    values = np.linalg.eigvalsh(matrix)
    assert values[-3] < 0.4 < values[-2] < values[-1] < 1.6
    resolvents = [np.linalg.solve(t * np.eye(24) - matrix, model.x2) for t in around]
    integral = np.mean(np.array(resolvents) * (0.6 * steps)[:, None], axis=0)
    assert theory.projected_vector(model, noise) == pytest.approx(integral.real, abs=1e-8)


def expansion_errors(n, as_printed):
    model = theory.perturbed_model(n, 1.0, 0.5, nu=0.01)
    rng = np.random.default_rng(n)
    gaps = []
    for _ in range(20):
        noise = model.draw_noise(rng)
        phi = theory.first_order_vector(model, noise, as_printed=as_printed)
        gaps.append(np.abs(theory.projected_vector(model, noise) - phi).max())
    return np.mean(gaps)


def test_lemma_2_holds_at_order_three_halves_not_two():
    slope = np.log(expansion_errors(320, False) / expansion_errors(40, False)) / np.log(8)
    assert -1.6 < slope < -1.3
    printed = np.log(expansion_errors(320, True) / expansion_errors(40, True)) / np.log(8)
    assert -1.0 < printed < -0.7  # the wrong sign leaves the first-order term itself
    assert theory.resolvent_residual(theory.perturbed_model(60, 0.4, 1.0), 0.5 + 0.3j) < 1e-12


def test_lemma_3_norm_of_noise():
    assert theory.noise_norm(400, random_state=0) == pytest.approx(2, abs=0.1)
