"""How sure a forest is of the whole clustering, of each cluster and of each row."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._base.typing import FloatArray, IndexArray
from clusterforests.diagnostics import Stability, cluster_consensus, consensus_silhouette, memberships, stability
from clusterforests.forest_view import ForestView
from clusterforests.report.json_values import rounded, rounded_list
from clusterforests.report.limits import PageLimits
from clusterforests.report.table_sample import TableSample

INTERVAL = 0.9  # share of the splits that the interval of the stability holds
BINS = 40  # of the silhouette, from -1 to 1


@dataclass(frozen=True)
class Certainty:
    """What is known of every row and every cluster."""

    labels: IndexArray
    shares: FloatArray  # (n, n_clusters): mean share of trees that a row spends with each cluster
    memberships: FloatArray
    silhouette: FloatArray
    next_cluster: IndexArray  # the best other cluster of each row; -1 if there is none
    sizes: IndexArray
    consensus: FloatArray  # of each cluster
    stability: Stability | None
    why_no_stability: str | None


def measure_certainty(view: ForestView, table: TableSample, limits: PageLimits) -> Certainty:
    """Judge rows by the whole forest, clusters and stability by the sampled rows."""
    labels, k = view.labels.astype(np.intp), view.n_clusters
    shares = view.shares()
    others = shares.copy()
    others[np.arange(len(labels)), labels] = -1.0
    partitions, mine = view.partitions(table.rows), labels[table.rows]
    weights = view.weights_of(table.rows)
    complete = has_all_clusters(mine, k)
    halves, reason = None, None
    try:
        halves = stability(
            partitions,
            k,
            view.cut,
            n_splits=limits.splits,
            level=INTERVAL,
            max_rows=max(limits.stability_rows, 2 * k),
            labels=mine if complete else None,
            weights=weights,
        )
    except ValueError as error:  # a single tree, a single row, or too few rows with a weight
        reason = str(error)
    return Certainty(
        labels=labels,
        shares=shares,
        memberships=memberships(shares, labels),
        silhouette=consensus_silhouette(shares, labels, view.weights),
        next_cluster=others.argmax(axis=1) if k > 1 else np.full(len(labels), -1),
        sizes=np.bincount(labels, minlength=k),
        consensus=cluster_consensus(partitions, mine, weights) if complete else np.full(k, np.nan),
        stability=halves,
        why_no_stability=reason,
    )


def has_all_clusters(labels: IndexArray, n_clusters: int) -> bool:
    """Say whether every cluster has a row."""
    return bool((np.bincount(labels, minlength=n_clusters) > 0).all())


def stability_entry(sure: Certainty, n_trees: int, limits: PageLimits) -> dict[str, Any]:
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
        "splits": limits.splits,
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
            "consensus": rounded(sure.consensus[c]),
            "stability": rounded(again[c]),
            "silhouette": rounded(sure.silhouette[sure.labels == c].mean()),
            "doubtful": int((sure.silhouette[sure.labels == c] < 0).sum()),
        }
        for c in range(k)
    ]


def shares_between_clusters(sure: Certainty, limits: PageLimits) -> list[list[float | None]] | None:
    """Average the share of trees that the rows of a cluster spend with each cluster."""
    k = len(sure.sizes)
    if k > limits.clusters_in_table:
        return None
    return [rounded_list(sure.shares[sure.labels == c].mean(axis=0)) for c in range(k)]


def silhouette_counts(sure: Certainty) -> list[int]:
    """Count the rows in equal intervals of the silhouette."""
    return [int(count) for count in np.histogram(sure.silhouette, bins=BINS, range=(-1.0, 1.0))[0]]
