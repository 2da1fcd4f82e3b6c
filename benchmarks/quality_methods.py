"""What is compared: peers, and configurations of ClusterForest. To add one, add a line to `PEERS` or `OURS`."""

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

from clusterforests import ClusterForest, consensus
from clusterforests._base.random import integers, stream
from clusterforests.baselines import EvidenceAccumulation

try:
    from genieclust import Genie
except ImportError:
    Genie = None  # only this peer is missing then

FloatArray = npt.NDArray[np.float64]
Labels = npt.NDArray[Any]

# Parameters of ClusterForest by name of the configuration. The first is what users get; the others switch off one
# choice each, and make the ablation table.
DEFAULT = "default"
OURS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "scale=none": {"scale": "none"},
    "scale=standard": {"scale": "standard"},
    "scale=range": {"scale": "range"},
    "scale=rank": {"scale": "rank"},
    "features_per_draw=2": {"features_per_draw": 2},
    "all features": {"features_per_draw": 10**6},
    "n_candidates=3": {"n_candidates": 3},
    "base_clusters=K": {"base_clusters": None},
    "patience=3, n_estimators=100": {"patience": 3, "n_estimators": 100},
    "repeat_features": {"repeat_features": True},
    "plain kappa": {"quality": "centroid"},
    "n_init=20": {"n_init": 20},
    "consensus=ncut": {"consensus": "ncut"},
    "consensus=kway": {"consensus": "kway"},
    "consensus=average": {"consensus": "average"},
    "consensus=average-trimmed": {"consensus": "average-trimmed"},
    "threshold=0.4": {"threshold": 0.4},
    "n_estimators=100": {"n_estimators": 100},
    "max_samples=None": {"max_samples": None},
}


class Peer(NamedTuple):
    """A peer: its labels from a table, the number of clusters and a seed, and what the table of results says of it."""

    fit: Callable[[FloatArray, int, int], Labels]
    about: str
    random: bool = True  # if not, it runs once


def kmeans(X: FloatArray, k: int, seed: int) -> Labels:
    return KMeans(k, n_init=10, random_state=seed).fit_predict(X)


def pca_kmeans(X: FloatArray, k: int, seed: int) -> Labels:
    return kmeans(PCA(n_components=0.9).fit_transform(X), k, seed)


def ward(X: FloatArray, k: int, seed: int) -> Labels:
    return AgglomerativeClustering(k, linkage="ward").fit_predict(X)


def mixture(X: FloatArray, k: int, seed: int) -> Labels:
    return GaussianMixture(k, covariance_type="diag", random_state=seed).fit_predict(X)


def spectral(X: FloatArray, k: int, seed: int) -> Labels:
    return SpectralClustering(k, affinity="nearest_neighbors", random_state=seed).fit_predict(X)


def genie(X: FloatArray, k: int, seed: int) -> Labels:
    return Genie(n_clusters=k).fit_predict(X)


def evidence(X: FloatArray, k: int, seed: int) -> Labels:
    return EvidenceAccumulation(k, random_state=seed).fit_predict(X)


def evidence_average(X: FloatArray, k: int, seed: int, n_estimators: int = 100) -> Labels:
    """Evidence accumulation as it is mostly used since Fred and Jain 2005: varied base K, average linkage."""
    members = np.arange(n_estimators)
    most = max(k + 2, math.isqrt(len(X)))
    clusters = np.minimum(k + integers(stream(seed, 0, members), most - k + 1), len(np.unique(X, axis=0)))
    seeds = integers(stream(seed, 1, members), 2**31 - 1)
    runs = [KMeans(c, init="random", n_init=1, random_state=s) for c, s in zip(clusters, seeds.tolist(), strict=True)]
    return consensus([run.fit_predict(X) for run in runs], k, method="average")


def published_forest(X: FloatArray, k: int, seed: int) -> Labels:
    return ClusterForest.from_paper(k, random_state=seed).fit_predict(X)


PEERS: dict[str, Peer] = {
    "KMeans": Peer(kmeans, "scikit-learn, `n_init=10`"),
    "PCA + KMeans": Peer(pca_kmeans, "as many principal components as hold 90 % of the variance, then KMeans"),
    "Ward": Peer(ward, "scikit-learn's `AgglomerativeClustering`", random=False),
    "GMM": Peer(mixture, "scikit-learn's `GaussianMixture`, diagonal covariances"),
    "Spectral": Peer(spectral, "scikit-learn's `SpectralClustering` on the graph of 10 nearest neighbours"),
    "Genie": Peer(genie, "genieclust with its defaults", random=False),
    "EA": Peer(
        evidence,
        "`EvidenceAccumulation` as in the paper: base K = K, threshold 0.5, which determines the number of clusters",
    ),
    "EAC": Peer(
        evidence_average,
        "evidence accumulation: 100 scikit-learn `KMeans(init='random', n_init=1)`, base K uniform on K, ..., "
        "max(K + 2, sqrt n), average linkage on the shares",
    ),
    "from_paper": Peer(published_forest, "`ClusterForest.from_paper`"),
}


def labels_of(method: str, X: FloatArray, k: int, seed: int) -> Labels:
    if method in PEERS:
        return PEERS[method].fit(X, k, seed)
    return ClusterForest(k, random_state=seed, **OURS[method]).fit_predict(X)


def is_random(method: str) -> bool:
    return method not in PEERS or PEERS[method].random


def check_methods(names: Sequence[str]) -> None:
    """A misspelt parameter or a package that is not there must stop the run, not score 0."""
    if "Genie" in names and Genie is None:
        raise ImportError("The peer Genie needs genieclust: pip install 'clusterforests[bench]'.")
    known = inspect.signature(ClusterForest).parameters
    for name in names:
        if unknown := [key for key in OURS.get(name, {}) if key not in known]:
            raise ValueError(f"OURS[{name!r}] sets {', '.join(unknown)}, which ClusterForest does not have.")
