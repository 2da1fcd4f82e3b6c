"""Theorem 1: kappa rises when a noise feature enters the clustering vector.

The data are the symmetric mixture (2) with pi = 1/2 and Sigma = I: X = S mu + Z, S = +1 or -1 with equal chance. By
Lemma 1 the best two centres split the rows by the sign of mu'X, so everything follows from the folded normal
|N(|mu|, 1)|, whose mean is

    m(r) = r (2 Phi(r) - 1) + 2 phi(r),    r = |mu|.

The population centres are +m and -m times mu/|mu|, SS_B = m^2, and SS_W = p + r^2 - m^2 (the total variance of p
features is p + r^2). The proof in the paper writes the centres as integrals over a cluster without the division by
the cluster's mass, 1/2; the division is made here.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from clusterforests._utils.arrays import FloatArray
from clusterforests._utils.random import root_seed, stream
from clusterforests.backends import CpuBackend, KMeansJobs
from clusterforests.trees.growth import NOT_BETTER, kappa


@dataclass(frozen=True)
class NoiseRejection:
    """How often a proposed feature was rejected, and the mean kappas without and with it.

    `std_error` is the binomial standard error of `rate`.
    """

    rate: float
    std_error: float
    kappa_before: float
    kappa_after: float


def folded_mean(strength: float) -> float:
    """Compute m(r), the mean of |N(r, 1)|: the distance of a population centre from the middle."""
    return float(strength * (2 * norm.cdf(strength) - 1) + 2 * norm.pdf(strength))


def population_centers(mu: Any) -> FloatArray:
    """Compute the two population centres of 2-means (Definition 3), mu_1* first.

    Parameters
    ----------
    mu : array-like of shape (n_features,)
        Feature means, not all zero: without any signal the direction is undetermined.

    Returns
    -------
    ndarray of shape (2, n_features)
    """
    means = np.asarray(mu, dtype=np.float64)
    strength = float(np.linalg.norm(means))
    center = means * (folded_mean(strength) / strength)
    return np.stack([center, -center])


def population_kappa(mu: Any, *, quality: str = "centroid") -> float:
    """Compute kappa = SS_W / SS_B of the best 2-means clustering in the population (Theorem 1).

    Parameters
    ----------
    mu : array-like of shape (n_features,)
        Means of the features in the clustering vector; 0 is a noise feature.
    quality : {"centroid", "pairwise"}, default="centroid"
        Sums of squares about centroids, or over pairs of rows as in the paper's appendix. If c is the first, the
        second is c / (c + 2), so both rank clustering vectors alike.

    Returns
    -------
    float

    Examples
    --------
    >>> from paper.theory import population_kappa
    >>> round(population_kappa([2.0, 0.0]), 3), round(population_kappa([2.0, 0.0, 0.0]), 3)
    (0.475, 0.721)
    """
    means = np.asarray(mu, dtype=np.float64)
    return _kappa(len(means), float(np.linalg.norm(means)), quality)


def _kappa(n_features: int, strength: float, quality: str = "centroid") -> float:
    between = folded_mean(strength) ** 2
    within = n_features + strength**2 - between
    return within / (within + 2 * between) if quality == "pairwise" else within / between


def break_even_strength(mu: Any) -> float:
    """Find the mean that a further feature must exceed to lower the population kappa.

    Theorem 1 says that it is above zero. It is about `|mu| / sqrt(p)` if the clusters are far apart, so kappa rejects
    weak features too, not only pure noise.

    Parameters
    ----------
    mu : array-like of shape (n_features,)
        Means of the features that the clustering vector already has.

    Returns
    -------
    float
    """
    means = np.asarray(mu, dtype=np.float64)
    count, strength = len(means), float(np.linalg.norm(means))
    before = _kappa(count, strength)

    def gain(extra: float) -> float:
        return _kappa(count + 1, float(np.hypot(strength, extra))) - before

    # Far out, kappa_after is about (p + 1) / (r^2 + s^2); at s = 4 (1 + r) that is below kappa for every p and r.
    return float(brentq(gain, 0.0, 4.0 * (1.0 + strength)))


def simulate_noise_rejection(
    n_samples: int,
    mu: Any,
    *,
    candidate: float = 0.0,
    n_trials: int = 200,
    quality: str = "centroid",
    n_init: int = 20,
    random_state: Any = None,
) -> NoiseRejection:
    """Measure how often kappa rejects one more feature on samples of finite size.

    Parameters
    ----------
    n_samples : int
        Rows of each sample.
    mu : array-like of shape (n_features,)
        Means of the features that the clustering vector already has.
    candidate : float, default=0.0
        Mean of the feature that is proposed; 0 is noise.
    n_trials : int, default=200
        Number of samples.
    quality : {"centroid", "pairwise"}, default="centroid"
        Form of kappa.
    n_init : int, default=20
        Random starts of each K-means.
    random_state : int, RandomState, Generator or None, default=None
        Determines the samples and the starts.

    Returns
    -------
    NoiseRejection
    """
    means = np.append(np.asarray(mu, dtype=np.float64), candidate)
    seed = root_seed(random_state)
    rng = np.random.default_rng(seed)
    every = np.arange(len(means), dtype=np.int32)
    found = np.empty((n_trials, 2))
    backend = CpuBackend(1)
    for trial in range(n_trials):
        backend.load(sample_mixture(n_samples, means, rng))
        jobs = KMeansJobs([every[:-1], every], np.full(2, 2, np.int32), stream(seed, trial, np.arange(2)), n_init, 200)
        found[trial] = kappa(backend.kmeans(jobs), quality)
    rejected = found[:, 1] >= found[:, 0] * (1 - NOT_BETTER)  # line 6 of Algorithm 1
    rate = float(rejected.mean())
    before, after = found.mean(axis=0).tolist()
    return NoiseRejection(rate, float(np.sqrt(rate * (1 - rate) / n_trials)), before, after)


def sample_mixture(n_samples: int, means: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw rows from the mixture (2) with pi = 1/2 and Sigma = I."""
    signs = rng.choice([-1.0, 1.0], size=n_samples)
    sample: FloatArray = signs[:, None] * means + rng.standard_normal((n_samples, len(means)))
    return sample
