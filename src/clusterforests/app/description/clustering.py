"""How sure a forest is of the whole clustering, of each cluster and of each row: what is described and reported."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, rand_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.pipeline import Pipeline

from clusterforests._utils.arrays import BoolArray, FloatArray, IndexArray
from clusterforests._utils.devices import in_memory
from clusterforests.inspection import HalfCuts, Stability, consensus_silhouette, stability
from clusterforests.inspection.memberships import mean_of, nearest_clusters, own_membership, sums_by_cluster
from clusterforests.inspection.stability import N_SPLITS

INTERVAL = 0.9  # share of the splits that the interval of the stability holds


def agreement(classes: Any, labels: IndexArray) -> dict[str, float]:
    """Measure how well clusters agree with the known classes of their rows."""
    # Each cluster stands for the class that fits it best, and each class for one cluster.
    counts = contingency_matrix(classes, labels)
    matched = counts[linear_sum_assignment(counts, maximize=True)].sum()
    return {
        "rows": len(labels),
        "rand_index": float(rand_score(classes, labels)),
        "adjusted_rand_index": float(adjusted_rand_score(classes, labels)),
        "accuracy": float(matched / len(labels)),
    }


def forest_of(model: Any) -> Any:
    """Return the forest of a model: its last step, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model


@dataclass(frozen=True)
class Clustering:
    """What a fitted forest says of its rows and clusters. Its arrays are NumPy's, wherever the forest was fitted."""

    forest: Any
    labels: IndexArray  # the cluster of each row; of an outlier the one in which its membership is highest
    inside: BoolArray  # which rows are no outliers; the others are no part of the sizes, and none of them is ambiguous
    weights: FloatArray | None  # how often each row counts, an outlier never; None if all count once
    memberships: FloatArray  # (n, n_clusters)
    silhouette: FloatArray
    next_cluster: IndexArray  # the best other cluster of each row; -1 if there is none
    sizes: IndexArray
    consensus: FloatArray  # mean membership of each cluster's rows in it
    halves: HalfCuts | None  # clusterings by halves of the forest
    stability: Stability | None
    why_no_stability: str | None

    @property
    def n_clusters(self) -> int:
        return len(self.sizes)

    @property
    def n_outliers(self) -> int:
        return int((~self.inside).sum())

    @property
    def n_ambiguous(self) -> int:
        return int((self.silhouette < 0).sum())

    def by_cluster(self, values: FloatArray | None) -> FloatArray:
        """Return what halves say of each cluster; NaN where they say nothing of all clusters."""
        known = values is not None and len(values) == self.n_clusters
        return values if known and values is not None else np.full(self.n_clusters, np.nan)

    @property
    def recovered(self) -> FloatArray:
        """Share of the half forests that recover each cluster."""
        return self.by_cluster(None if self.stability is None else self.stability.recovered)


def measure(forest: Any, n_splits: int = N_SPLITS) -> Clustering:
    """Judge rows and clusters by the whole forest, stability by its halves."""
    given, k = in_memory(forest.labels_), int(forest.n_clusters_)
    soft = in_memory(forest.memberships_)
    labels, inside = nearest_clusters(given, soft).astype(np.intp), given >= 0
    weights = in_memory(forest.sample_weight_)
    if not inside.all():
        weights = inside * (1.0 if weights is None else weights)
    others = soft.copy()
    others[np.arange(len(labels)), labels] = -1.0
    halves, found, reason = None, None, None
    try:
        halves = forest.half_cuts(n_splits)
        found = stability(halves, level=INTERVAL)
    except ValueError as error:  # a single tree, a single row, or too few rows with a weight
        halves, reason = None, str(error)
    silhouette = consensus_silhouette(soft, labels)
    return Clustering(
        forest=forest,
        labels=labels,
        inside=inside,
        weights=weights,
        memberships=soft,
        silhouette=np.where(inside, silhouette, np.maximum(silhouette, 0.0)),
        next_cluster=others.argmax(axis=1) if k > 1 else np.full(len(labels), -1),
        sizes=np.bincount(labels[inside], minlength=k),
        consensus=mean_of(sums_by_cluster(own_membership(soft, labels), labels, weights, k)),
        halves=halves,
        stability=found,
        why_no_stability=reason,
    )
