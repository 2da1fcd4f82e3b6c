"""Slow, plain versions of every kernel: what the fast ones are tested against."""

import itertools

import numpy as np
from scipy.spatial.distance import cdist


def centroids(X, labels, k, weights):
    return np.array([np.average(X[labels == c], axis=0, weights=weights[labels == c]) for c in range(k)])


def within(X, labels, weights=None):
    """Sum of squared distances to the centroids."""
    weights = np.ones(len(X)) if weights is None else weights
    total = 0.0
    for c in np.unique(labels):
        rows, w = X[labels == c], weights[labels == c]
        total += float((w[:, None] * (rows - np.average(rows, axis=0, weights=w)) ** 2).sum())
    return total


def between(X, labels, weights=None):
    weights = np.ones(len(X)) if weights is None else weights
    mean = np.average(X, axis=0, weights=weights)
    total = 0.0
    for c in np.unique(labels):
        w = weights[labels == c]
        total += float(w.sum() * ((np.average(X[labels == c], axis=0, weights=w) - mean) ** 2).sum())
    return total


def pair_sums(X, labels):
    """Sums of squared distances over pairs within clusters and between clusters."""
    apart = cdist(X, X, "sqeuclidean")
    together = labels[:, None] == labels[None, :]
    return apart[together].sum() / 2, apart[~together].sum() / 2


def best_move_gain(X, labels, k, weights=None):
    """The largest share of the objective that moving a single row to another cluster would gain (<= 0: none)."""
    weights = np.ones(len(X)) if weights is None else weights
    mass = np.bincount(labels, weights=weights, minlength=k)
    centers = centroids(X, labels, k, weights)
    apart = ((X[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
    own = labels[:, None] == np.arange(k)[None, :]
    w = weights[:, None]
    leaves = np.where(mass[None, :] > w, mass / np.maximum(mass[None, :] - w, 1e-300), 0.0)
    leave = (w * apart * leaves)[np.arange(len(X)), labels]
    join = np.where(own, np.inf, w * apart * mass / (mass + w)).min(axis=1)
    return float((leave - join).max() / max(float((w * apart * own).sum()), 1e-300))


def optimal_line(x, k):
    """The best within sum of squares of points on a line, over all partitions into k intervals."""
    x = np.sort(x)
    cuts = itertools.combinations(range(1, len(x)), k - 1)
    return min(sum(((p - p.mean()) ** 2).sum() for p in np.split(x, list(cut))) for cut in cuts)


def nearest(X, centers):
    return cdist(X, centers, "sqeuclidean").argmin(axis=1)


def coassociation(partitions_a, partitions_b):
    """Share of partitions with equal labels among those in which both rows are clustered."""
    n, m = partitions_a.shape[1], partitions_b.shape[1]
    P = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            a, b = partitions_a[:, i], partitions_b[:, j]
            both = (a >= 0) & (b >= 0)
            P[i, j] = (a[both] == b[both]).mean() if both.any() else 0.0
    return P


def regularised(P, threshold, sharpness):
    return np.exp(sharpness * np.where(threshold > P, 0, P))


def second_vector(W):
    """Second eigenvector of D^-1/2 W D^-1/2, and the gap to the third eigenvalue."""
    root = np.sqrt(W.sum(axis=1))
    values, vectors = np.linalg.eigh(W / np.outer(root, root))
    return vectors[:, -2], values[-2] - values[-3]


def ncut_value(W, right):
    crossing = W[np.ix_(right, ~right)].sum()
    return crossing / W[right].sum() + crossing / W[~right].sum()


def recursive_cut(W, n_clusters):
    """Sign cuts, the largest part next."""
    parts = [np.arange(len(W))]
    while len(parts) < n_clusters:
        parts.sort(key=len)
        part = parts.pop()
        vector, _ = second_vector(W[np.ix_(part, part)])
        parts += [part[vector < 0], part[vector >= 0]]
    labels = np.empty(len(W), dtype=int)
    for label, part in enumerate(parts):
        labels[part] = label
    return labels


def accuracy(true, found):
    """Best agreement over all one-to-one matchings of labels, by trying them all."""
    classes, clusters = np.unique(true), np.unique(found)
    size = max(len(classes), len(clusters))
    table = np.zeros((size, size))
    for i, a in enumerate(classes):
        for j, b in enumerate(clusters):
            table[i, j] = np.sum((true == a) & (found == b))
    best = max(sum(table[i, p[i]] for i in range(size)) for p in itertools.permutations(range(size)))
    return best / len(true)


def rand(true, found):
    n = len(true)
    agree = sum((true[i] == true[j]) == (found[i] == found[j]) for i in range(n) for j in range(i + 1, n))
    return agree / (n * (n - 1) / 2)
