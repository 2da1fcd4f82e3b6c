"""Other methods that no Python package offers, written plainly, and ConsensusClusterPlus of R.

- Locally weighted evidence accumulation (LWEA): Huang, Wang and Lai, IEEE Trans. Cybernetics 2018.
- Sparse K-means: Witten and Tibshirani, JASA 2010.
- K-means by silhouette and mixtures by BIC: ways to choose the number of clusters that are common elsewhere. K is
  chosen on at most `MOST_ROWS` random rows, then all rows are clustered with it.
- ConsensusClusterPlus (Bioconductor) through Rscript, where R and the package are installed.
"""

import functools
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import cut_tree, linkage
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture

FloatArray = npt.NDArray[np.float64]
Labels = npt.NDArray[Any]

THETA = 0.4  # of LWEA, the authors' setting


def locally_weighted(labels: Labels, k: int) -> Labels:
    """Cut average linkage of the weighted shares; `labels` has a base clustering in each row."""
    n_members, n_rows = labels.shape
    weights = np.stack([w[row] for w, row in zip(cluster_weights(labels), labels, strict=True)]).astype(np.float32)
    columns, by_row = np.ascontiguousarray(labels.T), np.ascontiguousarray(weights.T)
    distance = np.empty(n_rows * (n_rows - 1) // 2, dtype=np.float32)
    at = 0
    for i in range(n_rows - 1):
        shares = (columns[i + 1 :] == columns[i]) @ by_row[i] / n_members
        distance[at : at + len(shares)] = 1 - shares
        at += len(shares)
    return cut_tree(linkage(distance, "average"), n_clusters=k)[:, 0]


def cluster_weights(labels: Labels) -> list[npt.NDArray[np.float64]]:
    """Return exp(-H / (theta M)) for the clusters of each member, H their entropy summed over the M members."""
    sizes = labels.max(axis=1) + 1
    weights = []
    for own, size in zip(labels, sizes, strict=True):
        entropy = np.zeros(size)
        for other, other_size in zip(labels, sizes, strict=True):
            counts = np.bincount(own * other_size + other, minlength=size * other_size).reshape(size, other_size)
            share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
            entropy -= (share * np.log2(np.where(share > 0, share, 1))).sum(axis=1)
        weights.append(np.exp(-entropy / (THETA * len(labels))))
    return weights


# Sparse K-means: maximise sum_j w_j b_j over clusters and weights, where b_j is the between-cluster sum of squares of
# feature j, under ||w||_2 <= 1, ||w||_1 <= s and w >= 0. The gap statistic over permuted columns chooses s.

BOUNDS = 6  # values of s on a logarithmic grid from 1.2 to 0.9 sqrt(p)
ROUNDS = 6  # of clusters given weights, then weights given clusters
MANY_CELLS = 500_000  # above this, 2 permutations instead of 5


class Sparse(NamedTuple):
    labels: Labels
    weights: FloatArray
    objective: float


def sparse_kmeans(Z: FloatArray, k: int, seed: int) -> Sparse:
    """Cluster z-scored columns with the bound s that has the largest gap."""
    n, p = Z.shape
    rng = np.random.default_rng(seed)
    start = KMeans(k, n_init=10, random_state=seed).fit_predict(Z)
    shuffled = [rng.permuted(Z, axis=0) for _ in range(5 if n * p <= MANY_CELLS else 2)]
    nulls = [(P, KMeans(k, n_init=1, random_state=seed).fit_predict(P)) for P in shuffled]
    best, widest = None, -np.inf
    for bound in np.geomspace(1.2, max(1.2, 0.9 * np.sqrt(p)), BOUNDS):
        found = fit_with_bound(Z, k, float(bound), start, seed)
        null = [fit_with_bound(P, k, float(bound), labels, seed).objective for P, labels in nulls]
        gap = np.log(found.objective) - np.mean(np.log(null))
        if best is None or gap > widest:
            best, widest = found, gap
    assert best is not None
    return best


def fit_with_bound(Z: FloatArray, k: int, bound: float, labels: Labels, seed: int) -> Sparse:
    """Alternate between weights and weighted K-means, from given clusters."""
    between = between_sums(Z, labels, k)
    weights = bounded_weights(between, bound)
    for _ in range(ROUNDS - 1):
        kept = weights > 0
        labels = KMeans(k, n_init=3, random_state=seed).fit_predict(Z[:, kept] * np.sqrt(weights[kept]))
        between = between_sums(Z, labels, k)
        before, weights = weights, bounded_weights(between, bound)
        if np.abs(weights - before).sum() < 1e-4 * before.sum():
            break
    return Sparse(labels, weights, float(weights @ between))


def between_sums(Z: FloatArray, labels: Labels, k: int) -> FloatArray:
    """Between-cluster sum of squares of every centred column."""
    members = np.eye(k)[labels]
    return ((members.T @ Z) ** 2 / np.maximum(members.sum(axis=0), 1)[:, None]).sum(axis=0)


def bounded_weights(between: FloatArray, bound: float) -> FloatArray:
    """Maximise w'b under the two bounds: soft-threshold b, with the threshold found by bisection."""

    def thresholded(by: float) -> FloatArray:
        w = np.maximum(between - by, 0)
        return w / np.linalg.norm(w)

    w = thresholded(0.0)
    if w.sum() <= bound:
        return w
    low, high = 0.0, float(between.max())
    for _ in range(60):
        middle = (low + high) / 2
        if np.count_nonzero(between > middle) > 1 and thresholded(middle).sum() > bound:
            low = middle
        else:
            high = middle
    return thresholded(low)


# Ways to choose the number of clusters.

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


# ConsensusClusterPlus.

SCRIPT = Path(__file__).with_name("consensus_plus.R")
REPEATS = 100
MOST_WORK = 8_000_000  # rows² x K: it handles a matrix of rows by rows for every K and repeat in R, half a minute here


class Found(NamedTuple):
    labels: npt.NDArray[np.int64]
    seconds: float  # processor seconds of the R function alone: neither R's start nor reading the table


@functools.cache
def installed() -> bool:
    """Return whether R with ConsensusClusterPlus is there."""
    if shutil.which("Rscript") is None:
        return False
    asked = "quit(status = !requireNamespace('ConsensusClusterPlus', quietly = TRUE))"
    return subprocess.run(["Rscript", "-e", asked], capture_output=True).returncode == 0


def consensus_plus(X: npt.NDArray[np.float64], k: int, seed: int, algorithm: str, max_k: int) -> Found:
    """Cluster with "km" (Euclidean distance) or "hc" (Pearson's, its default); 100 subsamples of 80 % of the rows."""
    with tempfile.TemporaryDirectory() as folder:
        table, labels = Path(folder, "table"), Path(folder, "labels")
        np.ascontiguousarray(X, dtype=np.float64).tofile(table)
        numbers = (algorithm, max_k, k, REPEATS, seed)
        command = ["Rscript", SCRIPT, table, *X.shape, *numbers, labels]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL, 128 + signal.SIGXCPU):
            raise TimeoutError("R was stopped")
        if done.returncode:
            raise RuntimeError(f"Rscript failed: {done.stderr[-150:]}")
        seconds, *found = labels.read_text().split()
    return Found(np.array(found, dtype=np.int64), float(seconds))
