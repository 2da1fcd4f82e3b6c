"""Simulated data: what was asked for is what was drawn."""

import numpy as np
import pytest

from paper.datasets import make_g1, make_g2, make_g3, make_perturbed_affinity, make_two_component_mixture
from paper.datasets.simulate import nearest_correlation

COVARIANCE = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]])


MU = np.array([0.5, 0.0, -0.7])


def best_rule(mixture, weight=0.5):
    """Assign every row to the likelier cluster."""
    direction = 2 * np.linalg.solve(mixture.covariance, mixture.mu)
    return (mixture.data @ direction + np.log(weight / (1 - weight)) > 0).astype(int)


def test_mixture_moments():
    mixture = make_two_component_mixture(MU, COVARIANCE, 40_000, weight=0.3, random_state=0)
    assert mixture.data.shape == (40_000, 3)
    assert mixture.feature_names == ["signal1", "noise1", "signal2"]
    assert np.array_equal(mixture.mu, MU)
    assert np.array_equal(mixture.covariance, COVARIANCE)
    assert abs(mixture.target.mean() - 0.3) < 0.01
    for cluster, mean in ((1, MU), (0, -MU)):
        rows = mixture.data[mixture.target == cluster]
        assert np.abs(rows.mean(axis=0) - mean).max() < 0.04
        assert np.abs(np.cov(rows.T) - COVARIANCE).max() < 0.06


@pytest.mark.parametrize("weight", [0.5, 0.2])
def test_bayes_accuracy_against_monte_carlo(weight):
    mixture = make_two_component_mixture(MU, COVARIANCE, 100_000, weight=weight, random_state=1)
    found = (best_rule(mixture, weight) == mixture.target).mean()
    assert abs(found - mixture.bayes_accuracy) < 4 * np.sqrt(0.25 / 100_000)


def test_bayes_accuracy_by_hand():
    assert make_two_component_mixture([1.0], n_samples=1).bayes_accuracy == pytest.approx(0.8413447461)
    assert make_two_component_mixture([1.0], [[0.25]], n_samples=1).bayes_accuracy == pytest.approx(0.9772498681)
    # Without a signal the best rule names the larger cluster.
    assert make_two_component_mixture([0.0, 0.0], n_samples=1, weight=0.3).bayes_accuracy == 0.7
    assert make_two_component_mixture([1e-300], n_samples=1, weight=0.3).bayes_accuracy == pytest.approx(0.7)


def test_mixture_keeps_no_reference_to_its_arguments():
    mu, covariance = MU.copy(), COVARIANCE.copy()
    mixture = make_two_component_mixture(mu, covariance, 5, random_state=0)
    mu[:], covariance[:] = 9, 9
    assert np.array_equal(mixture.mu, MU)
    assert np.array_equal(mixture.covariance, COVARIANCE)


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: make_two_component_mixture(MU, COVARIANCE, 30, random_state=seed),
        lambda seed: make_g1(30, n_noise=5, n_informative=10, random_state=seed),
        lambda seed: make_g2(30, random_state=seed),
        lambda seed: make_g3(30, n_noise=10, random_state=seed),
    ],
)
def test_same_seed_same_mixture(make):
    first, again, other = make(3), make(3), make(4)
    for name in ("data", "target", "mu", "covariance"):
        assert np.array_equal(first[name], again[name])
    assert not np.array_equal(first.data, other.data)
    assert not np.array_equal(make(None).data, make(None).data)
    assert np.array_equal(make(np.random.RandomState(5)).data, make(np.random.RandomState(5)).data)
    assert np.array_equal(make(np.random.default_rng(5)).data, make(np.random.default_rng(5)).data)


def test_g1():
    g1 = make_g1(random_state=0)
    assert g1.data.shape == (4000, 200)
    assert g1.mu.tolist() == [0.0] * 100 + list(range(1, 101))
    assert g1.feature_names[99:101] == ["noise100", "signal1"]
    assert np.allclose(np.diag(g1.covariance), 1, rtol=0, atol=1e-12)
    assert np.array_equal(g1.covariance, g1.covariance.T)
    assert np.linalg.eigvalsh(g1.covariance)[0] == pytest.approx(1e-4, rel=1e-3)
    correlations = g1.covariance[np.triu_indices(200, 1)]
    assert abs(correlations.mean() - 0.25) < 0.01
    assert correlations.min() > -0.1
    assert correlations.max() < 0.6
    assert g1.bayes_accuracy > 1 - 1e-12
    rows = g1.data[g1.target == 1]
    assert np.abs(rows.mean(axis=0) - g1.mu).max() < 0.12


def test_g1_leaves_a_good_draw_alone():
    """With three features the correlations as drawn are positive definite: they stay within [0, 0.5]."""
    covariance = make_g1(5, n_noise=1, n_informative=2, random_state=0).covariance
    correlations = covariance[np.triu_indices(3, 1)]
    assert ((correlations >= 0) & (correlations <= 0.5)).all()
    assert make_g1(5, n_noise=0, n_informative=1, random_state=0).covariance.tolist() == [[1.0]]


def test_g2():
    g2 = make_g2(random_state=0)
    assert g2.data.shape == (4000, 120)
    assert not g2.mu[:100].any()
    assert ((g2.mu[100:] > 0) & (g2.mu[100:] < 1)).all()
    assert np.array_equal(g2.covariance, np.eye(120))
    assert np.abs(g2.data[g2.target == 0].mean(axis=0) + g2.mu).max() < 0.12
    assert 0.9 < g2.bayes_accuracy < 1
    assert abs((best_rule(g2) == g2.target).mean() - g2.bayes_accuracy) < 0.01
    assert 0.4 < np.mean([make_g2(1, random_state=seed).mu[100:].mean() for seed in range(50)]) < 0.6


def test_g3():
    g3 = make_g3(500, random_state=0)
    assert g3.data.shape == (500, 1020)
    assert not g3.mu[:1000].any()
    assert np.abs(g3.mu[1000:]).tolist() == list(range(1, 21))
    assert len(set(np.sign(g3.mu[1000:]))) == 2
    assert (best_rule(g3) == g3.target).all()


def test_perturbed_affinity_moments():
    drawn = make_perturbed_affinity(300, 0.5, 0.4, nu=0.05, random_state=0)
    assert np.array_equal(drawn.affinity, drawn.affinity.T)
    assert np.bincount(drawn.target).tolist() == [200, 100]
    assert (np.diff(drawn.target) >= 0).all()
    assert np.allclose(
        drawn.expected_degrees, np.repeat([200 * 0.95 + 100 * 0.05, 200 * 0.05 + 100 * 0.95], [200, 100])
    )
    same = drawn.target[:, None] == drawn.target
    noise = drawn.affinity - np.where(same, 0.95, 0.05)
    below = noise[np.tril_indices(300)]
    assert abs(below.mean()) < 4 * 0.4 / np.sqrt(below.size)
    assert abs(below.std() - 0.4) < 0.01
    assert abs(np.diag(noise).std() - 0.4) < 0.07
    assert np.abs(drawn.affinity.sum(axis=1) - drawn.expected_degrees).max() < 5 * 0.4 * np.sqrt(300)


def test_perturbed_affinity_determinism_and_sizes():
    first, again = (make_perturbed_affinity(20, 0.6, 0.1, random_state=1) for _ in range(2))
    assert np.array_equal(first.affinity, again.affinity)
    assert not np.array_equal(first.affinity, make_perturbed_affinity(20, 0.6, 0.1, random_state=2).affinity)
    for n_samples in range(2, 12):
        for gamma in (0.5, 0.9, 1):
            sizes = np.bincount(make_perturbed_affinity(n_samples, gamma, 0).target)
            assert sizes.sum() == n_samples
            assert sizes[0] >= sizes[1] > 0
    exact = make_perturbed_affinity(6, 1, 0, nu=0)
    assert np.array_equal(exact.affinity, np.kron(np.eye(2), np.ones((3, 3))))


def test_what_cannot_be_drawn():
    with pytest.raises(np.linalg.LinAlgError):
        make_two_component_mixture([1, 1], [[1, 2], [2, 1]])
    with pytest.raises(ValueError, match=r"gamma=0\.01"):
        make_perturbed_affinity(10, 0.01, 1)


# The nearest correlation matrix: published examples, and no other is nearer.


@pytest.mark.parametrize(
    ("matrix", "nearest"),
    [  # the two examples in Higham's paper
        ([[1, 1, 0], [1, 1, 1], [0, 1, 1]], [[1, 0.7607, 0.1573], [0.7607, 1, 0.7607], [0.1573, 0.7607, 1]]),
        (
            [[2, -1, 0, 0], [-1, 2, -1, 0], [0, -1, 2, -1], [0, 0, -1, 2]],
            [
                [1, -0.8084, 0.1916, 0.1068],
                [-0.8084, 1, -0.6562, 0.1916],
                [0.1916, -0.6562, 1, -0.8084],
                [0.1068, 0.1916, -0.8084, 1],
            ],
        ),
    ],
)
def test_nearest_correlation_published(matrix, nearest):
    assert np.abs(nearest_correlation(np.array(matrix, dtype=float)) - nearest).max() < 6e-5


def test_nearest_correlation_is_the_nearest():
    """No step towards another correlation matrix brings it closer (the set is convex)."""
    rng = np.random.default_rng(0)
    drawn = np.triu(rng.uniform(-1, 1, size=(12, 12)), 1)
    drawn += drawn.T + np.eye(12)
    nearest = nearest_correlation(drawn, tol=1e-10)
    assert np.linalg.eigvalsh(nearest)[0] > -1e-8
    for _ in range(200):
        other = np.corrcoef(rng.normal(size=(12, rng.integers(2, 30))))
        assert np.sum((drawn - nearest) * (other - nearest)) < 1e-6


def test_nearest_correlation_leaves_one_alone_and_gives_up():
    correlation = np.array([[1, 0.3], [0.3, 1]])
    assert np.allclose(nearest_correlation(correlation), correlation, rtol=0, atol=1e-14)
    with pytest.raises(RuntimeError, match="max_iter=2"):
        nearest_correlation(np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]]), max_iter=2)
