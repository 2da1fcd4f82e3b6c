"""The feature profile: how strong each feature is on its own, and whether that tells a good q.

The strength of a feature is the kappa of K-means on that feature alone; a strong feature has a small one.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from clusterforests.backends import CpuBackend, KMeansJobs
from clusterforests.datasets import load_uci
from clusterforests.experiments.spec import CANDIDATES, DATASETS
from clusterforests.experiments.summary import METRICS, Results, forest_choice
from clusterforests.growth import kappa

FloatArray = npt.NDArray[np.float64]


class Profile(NamedTuple):
    """Strengths of a table's features. `drawn` ones have too few values to be clustered and got that of another."""

    strengths: FloatArray
    drawn: npt.NDArray[np.bool_]


class Summary(NamedTuple):
    """A profile in numbers, beside what feature competition did."""

    dataset: str
    features: int
    clusters: int
    drawn: int
    low: float  # 10th percentile of the strengths
    high: float  # 90th
    spread: float  # high / low; infinite where low is 0, not a number where both are
    noise: float  # the strength that a Gaussian feature without clusters would have
    weak: float  # share of features that are not stronger than that
    best_q_rho_r: int
    gain_rho_r: float  # of the best q over q = 1, in percent points
    best_q_rho_c: int
    gain_rho_c: float


def feature_profile(X: FloatArray, n_clusters: int, *, seed: int = 0) -> Profile:
    """kappa of every single feature, in `n_clusters` clusters.

    A feature with fewer distinct values than clusters gets the strength of another feature, drawn at random, as in
    the paper.
    """
    strengths = _single_feature_kappas(X, n_clusters)
    drawn = np.isinf(strengths)
    if drawn.all():
        raise ValueError(f"No feature has n_clusters={n_clusters} distinct values.")
    rng = np.random.default_rng(seed)
    strengths[drawn] = rng.choice(strengths[~drawn], size=int(drawn.sum()))
    return Profile(strengths, drawn)


def noise_strength(n_clusters: int) -> float:
    """kappa of a Gaussian feature that says nothing about any clusters; 0.571 in two."""
    quantiles = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    return float(_single_feature_kappas(quantiles[:, None], n_clusters)[0])


def _single_feature_kappas(X: FloatArray, n_clusters: int) -> FloatArray:
    """Infinite where there is no solution. One feature is solved exactly, whatever the seed."""
    n_features = X.shape[1]
    backend = CpuBackend()
    backend.load(np.ascontiguousarray(X, dtype=np.float64))
    jobs = KMeansJobs(
        features=[np.array([feature], dtype=np.int32) for feature in range(n_features)],
        clusters=np.full(n_features, n_clusters, dtype=np.int32),
        seeds=np.arange(n_features, dtype=np.uint64),
        n_init=20,
        max_iter=200,
    )
    return kappa(backend.kmeans(jobs), "centroid")


def load_profile(dataset: str) -> Profile:
    return feature_profile(load_uci(dataset).data, DATASETS[dataset][2])


def summarise(dataset: str, profile: Profile, forests: Results, patience: int = 1) -> Summary:
    clusters = DATASETS[dataset][2]
    low, high = np.quantile(profile.strengths, [0.1, 0.9]).tolist()
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = float(np.divide(high, low))
    noise = noise_strength(clusters)
    sweep = [best_competition(forests, dataset, metric, patience) for metric in METRICS]
    return Summary(
        dataset,
        len(profile.strengths),
        clusters,
        int(profile.drawn.sum()),
        low,
        high,
        spread,
        noise,
        float((profile.strengths >= noise).mean()),
        *sweep[0],
        *sweep[1],
    )


def best_competition(forests: Results, dataset: str, metric: str, patience: int) -> tuple[int, float]:
    """The q with the best mean, the smallest on ties, and what it gains over q = 1."""
    means = [forests.score(dataset, forest_choice(q, patience), metric).value for q in CANDIDATES]
    best = int(np.argmax(means))
    return CANDIDATES[best], means[best] - means[0]
