"""The paper's simulated data: Gaussian mixtures (G1, G2, G3) and the perturbed affinity of Theorem 2.

What the paper leaves open (the noise features of G1, the rows of G2 and G3, the signs in G3) is a parameter; each
function gives the reason for its default.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular
from scipy.special import ndtr
from sklearn.utils import Bunch

from clusterforests._utils.arrays import FloatArray
from clusterforests._utils.random import root_seed

# Correlation matrices that are positive definite.

SMALLEST_EIGENVALUE = 1e-4  # far above rounding errors, far below the unit variances


def nearest_correlation(matrix: FloatArray, *, tol: float = 1e-7, max_iter: int = 1000) -> FloatArray:
    """Find the correlation matrix nearest to a symmetric matrix in the Frobenius norm.

    It is positive semidefinite up to `tol`. Higham's alternating projections go to the semidefinite matrices, with
    Dykstra's correction, then to those with a unit diagonal, until a round changes the matrix by less than `tol` of its
    norm.
    """
    nearest, correction = matrix.copy(), np.zeros_like(matrix)
    np.fill_diagonal(nearest, 1)
    for _ in range(max_iter):
        shifted = nearest - correction
        semidefinite = _without_negative_eigenvalues(shifted)
        correction = semidefinite - shifted
        before, nearest = nearest, semidefinite.copy()
        np.fill_diagonal(nearest, 1)
        if np.linalg.norm(nearest - before) <= tol * np.linalg.norm(nearest):
            return nearest
    raise RuntimeError(f"The nearest correlation matrix was not found in max_iter={max_iter} rounds.")


def _without_negative_eigenvalues(matrix: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(matrix)
    kept = vectors[:, values > 0] * np.sqrt(values[values > 0])
    return np.asarray(kept @ kept.T, dtype=np.float64)


def positive_definite(correlations: FloatArray) -> FloatArray:
    """Return the matrix or, if it is not positive definite, the nearest correlation matrix that safely is."""
    if np.linalg.eigvalsh(correlations)[0] >= SMALLEST_EIGENVALUE:
        return correlations
    nearest = nearest_correlation(correlations)
    smallest = float(np.linalg.eigvalsh(nearest)[0])  # about zero, so that the share of the identity is tiny
    share = max(0.0, (SMALLEST_EIGENVALUE - smallest) / (1 - smallest))
    return (1 - share) * nearest + share * np.eye(len(nearest))


def make_two_component_mixture(
    mu: npt.ArrayLike,
    covariance: npt.ArrayLike | None = None,
    n_samples: int = 4000,
    *,
    weight: float = 0.5,
    random_state: Any = None,
) -> Bunch:
    """Draw rows from two Gaussians with opposite means and one covariance, equation (2) of the paper.

    Parameters
    ----------
    mu : array of shape (n_features,)
        Mean of cluster 1; that of cluster 0 is `-mu`. A feature whose mean is zero is noise.
    covariance : array of shape (n_features, n_features), default=None
        Covariance of both; None means the identity.
    n_samples : int, default=4000
        Number of rows; 4000 as in the paper's G1.
    weight : float, default=0.5
        Probability of cluster 1, strictly between 0 and 1.
    random_state : int, RandomState, Generator or None, default=None
        The same integer gives the same data.

    Returns
    -------
    data : Bunch
        data : array of shape (n_samples, n_features)
            The rows.
        target : array of shape (n_samples,)
            The clusters, 0 or 1.
        mu, covariance : arrays
            The parameters that the rows were drawn with.
        bayes_accuracy : float
            The exact accuracy of the best possible rule, which knows `mu`, `covariance` and `weight`.
        feature_names : list of str
            "noise1", ... where `mu` is zero and "signal1", ... where it is not.

    Examples
    --------
    >>> from paper.datasets import make_two_component_mixture
    >>> mixture = make_two_component_mixture([0, 0, 2], n_samples=100, random_state=0)
    >>> mixture.data.shape
    (100, 3)
    >>> round(mixture.bayes_accuracy, 4)
    0.9772
    """
    rng = np.random.default_rng(root_seed(random_state))
    return _mixture(rng, np.array(mu, dtype=np.float64), covariance, n_samples, weight)


def make_g1(n_samples: int = 4000, *, n_noise: int = 100, n_informative: int = 100, random_state: Any = None) -> Bunch:
    """Draw the paper's data set G1: correlated features, some of them noise, the others more and more informative.

    The mean is (0, ..., 0, 1, 2, ..., `n_informative`), the variances are 1 and the correlations were drawn from the
    uniform distribution on [0, 0.5]. The paper asks for a positive definite covariance, but such a draw practically
    never is one (with a hundred features its smallest eigenvalue is about -2, with two hundred about -3). So it is
    replaced by the nearest correlation matrix [1]_, mixed with just enough of the identity to be positive definite.
    This moves the correlations closer together, and a few of them slightly out of [0, 0.5].

    Parameters
    ----------
    n_samples : int, default=4000
        Number of rows, as in the paper.
    n_noise : int, default=100
        Number of zeros in the mean. The paper does not say; 100 is that of G2, so that half of the features are noise.
    n_informative : int, default=100
        Number of other features, as in the paper.
    random_state : int, RandomState, Generator or None, default=None
        The same integer gives the same data.

    Returns
    -------
    data : Bunch
        As from :func:`make_two_component_mixture`; the noise features come first.

    References
    ----------
    .. [1] N. J. Higham, "Computing the nearest correlation matrix: a problem from finance", IMA Journal of Numerical
           Analysis 22 (2002).
    """
    rng = np.random.default_rng(root_seed(random_state))
    mu = _noise_first(n_noise, np.arange(1.0, n_informative + 1))
    drawn = np.triu(rng.uniform(0, 0.5, size=(len(mu), len(mu))), k=1)
    covariance = positive_definite(drawn + drawn.T + np.eye(len(mu)))
    return _mixture(rng, mu, covariance, n_samples)


def make_g2(n_samples: int = 4000, *, n_noise: int = 100, n_informative: int = 20, random_state: Any = None) -> Bunch:
    """Draw the paper's data set G2: independent features, most of them noise, the others weak.

    The mean is zero for the noise features, which come first, and i.i.d. uniform on [0, 1] for the others; the
    covariance is the identity.

    Parameters
    ----------
    n_samples : int, default=4000
        Number of rows. The paper does not say; 4000 is that of G1.
    n_noise, n_informative : int, default=100 and 20
        Numbers of features, as in the paper.
    random_state : int, RandomState, Generator or None, default=None
        The same integer gives the same data. It determines `mu` too, so `bayes_accuracy` differs from draw to draw.

    Returns
    -------
    data : Bunch
        As from :func:`make_two_component_mixture`.
    """
    rng = np.random.default_rng(root_seed(random_state))
    mu = _noise_first(n_noise, rng.uniform(size=n_informative))
    return _mixture(rng, mu, None, n_samples)


def make_g3(
    n_samples: int = 4000,
    *,
    n_noise: int = 1000,
    n_informative: int = 20,
    random_state: Any = None,
) -> Bunch:
    """Draw the paper's data set G3: twenty informative features among a thousand of noise.

    The mean is zero for the noise features, which come first, and 1, 2, ..., `n_informative`, each with a sign, for
    the others; the covariance is the identity. The paper writes only "from ±1 to ±20": signs are drawn at random, and
    make no difference to a clustering by distances.

    Parameters
    ----------
    n_samples : int, default=4000
        Number of rows. The paper does not say; 4000 is that of G1.
    n_noise, n_informative : int, default=1000 and 20
        Numbers of features, as in the paper.
    random_state : int, RandomState, Generator or None, default=None
        The same integer gives the same data.

    Returns
    -------
    data : Bunch
        As from :func:`make_two_component_mixture`.
    """
    rng = np.random.default_rng(root_seed(random_state))
    signs = rng.choice([-1.0, 1.0], size=n_informative)
    return _mixture(rng, _noise_first(n_noise, signs * np.arange(1, n_informative + 1)), None, n_samples)


def make_perturbed_affinity(
    n_samples: int, gamma: float, sigma: float, *, nu: float = 0.01, random_state: Any = None
) -> Bunch:
    """Draw an affinity matrix of two clusters with Gaussian noise, the model of Theorem 2.

    Rows of the same cluster have affinity `1 - nu`, rows of different clusters `nu`. A symmetric matrix is added, whose
    entries on and below the diagonal are independent `N(0, sigma²)`. As in the paper, entries may be negative or above
    1, and row sums may be negative: the theorem uses expected degrees.

    Parameters
    ----------
    n_samples : int
        Number of rows, n.
    gamma : float
        Size of the second cluster over that of the first, above 0 and at most 1. The sizes are rounded.
    sigma : float
        Standard deviation of the noise.
    nu : float, default=0.01
        Mean affinity between the clusters, below 0.5. The theorem assumes it positive and far below `gamma`.
    random_state : int, RandomState, Generator or None, default=None
        The same integer gives the same matrix.

    Returns
    -------
    data : Bunch
        affinity : array of shape (n_samples, n_samples)
            Symmetric, noise included.
        target : array of shape (n_samples,)
            0 for the rows of the first, larger cluster, then 1.
        expected_degrees : array of shape (n_samples,)
            Row sums without the noise.

    Examples
    --------
    >>> from paper.datasets import make_perturbed_affinity
    >>> make_perturbed_affinity(5, gamma=0.7, sigma=0, nu=0.1).expected_degrees
    array([2.9, 2.9, 2.9, 2.1, 2.1])
    """
    first = int(n_samples / (1 + gamma) + 0.5)
    if first == n_samples:
        raise ValueError(f"gamma={gamma!r} leaves no row for the second cluster of n_samples={n_samples}.")
    rng = np.random.default_rng(root_seed(random_state))
    target = (np.arange(n_samples) >= first).astype(np.int64)
    expected = np.where(target[:, None] == target, 1 - nu, nu)
    noise = np.tril(rng.normal(scale=sigma, size=(n_samples, n_samples)))
    return Bunch(
        affinity=expected + noise + np.tril(noise, -1).T,
        target=target,
        expected_degrees=expected.sum(axis=1),
    )


def _mixture(rng: np.random.Generator, mu: FloatArray, covariance: Any, n_samples: int, weight: float = 0.5) -> Bunch:
    factor = None if covariance is None else np.linalg.cholesky(np.asarray(covariance, dtype=np.float64))
    target = (rng.uniform(size=n_samples) < weight).astype(np.int64)
    noise = rng.normal(size=(n_samples, len(mu)))
    if factor is not None:
        noise = noise @ factor.T
    whitened = mu if factor is None else solve_triangular(factor, mu, lower=True)
    return Bunch(
        data=noise + np.where(target == 1, 1.0, -1.0)[:, None] * mu,
        target=target,
        mu=mu,
        covariance=np.eye(len(mu)) if covariance is None else np.array(covariance, dtype=np.float64),
        bayes_accuracy=_bayes_accuracy(float(np.linalg.norm(whitened)), weight),
        feature_names=_feature_names(mu),
    )


def _bayes_accuracy(distance: float, weight: float) -> float:
    """Compute the accuracy of the best rule.

    It cuts mu' Sigma^-1 x, which is N(±d², d²) in the clusters, where d² = mu' Sigma^-1 mu.
    """
    if distance == 0:
        return float(max(weight, 1 - weight))
    cut = math.log((1 - weight) / weight) / 2
    return float(weight * ndtr(distance - cut / distance) + (1 - weight) * ndtr(distance + cut / distance))


def _feature_names(mu: FloatArray) -> list[str]:
    noise = mu == 0
    ranks = np.where(noise, np.cumsum(noise), np.cumsum(~noise))
    return [f"{'noise' if is_noise else 'signal'}{rank}" for is_noise, rank in zip(noise, ranks, strict=True)]


def _noise_first(n_noise: int, signal: FloatArray) -> FloatArray:
    return np.concatenate([np.zeros(n_noise), signal])
