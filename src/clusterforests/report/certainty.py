"""How sure a forest is, as the page shows it."""

from typing import Any

import numpy as np

from clusterforests._base.typing import IndexArray
from clusterforests.report.json_values import rounded, rounded_list
from clusterforests.report.limits import PageLimits
from clusterforests.story.certainty import INTERVAL, Certainty

BINS = 40  # of the silhouette, from -1 to 1


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
