"""Sparse K-means of Witten and Tibshirani (JASA 2010), written plainly: a peer of the benchmarks.

It maximises sum_j w_j b_j over clusters and weights, where b_j is the between-cluster sum of squares of feature j,
under ||w||_2 <= 1, ||w||_1 <= s and w >= 0. The bound s is chosen by the gap statistic over permuted columns.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

FloatArray = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int32]

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
