"""Theorem 2: the mis-clustering rate of the sign cut under the perturbed affinity model.

To first order, entry i of psi x2 is x2[i] plus a Gaussian. In units of its standard deviation, the Gaussian gives it
the wrong sign beyond

    sqrt(n) / sigma * sqrt(gamma^3 / ((1 + gamma) (1 + gamma^3)))    in the larger cluster,
    sqrt(n) / sigma * sqrt(gamma   / ((1 + gamma) (1 + gamma^3)))    in the smaller one,

and the larger cluster decides the exponent. The paper prints gamma^2 for the larger cluster: the last step of its
proof loses a power, because (n1 n2) gamma^3 / (n1 gamma^3 + n2) with n2 = gamma n1 is n1 gamma^3 / (1 + gamma^2). At
gamma = 1 the two forms agree.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from clusterforests._utils.arrays import FloatArray
from clusterforests._utils.random import root_seed
from paper.theory.perturbation import PerturbedModel, leading_vectors, perturbed_model


@dataclass(frozen=True)
class MisclusteringRate:
    """Share of rows in the wrong cluster, overall and for each cluster, with standard errors over trials."""

    rate: float
    std_error: float
    larger: float
    larger_std_error: float
    smaller: float
    smaller_std_error: float
    n_trials: int


@dataclass(frozen=True)
class CutoffGain:
    """The best measured cutoff in units of x2 on the smaller cluster, and the rates at it and at zero."""

    cutoff: float
    rate: float
    std_error: float
    rate_at_zero: float
    std_error_at_zero: float


def misclustering_exponent(gamma: float, sigma: float, as_printed: bool = False) -> float:
    """Compute the limit of log(E M) / n, Theorem 2.

    Parameters
    ----------
    gamma : float
        Size of the smaller cluster over the larger one's, in (0, 1].
    sigma : float
        Standard deviation of the noise.
    as_printed : bool, default=False
        Use gamma^2 in the numerator, as the paper prints it, instead of gamma^3, as its proof gives.

    Returns
    -------
    float
        A negative number.

    Examples
    --------
    >>> from paper.theory import misclustering_exponent
    >>> misclustering_exponent(0.5, 1.0), misclustering_exponent(0.5, 1.0, as_printed=True)
    (-0.037037037037037035, -0.07407407407407407)
    """
    power = 2 if as_printed else 3
    return -(gamma**power) / (2 * sigma**2 * (1 + gamma) * (1 + gamma**3))


def misclustering_probability(
    n_samples: int,
    gamma: float,
    sigma: float,
    *,
    cutoff: float = 0.0,
    as_printed: bool = False,
    second_order: bool = False,
) -> float:
    """Compute E M at finite n from the Gaussian tails of both clusters (the proof's last display, before its limit).

    Parameters
    ----------
    n_samples : int
        n, the rows of both clusters together.
    gamma : float
        Size of the smaller cluster over the larger one's, in (0, 1]. Sizes are not rounded to whole rows here.
    sigma : float
        Standard deviation of the noise.
    cutoff : float, default=0.0
        Where psi x2 is cut, as a fraction of the smaller cluster's value of x2.
    as_printed : bool, default=False
        Use the paper's gamma^2 in the larger cluster's tail.
    second_order : bool, default=False
        Include the next term of the expansion, of relative size sigma^2 / n, in the mean and in the variance. It does
        not change the exponent but it changes the rate: at gamma = 1 it takes z to sqrt(z^2 - 1), which multiplies
        small rates by sqrt(e). Needs sigma^2 below a quarter of the smaller cluster's size.

    Returns
    -------
    float
    """
    if as_printed and (cutoff or second_order):
        raise ValueError("as_printed=True is not allowed with a cutoff or second_order: it must be False.")
    sizes = np.array([1.0, gamma]) * n_samples / (1 + gamma)
    if second_order and sigma**2 >= sizes[1] / 4:
        raise ValueError(
            f"sigma={sigma!r} is not allowed with second_order=True and n_samples={n_samples}: it must be less than "
            f"{np.sqrt(sizes[1] / 4):.3g}."
        )
    shrink = sigma**2 / sizes if second_order else np.zeros(2)
    # In units of x2 on the smaller cluster, where x2 is -gamma^(3/2) on the larger.
    centers = np.array([gamma**1.5, 1.0]) * (1 - 2 * shrink)
    shares = np.array([gamma**3, 1.0]) * (1 - 2 * shrink) * (1 - shrink + shrink[::-1])  # of noise, by column's cluster
    spread = (1 + 4 * np.subtract.outer(shrink, shrink)) @ shares
    variances = spread * sigma**2 / sizes
    z = (centers + cutoff * np.array([1.0, -1.0])) / np.sqrt(variances)
    if as_printed:
        z[0] /= np.sqrt(gamma)
    return float(norm.sf(z) @ sizes / n_samples)


def best_cutoff(gamma: float) -> float:
    """Compute the cutoff of psi x2 with the best exponent, as a fraction of the smaller cluster's value of x2.

    The remarks after Theorem 2 say that it lies slightly towards the smaller cluster. Equal exponents of both
    clusters put it at sqrt(gamma) (1 - sqrt(gamma)).
    """
    root = float(np.sqrt(gamma))
    return root * (1 - root)


def shifted_exponent(gamma: float, sigma: float) -> float:
    """Compute the limit of log(E M) / n if the second eigenvector is cut at `best_cutoff`."""
    return -gamma * (1 - best_cutoff(gamma)) ** 2 / (2 * sigma**2 * (1 + gamma) * (1 + gamma**3))


def simulate_misclustering(
    n_samples: int,
    gamma: float,
    sigma: float,
    *,
    n_trials: int = 200,
    nu: float = 0.001,
    cutoff: float = 0.0,
    vector: str = "projection",
    random_state: Any = None,
) -> MisclusteringRate:
    """Measure the mis-clustering rate of the model itself, by eigenvectors of whole noisy matrices, without expansions.

    Parameters
    ----------
    n_samples : int
        n, at least 4. The larger cluster gets n / (1 + gamma) rows, rounded.
    gamma : float
        Size of the smaller cluster over the larger one's, in (0, 1].
    sigma : float
        Standard deviation of the noise.
    n_trials : int, default=200
        Number of matrices, at least 2.
    nu : float, default=0.001
        Affinity between clusters, in [0, 0.49].
    cutoff : float, default=0.0
        Where the vector is cut, as a fraction of the smaller cluster's value of x2.
    vector : {"projection", "eigenvector"}, default="projection"
        psi x2, which the paper analyses, or the second eigenvector, which Ncut would use. They differ if nu is not
        large compared with sigma / n: the noise then mixes the two leading eigenvectors.
    random_state : int, RandomState, Generator or None, default=None
        Determines the matrices.

    Returns
    -------
    MisclusteringRate

    Examples
    --------
    >>> from paper.theory import simulate_misclustering
    >>> found = simulate_misclustering(40, 1.0, 1.5, n_trials=50, random_state=0)
    >>> 0.0 < found.rate < 0.1
    True
    """
    model = perturbed_model(n_samples, gamma, sigma, nu=nu)
    wrong = np.empty((n_trials, 2))
    for trial, found in enumerate(_draw_vectors(model, n_trials, vector, random_state)):
        errors = np.where(found > cutoff, 1.0, -1.0) != model.target
        wrong[trial] = errors[: model.n_larger].mean(), errors[model.n_larger :].mean()
    shares = np.array([model.n_larger, model.n_smaller]) / model.n_samples
    columns = np.column_stack([wrong @ shares, wrong])
    rates = columns.mean(axis=0).tolist()
    errors_of = (columns.std(axis=0, ddof=1) / np.sqrt(n_trials)).tolist()
    return MisclusteringRate(rates[0], errors_of[0], rates[1], errors_of[1], rates[2], errors_of[2], n_trials)


def simulate_best_cutoff(
    n_samples: int,
    gamma: float,
    sigma: float,
    *,
    n_trials: int = 200,
    nu: float = 0.001,
    random_state: Any = None,
) -> CutoffGain:
    """Find the cutoff of psi x2 that puts the fewest rows in the wrong cluster, and what it gains.

    The cutoff is chosen on every other matrix and judged on the rest, so that the choice does not flatter its rate.

    Parameters
    ----------
    n_samples, gamma, sigma, n_trials, nu, random_state
        As in `simulate_misclustering`; n_trials is at least 4.

    Returns
    -------
    CutoffGain
    """
    model = perturbed_model(n_samples, gamma, sigma, nu=nu)
    found = np.array(list(_draw_vectors(model, n_trials, "projection", random_state)))
    cutoffs = np.linspace(-0.5, 0.9, 281)
    larger = np.sort(found[::2, : model.n_larger], axis=None)
    smaller = np.sort(found[::2, model.n_larger :], axis=None)
    wrong = larger.size - np.searchsorted(larger, cutoffs, "right") + np.searchsorted(smaller, cutoffs, "right")
    ties = cutoffs[wrong == wrong.min()]
    cutoff = float(ties[len(ties) // 2])
    judged = found[1::2]
    at_zero, at_best = (((judged > level) != (model.target > 0)).mean(axis=1) for level in (0.0, cutoff))
    root = np.sqrt(len(judged))
    return CutoffGain(
        cutoff,
        float(at_best.mean()),
        float(at_best.std(ddof=1) / root),
        float(at_zero.mean()),
        float(at_zero.std(ddof=1) / root),
    )


def _draw_vectors(model: PerturbedModel, n_trials: int, vector: str, random_state: Any) -> Iterator[FloatArray]:
    """Yield psi x2, or the second eigenvector, of each trial's matrix, in units of x2 on the smaller cluster."""
    rng = np.random.default_rng(root_seed(random_state))
    for _ in range(n_trials):
        leading = leading_vectors(model.clean + model.draw_noise(rng))
        overlaps = leading.T @ model.x2
        found = leading @ overlaps if vector == "projection" else leading[:, 0] * np.sign(overlaps[0])
        yield found / model.spectrum.x2[1]
