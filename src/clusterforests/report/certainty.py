"""How sure a forest is of the whole clustering, of each cluster and of each row."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._base.typing import FloatArray, IndexArray
from clusterforests.diagnostics import HalfCuts, Stability, stability
from clusterforests.diagnostics.membership import mean_of, own_membership, silhouette_with, sums_by_cluster
from clusterforests.forest_view import ForestView
from clusterforests.report.json_values import rounded, rounded_list
from clusterforests.report.limits import PageLimits

INTERVAL = 0.9  # share of the splits that the interval of the stability holds
BINS = 40  # of the silhouette, from -1 to 1


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


def measure_certainty(view: ForestView, limits: PageLimits) -> Certainty:
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
    return Certainty(
        labels=labels,
        memberships=soft,
        silhouette=silhouette_with(soft, labels),
        next_cluster=others.argmax(axis=1) if k > 1 else np.full(len(labels), -1),
        sizes=np.bincount(labels, minlength=k),
        consensus=mean_of(sums_by_cluster(own_membership(soft, labels), labels, view.weights, k)),
        halves=halves,
        stability=found,
        why_no_stability=reason,
    )


def has_all_clusters(labels: IndexArray, n_clusters: int) -> bool:
    """Say whether every cluster has a row."""
    return bool((np.bincount(labels, minlength=n_clusters) > 0).all())


def stability_entry(sure: Certainty, n_trees: int) -> dict[str, Any]:
    """Describe the stability of the whole clustering."""
    found = sure.stability
    if found is None:
        return {"known": False, "reason": sure.why_no_stability}
    return {
        "known": True,
        "mean": rounded(found.mean),
        "low": rounded(found.low),
        "high": rounded(found.high),
        "level": INTERVAL,
        "splits": len(found.scores),
        "rows": found.n_rows,
        "trees": n_trees,
    }


def cluster_entries(sure: Certainty) -> list[dict[str, Any]]:
    """Describe each cluster."""
    k, found = len(sure.sizes), sure.stability
    again = np.full(k, np.nan) if found is None or len(found.clusters) != k else found.clusters
    return [
        {
            "size": int(sure.sizes[c]),
            "membership": rounded(sure.consensus[c]),
            "stability": rounded(again[c]),
            "silhouette": rounded(sure.silhouette[sure.labels == c].mean()),
            "doubtful": int((sure.silhouette[sure.labels == c] < 0).sum()),
        }
        for c in range(k)
    ]


def memberships_between_clusters(sure: Certainty, limits: PageLimits) -> list[list[float | None]] | None:
    """Average the memberships of the rows of a cluster in each cluster."""
    k = len(sure.sizes)
    if k > limits.clusters_in_table:
        return None
    return [rounded_list(sure.memberships[sure.labels == c].mean(axis=0)) for c in range(k)]


def silhouette_counts(sure: Certainty) -> list[int]:
    """Count the rows in equal intervals of the silhouette."""
    return [int(count) for count in np.histogram(sure.silhouette, bins=BINS, range=(-1.0, 1.0))[0]]
