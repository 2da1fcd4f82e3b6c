"""How sure a forest is of the whole clustering, of each cluster and of each row."""

from dataclasses import dataclass

import numpy as np

from clusterforests._base.typing import FloatArray, IndexArray
from clusterforests.diagnostics import HalfCuts, Stability, stability
from clusterforests.diagnostics.membership import mean_of, own_membership, silhouette_with, sums_by_cluster
from clusterforests.forest_view import ForestView
from clusterforests.story.limits import StoryLimits

INTERVAL = 0.9  # share of the splits that the interval of the stability holds


@dataclass(frozen=True)
class Certainty:
    """What is known of every row and every cluster."""

    labels: IndexArray
    memberships: FloatArray  # (n, n_clusters)
    silhouette: FloatArray
    next_cluster: IndexArray  # the best other cluster of each row; -1 if there is none
    sizes: IndexArray
    consensus: FloatArray  # mean membership of each cluster's rows in it
    halves: HalfCuts | None  # clusterings by halves of the forest
    stability: Stability | None
    why_no_stability: str | None
    n_outliers: int = 0  # rows that belong to no cluster; they are no part of the sizes, and none of them is doubtful


def measure_certainty(view: ForestView, limits: StoryLimits) -> Certainty:
    """Judge rows and clusters by the whole forest, stability by its halves."""
    labels, k = view.labels.astype(np.intp), view.n_clusters
    soft = view.memberships()
    others = soft.copy()
    others[np.arange(len(labels)), labels] = -1.0
    halves, found, reason = None, None, None
    try:
        halves = view.half_cuts(limits.splits)
        found = stability(halves, level=INTERVAL)
    except ValueError as error:  # a single tree, a single row, or too few rows with a weight
        halves, reason = None, str(error)
    inside = np.ones(len(labels), dtype=bool) if view.outliers is None else ~view.outliers
    silhouette = silhouette_with(soft, labels)
    return Certainty(
        labels=labels,
        memberships=soft,
        silhouette=np.where(inside, silhouette, np.maximum(silhouette, 0.0)),
        next_cluster=others.argmax(axis=1) if k > 1 else np.full(len(labels), -1),
        sizes=np.bincount(labels[inside], minlength=k),
        consensus=mean_of(sums_by_cluster(own_membership(soft, labels), labels, view.weights_of(), k)),
        halves=halves,
        stability=found,
        why_no_stability=reason,
        n_outliers=int((~inside).sum()),
    )
