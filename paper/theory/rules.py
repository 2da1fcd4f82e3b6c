"""Lemma 1: in the population the K-means rule is the optimal rule.

Two centres split the space by a hyperplane, v'X > t with a unit vector v. K-means maximises SS_B over v and t, and for
the mixture (2) with Sigma = I this has a closed form in t and the angle between v and mu. Maximising it numerically
tests the lemma without its symmetry argument, and shows what happens if pi is not 1/2.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm

from clusterforests._utils.random import root_seed
from clusterforests.kmeans import HartiganWongKMeans
from paper.theory.noise import sample_mixture


@dataclass(frozen=True)
class SplitRule:
    """The rule v'X > offset, `angle` radians between v and mu, and the share of rows it puts in the wrong cluster."""

    angle: float
    offset: float
    risk: float


def between_of_split(strength: float, angle: float, offset: float, *, share: float = 0.5) -> float:
    """Compute SS_B of the split v'X > offset in the population; 0 if one side has no mass.

    Parameters
    ----------
    strength : float
        `|mu|`.
    angle : float
        Angle between v and mu, in radians.
    offset : float
        Where the hyperplane cuts the direction v.
    share : float, default=0.5
        pi, the share of the cluster with mean +mu.

    Returns
    -------
    float
    """
    a = strength * np.cos(angle)
    upper, lower = share * norm.sf(offset - a), (1 - share) * norm.sf(offset + a)
    mass = upper + lower
    if not 0 < mass < 1:
        return 0.0
    # E[X - EX; v'X > t] = along mu + along v; the other side has minus that.
    along_mu = upper - lower - mass * (2 * share - 1)
    along_v = share * norm.pdf(offset - a) + (1 - share) * norm.pdf(offset + a)
    squared = (along_mu * strength) ** 2 + along_v**2 + 2 * along_mu * along_v * a
    return float(squared / (mass * (1 - mass)))


def split_risk(strength: float, angle: float, offset: float, share: float = 0.5) -> float:
    """Compute P(h(X) != Delta) of the rule v'X > offset, Definition 2."""
    a = strength * np.cos(angle)
    return float(share * norm.cdf(offset - a) + (1 - share) * norm.cdf(-offset - a))


def optimal_rule(strength: float, *, share: float = 0.5) -> SplitRule:
    """Compute h* of Definition 2, the Bayes rule: the direction of mu, cut where the weighted densities are equal.

    Parameters
    ----------
    strength : float
        `|mu|`, more than 0.
    share : float, default=0.5
        pi, the share of the cluster with mean +mu.

    Returns
    -------
    SplitRule
    """
    offset = float(np.log((1 - share) / share) / (2 * strength))
    return SplitRule(0.0, offset, split_risk(strength, 0.0, offset, share))


def kmeans_rule(strength: float, *, share: float = 0.5) -> SplitRule:
    """Find the population rule of 2-means by maximising SS_B over all hyperplanes.

    Parameters
    ----------
    strength : float
        `|mu|`, more than 0.
    share : float, default=0.5
        pi, the share of the cluster with mean +mu.

    Returns
    -------
    SplitRule
        With share = 1/2, Lemma 1 says: angle 0, offset 0, the risk of `optimal_rule`.
    """

    def loss(split: Any) -> float:
        return -between_of_split(strength, split[0], split[1], share=share)

    reach = strength + 2.0
    starts = [(angle, t) for angle in np.linspace(0, np.pi / 2, 7) for t in np.linspace(-reach, reach, 9)]
    start = min(starts, key=loss)
    options = {"xatol": 1e-9, "fatol": 1e-15}
    angle, offset = minimize(loss, np.add(start, 0.03), method="Nelder-Mead", options=options).x
    return SplitRule(float(abs(angle)), float(offset), split_risk(strength, angle, offset, share))


def simulate_kmeans_rule(
    n_samples: int, mu: Any, *, n_trials: int = 50, random_state: Any = None
) -> tuple[SplitRule, float]:
    """Measure the rule of K-means on samples of the balanced mixture, averaged over samples.

    Parameters
    ----------
    n_samples : int
        Rows of each sample.
    mu : array-like of shape (n_features,)
        Feature means, not all zero.
    n_trials : int, default=50
        Number of samples.
    random_state : int, RandomState, Generator or None, default=None
        Determines the samples and the starts of K-means.

    Returns
    -------
    rule : SplitRule
        Means of the angle, of the absolute offset and of the exact risk of the rule that each sample gave.
    std_error : float
        Standard error of the mean risk.
    """
    means = np.asarray(mu, dtype=np.float64)
    strength = float(np.linalg.norm(means))
    rng = np.random.default_rng(root_seed(random_state))
    found = np.empty((n_trials, 3))
    for trial in range(n_trials):
        sample = sample_mixture(n_samples, means, rng)
        centers = HartiganWongKMeans(2, random_state=rng).fit(sample).cluster_centers_
        normal = centers[0] - centers[1]
        length = float(np.linalg.norm(normal))
        cosine = float(normal @ means) / (length * strength)
        offset = float(normal @ centers.sum(axis=0)) / (2 * length) * (1.0 if cosine >= 0 else -1.0)
        angle = float(np.arccos(min(abs(cosine), 1.0)))
        found[trial] = angle, abs(offset), split_risk(strength, angle, offset)
    angle, offset, risk = found.mean(axis=0).tolist()
    return SplitRule(angle, offset, risk), float(found[:, 2].std(ddof=1) / np.sqrt(n_trials))
