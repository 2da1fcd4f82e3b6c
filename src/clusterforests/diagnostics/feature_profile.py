"""The feature profile: how strong each feature is on its own."""

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from clusterforests._base.parameters import check_parameters, integer
from clusterforests._base.typing import BoolArray, FloatArray
from clusterforests.backends import CpuBackend, KMeansJobs
from clusterforests.diagnostics.arguments import SEED
from clusterforests.diagnostics.separation import check_cells
from clusterforests.forest.growth import kappa


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
    check_parameters({"n_clusters": n_clusters, "seed": seed}, {"n_clusters": integer(2), "seed": SEED})
    strengths = single_feature_kappas(check_cells(X), n_clusters)
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
