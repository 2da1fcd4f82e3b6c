"""The methods that ClusterForest is compared with. To add one, add a line to `PEERS`."""

import importlib.util
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.peer_methods import (
    MOST_ROWS,
    MOST_WORK,
    REPEATS,
    SILHOUETTE_ROWS,
    consensus_plus,
    hdbscan_as_it_is,
    kmeans_by_silhouette,
    locally_weighted,
    mixture_by_bic,
    sparse_kmeans,
)
from benchmarks.peer_methods import installed as r_installed
from clusterforests import PaperForest, consensus_clustering
from clusterforests._utils.random import integers, stream

FloatArray = npt.NDArray[np.float64]
Labels = npt.NDArray[Any]

MEMBERS = 100  # base clusterings of EAC and LWEA
FEW_COLUMNS = 20  # principal components a mixture gets where the table is too wide for it


class Outcome(NamedTuple):
    """Labels; a function that gives the weight of each feature, if the method has any; its own count of seconds.

    `n_found` is the number of clusters where that is not the number of labels.
    """

    labels: Labels
    importances: Callable[[], FloatArray] | None = None
    seconds: float | None = None
    n_found: int | None = None


class Peer(NamedTuple):
    """A peer: its labels from a table, the number of clusters and a seed, and what the table of results says of it."""

    fit: Callable[[FloatArray, int, int], Labels | Outcome]
    about: str
    random: bool = True  # if not, it runs once
    slow: bool = False  # if so, it runs with two seeds at most
    needs: str = ""  # a Python package, or "R"


class TooLarge(Exception):
    """The table is beyond what the peer can be given."""


def kmeans(X: FloatArray, k: int, seed: int) -> Labels:
    return KMeans(k, n_init=10, random_state=seed).fit_predict(X)


def pca_kmeans(X: FloatArray, k: int, seed: int) -> Labels:
    return kmeans(PCA(n_components=0.9, svd_solver="full").fit_transform(X), k, seed)


def few_pca_kmeans(X: FloatArray, k: int, seed: int) -> Labels:
    return kmeans(PCA(min(k, *X.shape), random_state=seed).fit_transform(X), k, seed)


def ward(X: FloatArray, k: int, seed: int) -> Labels:
    return AgglomerativeClustering(k, linkage="ward").fit_predict(X)


def mixture(covariance: str, reduce: bool = True) -> Callable[[FloatArray, int, int], Labels]:
    """Make a Gaussian mixture with three starts; if `reduce`, on principal components where the table is wide."""

    def fit(X: FloatArray, k: int, seed: int) -> Labels:
        X = few_columns(X, seed) if reduce else X
        ridge = max(1e-4 * float(np.median(X.var(axis=0))), 1e-6)
        model = GaussianMixture(k, covariance_type=covariance, n_init=3, reg_covar=ridge, random_state=seed)
        return model.fit_predict(X)

    return fit


def few_columns(X: FloatArray, seed: int) -> FloatArray:
    """Return principal components where the table is too wide for a mixture."""
    n, p = X.shape
    if p <= 100 and p <= n / 4:
        return X
    return PCA(max(1, min(FEW_COLUMNS, p, n // 5)), random_state=seed).fit_transform(X)


def spectral(X: FloatArray, k: int, seed: int) -> Labels:
    return SpectralClustering(k, affinity="nearest_neighbors", random_state=seed).fit_predict(X)


def genie(X: FloatArray, k: int, seed: int) -> Labels:
    from genieclust import Genie

    return Genie(n_clusters=k).fit_predict(X)


def lumbermark(X: FloatArray, k: int, seed: int) -> Labels:
    from lumbermark import Lumbermark

    return Lumbermark(n_clusters=k).fit_predict(X)


def base_clusterings(X: FloatArray, k: int, seed: int) -> npt.NDArray[np.int32]:
    """Return many runs of K-means with varied K."""
    members = np.arange(MEMBERS)
    most = max(k + 2, math.isqrt(len(X)))
    clusters = np.minimum(k + integers(stream(seed, 0, members), most - k + 1), len(np.unique(X, axis=0)))
    seeds = integers(stream(seed, 1, members), 2**31 - 1)
    runs = [KMeans(c, init="random", n_init=1, random_state=s) for c, s in zip(clusters, seeds.tolist(), strict=True)]
    return np.array([run.fit_predict(X) for run in runs])


def evidence_average(X: FloatArray, k: int, seed: int) -> Labels:
    """Accumulate evidence as is usual since Fred and Jain 2005: varied base K, average linkage."""
    return consensus_clustering(list(base_clusterings(X, k, seed)), k, method="average")


def weighted_evidence(X: FloatArray, k: int, seed: int) -> Labels:
    return locally_weighted(base_clusterings(X, k, seed), k)


def sparse(X: FloatArray, k: int, seed: int) -> Outcome:
    found = sparse_kmeans(X - X.mean(axis=0), k, seed)
    return Outcome(found.labels, lambda: found.weights)


def embed(X: FloatArray, seed: int) -> FloatArray:
    """Embed by UMAP with the settings its documentation gives for clustering."""
    from umap import UMAP

    neighbours = min(30, len(X) - 1)
    return UMAP(n_neighbors=neighbours, min_dist=0.0, n_jobs=1, random_state=seed).fit_transform(X)


def umap_kmeans(X: FloatArray, k: int, seed: int) -> Labels:
    return kmeans(embed(X, seed), k, seed)


def hdbscan(X: FloatArray, k: int, seed: int) -> Labels:
    """Find clusters of at least 2 % of the rows; a row called noise joins the cluster of its nearest labelled row."""
    from hdbscan import HDBSCAN

    smallest = max(10, len(X) // 50)
    model = HDBSCAN(min_cluster_size=smallest, min_samples=min(10, len(X) - 1), core_dist_n_jobs=1)
    labels = model.fit_predict(X)
    noise = labels < 0
    if noise.all():
        return np.zeros(len(X), dtype=int)
    if noise.any():
        labels[noise] = KNeighborsClassifier(1).fit(X[~noise], labels[~noise]).predict(X[noise])
    return labels


def umap_hdbscan(X: FloatArray, k: int, seed: int) -> Labels:
    return hdbscan(embed(X, seed).astype(np.float64), k, seed)


def noise_apart(labels: Labels) -> Outcome:
    """Score the rows called noise as a group of their own that is not counted; without any cluster, K is 1."""
    n_found = int(labels.max()) + 1
    return Outcome(np.where(labels < 0, n_found, labels), n_found=max(n_found, 1))


def consensus_by(algorithm: str, most: int = 3) -> Callable[[FloatArray, int, int], Outcome]:
    """Make a run of ConsensusClusterPlus for 2 to K clusters, or to `most` if that is more; its least is 3."""

    def fit(X: FloatArray, k: int, seed: int) -> Outcome:
        if len(X) ** 2 * k > MOST_WORK:
            raise TooLarge(f"rows² x K > {MOST_WORK:,}")
        labels, seconds = consensus_plus(X, k, seed, algorithm, max(k, most))
        return Outcome(labels, seconds=seconds)

    return fit


def published_forest(X: FloatArray, k: int, seed: int) -> Labels:
    return PaperForest(k, random_state=seed).fit_predict(X)


_WIDE = f"3 starts, on {FEW_COLUMNS} principal components where p > 100 or p > n / 4"
_CCP = f"ConsensusClusterPlus (R), {{}}, {REPEATS} subsamples of 80 % of the rows, where rows² x K <= {MOST_WORK:,}"
PEERS: dict[str, Peer] = {
    "KMeans": Peer(kmeans, "scikit-learn, `n_init=10`"),
    "PCA + KMeans": Peer(pca_kmeans, "as many principal components as hold 90 % of the variance, then KMeans"),
    "PCA(K) + KMeans": Peer(few_pca_kmeans, "K principal components, then KMeans"),
    "Ward": Peer(ward, "scikit-learn's `AgglomerativeClustering`", random=False),
    "GMM diag": Peer(mixture("diag"), f"scikit-learn's `GaussianMixture`, diagonal covariances, {_WIDE}"),
    "GMM diag, no PCA": Peer(mixture("diag", reduce=False), "the same on the table itself, however wide"),
    "GMM full": Peer(mixture("full"), "as GMM diag with full covariances"),
    "GMM tied": Peer(mixture("tied"), "as GMM diag with one full covariance for all"),
    "Spectral": Peer(spectral, "scikit-learn's `SpectralClustering` on the graph of 10 nearest neighbours"),
    "Genie": Peer(genie, "genieclust with its defaults", random=False, needs="genieclust"),
    "Lumbermark": Peer(lumbermark, "lumbermark with its defaults", random=False, needs="lumbermark"),
    "EAC": Peer(
        evidence_average,
        f"evidence accumulation: {MEMBERS} scikit-learn `KMeans(init='random', n_init=1)`, base K uniform on K, ..., "
        "max(K + 2, sqrt n), average linkage on the shares",
        slow=True,
    ),
    "LWEA": Peer(
        weighted_evidence,
        "the same base clusterings, shares weighted by how certain each cluster is (Huang, Wang and Lai 2018, "
        "theta 0.4), average linkage",
        slow=True,
    ),
    "Sparse KMeans": Peer(sparse, "Witten and Tibshirani 2010, bound chosen by the gap statistic", slow=True),
    "UMAP + KMeans": Peer(
        umap_kmeans, "UMAP with 30 neighbours, `min_dist=0`, 2 dimensions, KMeans", True, True, "umap"
    ),
    "UMAP + HDBSCAN": Peer(
        umap_hdbscan,
        "the same embedding, HDBSCAN with clusters of at least 2 % of the rows, which is not told K; noise joins the "
        "nearest cluster",
        slow=True,
        needs="umap",
    ),
    "HDBSCAN": Peer(hdbscan, "the same HDBSCAN on the table itself", random=False, needs="hdbscan"),
    "CCP km": Peer(consensus_by("km"), _CCP.format("K-means"), slow=True, needs="R"),
    "CCP hc": Peer(consensus_by("hc"), _CCP.format("average linkage, Pearson distance"), slow=True, needs="R"),
    "CCP km, maxK 8": Peer(consensus_by("km", 8), "the same for 2 to 8 clusters", slow=True, needs="R"),
    "CCP hc, maxK 8": Peer(consensus_by("hc", 8), "the same for 2 to 8 clusters", slow=True, needs="R"),
    "PaperForest": Peer(published_forest, "the published algorithm"),
}
_SAMPLED = f"K chosen on {MOST_ROWS:,} random rows where there are more"
# Those that are not told K; the two with HDBSCAN above are not, either.
CHOOSERS: dict[str, Peer] = {
    "KMeans + silhouette": Peer(
        lambda X, k, seed: kmeans_by_silhouette(X, seed),
        "scikit-learn's KMeans, `n_init=10`, with the K from 2 to 15 of largest mean silhouette (of "
        f"{SILHOUETTE_ROWS:,} rows at most); {_SAMPLED}",
    ),
    "KMeans + silhouette to 50": Peer(
        lambda X, k, seed: kmeans_by_silhouette(X, seed, 50), "the same with K from 2 to 50", slow=True
    ),
    "GMM full + BIC": Peer(
        lambda X, k, seed: mixture_by_bic(few_columns(X, seed), seed, "full"),
        "scikit-learn's `GaussianMixture` with its defaults, full covariances, the number of components from 1 to 15 "
        f"by the BIC; on {FEW_COLUMNS} principal components where p > 100 or p > n / 4; {_SAMPLED}",
    ),
    "GMM diag + BIC": Peer(
        lambda X, k, seed: mixture_by_bic(few_columns(X, seed), seed, "diag"), "the same with diagonal covariances"
    ),
    "HDBSCAN, defaults": Peer(
        lambda X, k, seed: noise_apart(hdbscan_as_it_is(X)),
        "scikit-learn's HDBSCAN with its defaults; the rows it calls noise are scored as one more group that does not "
        "count as a cluster, and no cluster counts as 1",
        random=False,
    ),
    "UMAP + HDBSCAN, defaults": Peer(
        lambda X, k, seed: noise_apart(hdbscan_as_it_is(embed(X, seed))),
        "the same on the embedding of UMAP + HDBSCAN",
        slow=True,
        needs="umap",
    ),
}
PEERS |= CHOOSERS
# What a benchmark runs if it is not told otherwise.
_ONLY = {"HDBSCAN", "CCP km, maxK 8", "CCP hc, maxK 8", *CHOOSERS}
NOISE_PEERS = [name for name in PEERS if name not in _ONLY]
SHAPE_PEERS = [name for name in NOISE_PEERS if not name.startswith(("CCP", "Sparse", "PCA", "GMM diag, "))] + [
    "HDBSCAN"
]
REAL_PEERS = NOISE_PEERS
CHOOSING_PEERS = [*CHOOSERS, "HDBSCAN", "UMAP + HDBSCAN"]
TIMED_PEERS = ["CCP km, maxK 8", "CCP hc, maxK 8"]


def missing_peers(names: Sequence[str]) -> dict[str, str]:
    """Return the chosen peers that cannot run here, with what each needs."""
    found = {}
    for name in names:
        needed = PEERS[name].needs if name in PEERS else ""
        there = r_installed() if needed == "R" else not needed or importlib.util.find_spec(needed) is not None
        if not there:
            found[name] = "R with ConsensusClusterPlus" if needed == "R" else needed
    return found
