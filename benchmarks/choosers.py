"""Ways to choose the number of clusters that are common elsewhere, for the benchmark of that choice.

K is chosen on at most `MOST_ROWS` random rows, then all rows are clustered with it.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture

FloatArray = npt.NDArray[np.float64]
Labels = npt.NDArray[np.intp]

MOST_ROWS = 5_000  # that K is chosen on
SILHOUETTE_ROWS = 2_000  # that silhouettes are computed of


def kmeans_by_silhouette(X: FloatArray, seed: int, most: int = 15) -> Labels:
    """Run K-means with the K from 2 to `most` of largest mean silhouette."""
    some = _sample(X, MOST_ROWS, seed)
    shown = _sample(np.arange(len(some)), SILHOUETTE_ROWS, seed)
    merits = {}
    for k in range(2, min(most, len(some) - 1) + 1):
        labels = _kmeans(k, seed).fit_predict(some)[shown]
        if 1 < len(np.unique(labels)) < len(labels):
            merits[k] = silhouette_score(some[shown], labels)
    return _kmeans(max(merits, key=lambda k: merits[k]), seed).fit_predict(X)


def mixture_by_bic(X: FloatArray, seed: int, covariance: str, most: int = 15) -> Labels:
    """Fit Gaussian mixtures with scikit-learn's defaults; the BIC chooses from 1 to `most` components.

    A number of components for which the fit fails is not chosen.
    """
    some = _sample(X, MOST_ROWS, seed)
    merits = {}
    for k in range(1, min(most, len(some)) + 1):
        try:
            merits[k] = _mixture(k, covariance, seed).fit(some).bic(some)
        except ValueError:  # a covariance that is not positive definite
            continue
    return _mixture(min(merits, key=lambda k: merits[k]), covariance, seed).fit_predict(X)


def hdbscan_as_it_is(X: FloatArray) -> Labels:
    """Run scikit-learn's HDBSCAN with its defaults: clusters of at least 5 rows, -1 for noise."""
    return HDBSCAN(copy=True).fit_predict(X)


def _sample(rows: npt.NDArray[Any], most: int, seed: int) -> npt.NDArray[Any]:
    if len(rows) <= most:
        return rows
    return rows[np.sort(np.random.default_rng(seed).choice(len(rows), most, replace=False))]


def _kmeans(k: int, seed: int) -> KMeans:
    return KMeans(k, n_init=10, random_state=seed)


def _mixture(k: int, covariance: str, seed: int) -> GaussianMixture:
    return GaussianMixture(k, covariance_type=covariance, random_state=seed)
