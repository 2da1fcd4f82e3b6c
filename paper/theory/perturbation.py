"""The perturbed affinity model (6) and the expansions that the proof of Theorem 2 rests on.

P = Pbar + epsilon, where Pbar is 1 - nu inside two clusters of n1 and n2 = gamma n1 rows and nu between them, and
epsilon is symmetric with independent N(0, sigma^2) entries on and below the diagonal. Degrees are those of Pbar:
degrees of the noisy matrix can be negative, and would make a different model.

Three slips of sign in the proof are corrected here. The Laplacian is D^(-1/2) (D - P) D^(-1/2), so its second smallest
eigenvector is the second largest of D^(-1/2) P D^(-1/2). x2 is negative on the larger cluster (the proof's formula
for the mis-clustering rate has the inequalities the other way round). The first-order term of psi x2 is
+ lambda2^(-1) epsilon~ x2, and the contour integral also removes its part in the span of x1 and x2.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh

from clusterforests._utils.arrays import FloatArray
from clusterforests._utils.random import root_seed


class EigenExpansion(NamedTuple):
    """lambda1, lambda2, and the values of x1 and x2 on the (larger, smaller) cluster."""

    lambda1: float
    lambda2: float
    x1: tuple[float, float]
    x2: tuple[float, float]


@dataclass(frozen=True)
class PerturbedModel:
    """Sizes and parameters of the model, and the exact spectrum of D^(-1/2) Pbar D^(-1/2), which has rank two."""

    n_larger: int
    n_smaller: int
    sigma: float
    nu: float

    @property
    def n_samples(self) -> int:
        return self.n_larger + self.n_smaller

    @property
    def target(self) -> FloatArray:
        """-1 for rows of the larger cluster, which come first, and +1 for the smaller: the signs of x2."""
        return self._spread(-1.0, 1.0)

    @property
    def block_degrees(self) -> tuple[float, float]:
        """Row sums of Pbar on the two clusters."""
        n1, n2, nu = self.n_larger, self.n_smaller, self.nu
        return (1 - nu) * n1 + nu * n2, (1 - nu) * n2 + nu * n1

    @property
    def expected_degrees(self) -> FloatArray:
        return self._spread(*self.block_degrees)

    @property
    def spectrum(self) -> EigenExpansion:
        """Exact: x1 is proportional to D^(1/2) 1 with eigenvalue 1, x2 is block-constant and orthogonal to it."""
        n1, n2 = self.n_larger, self.n_smaller
        d1, d2 = self.block_degrees
        lambda2 = (1 - self.nu) * (n1 / d1 + n2 / d2) - 1
        norm1 = np.sqrt(n1 * d1 + n2 * d2)
        norm2 = np.sqrt(n1 * n2**2 * d2 + n2 * n1**2 * d1)
        return EigenExpansion(
            1.0,
            float(lambda2),
            (float(np.sqrt(d1) / norm1), float(np.sqrt(d2) / norm1)),
            (float(-n2 * np.sqrt(d2) / norm2), float(n1 * np.sqrt(d1) / norm2)),
        )

    @property
    def x1(self) -> FloatArray:
        return self._spread(*self.spectrum.x1)

    @property
    def x2(self) -> FloatArray:
        return self._spread(*self.spectrum.x2)

    @property
    def clean(self) -> FloatArray:
        """D^(-1/2) Pbar D^(-1/2)."""
        matrix: FloatArray = np.outer(self.x1, self.x1) + self.spectrum.lambda2 * np.outer(self.x2, self.x2)
        return matrix

    def draw_noise(self, rng: np.random.Generator) -> FloatArray:
        """Draw epsilon~ = D^(-1/2) epsilon D^(-1/2)."""
        scale = np.sqrt(self.sigma / self.expected_degrees)
        noise: FloatArray = symmetric_noise(self.n_samples, rng) * np.outer(scale, scale)
        return noise

    def _spread(self, larger: float, smaller: float) -> FloatArray:
        return np.repeat([larger, smaller], [self.n_larger, self.n_smaller])


def perturbed_model(n_samples: int, gamma: float, sigma: float, *, nu: float = 0.001) -> PerturbedModel:
    """Make the model (6) with n2 as close to gamma n1 as whole rows allow.

    Parameters
    ----------
    n_samples : int
        n = n1 + n2, at least 4.
    gamma : float
        n2 / n1, in (0, 1].
    sigma : float
        Standard deviation of the noise.
    nu : float, default=0.001
        Affinity between clusters, in [0, 0.5). Theorem 2 assumes nu much smaller than gamma.

    Returns
    -------
    PerturbedModel
    """
    n_larger = int(n_samples / (1 + gamma) + 0.5)
    if n_larger == n_samples:
        least = 1 / (n_samples - 1)
        raise ValueError(
            f"gamma={gamma!r} is not allowed with n_samples={n_samples}: it must leave the smaller cluster a row, "
            f"about {least:.2g} or more."
        )
    return PerturbedModel(n_larger, n_samples - n_larger, sigma, nu)


def symmetric_noise(n_samples: int, rng: np.random.Generator) -> FloatArray:
    """Draw a symmetric matrix with independent N(0, 1) entries on and below the diagonal."""
    lower = np.tril(rng.standard_normal((n_samples, n_samples)))
    return lower + np.tril(lower, -1).T


def eigen_expansion(model: PerturbedModel) -> EigenExpansion:
    """Compute the leading terms that the proof of Theorem 2 gives for small nu; compare with `model.spectrum`.

    With expected degrees, its remainders O(nu^2 + 1/n) and O(nu + n^(-1/2)) are O(nu^2) for the eigenvalues and O(nu)
    for the scaled eigenvectors.
    """
    n1, n2 = model.n_larger, model.n_smaller
    gamma = n2 / n1
    norm1, norm2 = np.sqrt(n1 / gamma + n2), np.sqrt(n1 * gamma**3 + n2)
    return EigenExpansion(
        1.0,
        1 - (1 + gamma**2) / gamma * model.nu,
        (float(gamma**-0.5 / norm1), float(1 / norm1)),
        (float(-(gamma**1.5) / norm2), float(1 / norm2)),
    )


def projected_vector(model: PerturbedModel, noise: FloatArray) -> FloatArray:
    """Compute psi x2: x2 projected on the two leading eigenvectors of D^(-1/2) P D^(-1/2), equations (8) and (9).

    Parameters
    ----------
    model : PerturbedModel
    noise : ndarray of shape (n_samples, n_samples)
        epsilon~, as `model.draw_noise` gives it.

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    leading = leading_vectors(model.clean + noise)
    projected: FloatArray = leading @ (leading.T @ model.x2)
    return projected


def leading_vectors(matrix: FloatArray) -> FloatArray:
    """Compute the eigenvectors of the two largest eigenvalues as columns, the second largest first."""
    n = len(matrix)
    vectors: FloatArray = eigh(matrix, subset_by_index=[n - 2, n - 1], check_finite=False)[1]
    return vectors


def first_order_vector(model: PerturbedModel, noise: FloatArray, *, as_printed: bool = False) -> FloatArray:
    """Compute phi x2, the first-order expansion of psi x2.

    Parameters
    ----------
    model : PerturbedModel
    noise : ndarray of shape (n_samples, n_samples)
        epsilon~.
    as_printed : bool, default=False
        The paper's x2 - lambda2^(-1) epsilon~ x2 instead of x2 + lambda2^(-1) Q epsilon~ x2, where Q removes the
        span of x1 and x2. The sign does not change the distribution; the missing Q changes it by O(n^(-3/2)).

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    step = noise @ model.x2 / model.spectrum.lambda2
    if as_printed:
        return model.x2 - step
    step -= model.x1 * (model.x1 @ step) + model.x2 * (model.x2 @ step)
    return model.x2 + step


def resolvent_residual(model: PerturbedModel, t: complex) -> float:
    """Check Lemma 2, first part: the largest entry of (tI - D^(-1/2) Pbar D^(-1/2))^(-1) x2 - x2 / (t - lambda2)."""
    shifted = t * np.eye(model.n_samples) - model.clean
    return float(np.abs(np.linalg.solve(shifted, model.x2) - model.x2 / (t - model.spectrum.lambda2)).max())


def noise_norm(n_samples: int, *, random_state: Any = None) -> float:
    """Check Lemma 3: the spectral norm of one symmetric N(0, 1) noise matrix divided by sqrt(n) tends to 2."""
    rng = np.random.default_rng(root_seed(random_state))
    values = np.linalg.eigvalsh(symmetric_noise(n_samples, rng))
    return float(np.abs(values).max() / np.sqrt(n_samples))
