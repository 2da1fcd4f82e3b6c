"""Arguments of the theory functions: seeds, and what is refused."""

import numpy as np
import pytest

from paper import theory


def test_the_same_random_state_gives_the_same_numbers():
    for call in (
        lambda seed: theory.simulate_misclustering(20, 0.7, 1.0, n_trials=20, random_state=seed),
        lambda seed: theory.simulate_noise_rejection(20, [0.5], n_trials=20, random_state=seed),
        lambda seed: theory.simulate_kmeans_rule(20, [0.5], n_trials=5, random_state=seed),
        lambda seed: theory.simulate_best_cutoff(20, 0.7, 1.5, n_trials=20, random_state=seed),
        lambda seed: theory.noise_norm(20, random_state=seed),
    ):
        assert call(3) == call(3) != call(4)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.population_kappa([]), r"mu=\[\] is not allowed: .* at least one finite number"),
        (lambda: theory.population_kappa([np.nan]), r"mu=\[nan\] is not allowed"),
        (lambda: theory.population_kappa([[1.0]]), "mu="),
        (lambda: theory.population_kappa(["a"]), "mu="),
        (lambda: theory.population_kappa([1.0], quality="best"), "quality='best' is not allowed"),
        (lambda: theory.population_centers([0.0]), "at least one mean must differ from 0"),
        (lambda: theory.simulate_noise_rejection(2, [1.0]), "n_samples=2 is not allowed: .* at least 3"),
        (lambda: theory.simulate_noise_rejection(10, [1.0], candidate=np.inf), "candidate=inf is not allowed"),
        (lambda: theory.simulate_noise_rejection(10, [1.0], n_trials=0), "n_trials=0 is not allowed"),
        (lambda: theory.simulate_kmeans_rule(10, [0.0]), r"mu=\[0.0\] is not allowed"),
        (lambda: theory.optimal_rule(0.0), "strength=0.0 is not allowed: it must be a number above 0"),
        (lambda: theory.kmeans_rule(1.0, share=1.0), "share=1.0 is not allowed: .* above 0 and below 1"),
        (lambda: theory.misclustering_exponent(1.2, 1.0), "gamma=1.2 is not allowed: .* above 0 and at most 1"),
        (lambda: theory.misclustering_exponent(0.0, 1.0), "gamma=0.0 is not allowed"),
        (lambda: theory.misclustering_exponent("1", 1.0), "gamma='1' is not allowed"),
        (lambda: theory.misclustering_exponent(1.0, 0.0), "sigma=0.0 is not allowed"),
        (lambda: theory.misclustering_probability(1, 1.0, 1.0), "n_samples=1 is not allowed"),
        (lambda: theory.misclustering_probability(9, 1.0, 1.0, cutoff=2.0), "cutoff=2.0 is not allowed"),
        (lambda: theory.misclustering_probability(9, 0.5, 1.0, cutoff=0.1, as_printed=True), "as_printed=True is not"),
        (lambda: theory.misclustering_probability(9, 0.5, 9.0, second_order=True), "sigma=9.0 is not allowed"),
        (lambda: theory.simulate_misclustering(3, 1.0, 1.0), "n_samples=3 is not allowed"),
        (lambda: theory.simulate_misclustering(9, 0.01, 1.0), "gamma=0.01 is not allowed with n_samples=9"),
        (lambda: theory.simulate_misclustering(9, 1.0, 1.0, nu=0.5), "nu=0.5 is not allowed"),
        (lambda: theory.simulate_misclustering(9, 1.0, 1.0, n_trials=1), "n_trials=1 is not allowed"),
        (lambda: theory.simulate_misclustering(9, 1.0, 1.0, vector="first"), "vector='first' is not allowed"),
        (lambda: theory.simulate_misclustering(9, 1.0, 1.0, random_state=-1), "random_state=-1"),
        (lambda: theory.noise_norm(0), "n_samples=0 is not allowed"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
