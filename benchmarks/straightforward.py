"""Cluster Forests as one would write it with scikit-learn: the peer of the whole-forest benchmark."""

from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering


@dataclass
class Straightforward:
    """The paper's settings: b = 2, q = 1, tau_m = patience, n_b = n_f, 20 random starts."""

    n_clusters: int
    n_estimators: int = 100
    patience: int = 3
    seed: int = 0

    def fit_predict(self, X):
        rng = np.random.default_rng(self.seed)
        P = np.zeros((len(X), len(X)))
        for _ in range(self.n_estimators):
            labels = self._grow(X, rng)
            P += labels[:, None] == labels[None, :]
        P /= self.n_estimators
        W = np.exp(0.1 * self.n_estimators * np.where(P < 0.4, 0, P))
        return SpectralClustering(self.n_clusters, affinity="precomputed", random_state=self.seed).fit_predict(W)

    def _grow(self, X, rng):
        vector = self._usable_draw(X, rng)
        kappa, labels = self._cluster(X[:, vector], rng)
        failures = 0
        while failures < self.patience:
            tried = np.concatenate([vector, rng.integers(0, X.shape[1], 2)])
            new_kappa, new_labels = self._cluster(X[:, tried], rng)
            if new_kappa < kappa:
                vector, kappa, labels, failures = tried, new_kappa, new_labels, 0
            else:
                failures += 1
        return labels

    def _usable_draw(self, X, rng):
        while True:
            vector = rng.integers(0, X.shape[1], 2)
            if len(np.unique(X[:, vector], axis=0)) >= self.n_clusters:
                return vector

    def _cluster(self, part, rng):
        found = KMeans(
            self.n_clusters,
            init="random",
            n_init=20,
            max_iter=200,
            tol=0,
            random_state=int(rng.integers(2**31)),
        ).fit(part)
        total = ((part - part.mean(axis=0)) ** 2).sum()
        return found.inertia_ / max(total - found.inertia_, 1e-300), found.labels_
