"""Feature profiles: how strong each feature is on its own, of the paper's data sets; whether they tell a good q."""

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.utils import check_array

from clusterforests._utils.arrays import BoolArray, FloatArray
from clusterforests._utils.validation import check_parameters, integer
from clusterforests.backends import CpuBackend, KMeansJobs
from clusterforests.trees.growth import kappa
from paper.datasets import load_uci
from paper.experiments.spec import CANDIDATES, DATASETS
from paper.experiments.summary import METRICS, Results, forest_choice


class Profile(NamedTuple):
    """Strengths of a table's features. Those `drawn` had too few values to be clustered, and got that of another."""

    strengths: FloatArray
    drawn: BoolArray


def feature_profile(X: Any, n_clusters: int, *, seed: int = 0) -> Profile:
    """Measure the strength of each feature: kappa of K-means on that feature alone, small for a strong feature.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers; NaN is a missing cell, which is left out.
    n_clusters : int
        Number of clusters, at least 2.
    seed : int, default=0
        Determines what features with fewer distinct values than clusters get: as in the paper, the strength of
        another feature, drawn at random.

    Returns
    -------
    profile : Profile
        With `strengths` and `drawn`, both of shape (n_features,).
    """
    check_parameters({"n_clusters": n_clusters, "seed": seed}, {"n_clusters": integer(2), "seed": integer(0)})
    strengths = single_feature_kappas(
        check_array(X, dtype=np.float64, ensure_all_finite="allow-nan", input_name="X"), n_clusters
    )
    drawn = np.isinf(strengths)
    if drawn.all():
        raise ValueError(f"No feature has n_clusters={n_clusters} distinct values.")
    rng = np.random.default_rng(seed)
    strengths[drawn] = rng.choice(strengths[~drawn], size=int(drawn.sum()))
    return Profile(strengths, drawn)


def noise_strength(n_clusters: int) -> float:
    """Compute kappa of a Gaussian feature that says nothing about any clusters; 0.571 for two."""
    quantiles = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    return float(single_feature_kappas(quantiles[:, None], n_clusters)[0])


def single_feature_kappas(X: FloatArray, n_clusters: int) -> FloatArray:
    """Compute kappa of each feature, exactly and whatever the seed; infinite where there is no solution."""
    known = ~np.isnan(X)
    kappas = np.full(X.shape[1], np.inf)
    whole = np.flatnonzero(known.all(axis=0))
    if len(whole):
        kappas[whole] = _kappas(X[:, whole], n_clusters)
    for j in np.flatnonzero(~known.all(axis=0) & known.any(axis=0)):
        kappas[j] = _kappas(X[known[:, j], j : j + 1], n_clusters)[0]
    return kappas


def _kappas(X: FloatArray, n_clusters: int) -> FloatArray:
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
