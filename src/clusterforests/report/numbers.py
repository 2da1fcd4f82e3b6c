"""How sure a forest is, as numbers that JSON holds: of the whole, of each cluster, of each row, of pairs of rows."""

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from clusterforests._base.typing import AnyArray, FloatArray, IndexArray
from clusterforests.diagnostics import (
    Stability,
    cluster_consensus,
    consensus_cdf,
    consensus_silhouette,
    memberships,
    pac,
    stability,
)
from clusterforests.report.page import as_data
from clusterforests.report.table import Table, shorten, thin

SPLITS, LEVEL = 20, 0.9
STABILITY_ROWS, PAIR_ROWS = 1000, 1000
MAP_ROWS, MAP_AT_LEAST = 400, 4
LISTED_ROWS = 2000
LABELLED_ROWS = 200_000  # whose labels are in the page, to download
ID_CHARACTERS = 3_500_000  # of the page that the names of all rows may take
BETWEEN_CLUSTERS = 30  # up to which the mean shares between clusters are a table
BINS = 40  # of the silhouette, from -1 to 1


@dataclass(frozen=True)
class Sure:
    """What is known of every row, and of the sample."""

    labels: IndexArray
    shares: FloatArray  # (n, n_clusters): mean share of trees with the rows of each cluster
    memberships: FloatArray
    silhouette: FloatArray
    following: IndexArray  # the best other cluster; -1 if there is none
    sizes: IndexArray
    consensus: FloatArray  # of each cluster
    stability: Stability | None
    unstable: str | None  # why there is no stability


def measure(forest: Any, table: Table) -> Sure:
    """Rows from the whole forest; clusters and stability from the rows that are looked at."""
    labels, k = forest.labels_.astype(np.intp), forest.n_clusters_
    shares = forest._shares()
    others = shares.copy()
    others[np.arange(len(labels)), labels] = -1.0
    members, mine = np.ascontiguousarray(forest.partitions_[:, table.rows]), labels[table.rows]
    weights = None if forest._weights is None else forest._weights[table.rows]
    counted = _all_there(mine, k)
    consensus = cluster_consensus(members, mine, weights) if counted else np.full(k, np.nan)
    halves, reason = None, None
    try:
        halves = stability(
            members,
            k,
            forest._cut_again,
            n_splits=SPLITS,
            level=LEVEL,
            max_rows=max(STABILITY_ROWS, 2 * k),
            labels=mine if counted else None,
            weights=weights,
        )
    except ValueError as error:  # one tree, one row, or too few rows that count
        reason = str(error)
    return Sure(
        labels,
        shares,
        memberships(shares, labels),
        consensus_silhouette(shares, labels, forest._weights),
        others.argmax(axis=1) if k > 1 else np.full(len(labels), -1),
        np.bincount(labels, minlength=k),
        consensus,
        halves,
        reason,
    )


def _all_there(labels: IndexArray, n_clusters: int) -> bool:
    return bool((np.bincount(labels, minlength=n_clusters) > 0).all())


def whole_numbers(sure: Sure, n_trees: int) -> dict[str, Any]:
    found = sure.stability
    if found is None:
        return {"known": False, "reason": sure.unstable}
    return {
        "known": True,
        "mean": plain(found.mean),
        "low": plain(found.low),
        "high": plain(found.high),
        "level": LEVEL,
        "splits": SPLITS,
        "rows": found.n_rows,
        "trees": n_trees,
    }


def cluster_numbers(sure: Sure) -> list[dict[str, Any]]:
    k, found = len(sure.sizes), sure.stability
    again = np.full(k, np.nan) if found is None or len(found.clusters) != k else found.clusters
    return [
        {
            "size": int(sure.sizes[c]),
            "consensus": plain(sure.consensus[c]),
            "stability": plain(again[c]),
            "silhouette": plain(sure.silhouette[sure.labels == c].mean()),
            "doubtful": int((sure.silhouette[sure.labels == c] < 0).sum()),
        }
        for c in range(k)
    ]


def between_clusters(sure: Sure) -> list[list[float | None]] | None:
    """The mean share of trees that rows of a cluster have with the rows of each."""
    k = len(sure.sizes)
    if k > BETWEEN_CLUSTERS:
        return None
    return [[plain(value) for value in sure.shares[sure.labels == c].mean(axis=0)] for c in range(k)]


def silhouette_counts(sure: Sure) -> list[int]:
    return [int(count) for count in np.histogram(sure.silhouette, bins=BINS, range=(-1.0, 1.0))[0]]


def consensus_map(forest: Any, sure: Sure, table: Table) -> dict[str, Any]:
    """Shares of pairs as bytes, rows by cluster and in it beside rows like them."""
    rows = thin(sure.labels, MAP_ROWS, MAP_AT_LEAST)
    shares = forest.coassociation(rows, rows)
    order = np.concatenate([_alike(shares, np.flatnonzero(sure.labels[rows] == c)) for c in range(len(sure.sizes))])
    rows, shares = rows[order], shares[np.ix_(order, order)]
    return {
        "of": len(sure.labels),
        "rows": rows.tolist(),
        "ids": None if table.ids is None else [shorten(table.ids[row]) for row in rows],
        "labels": sure.labels[rows].tolist(),
        "cells": packed(np.rint(shares * 255).astype(np.uint8)),
        "trees": len(forest.partitions_),
        "all_clusters": _all_there(sure.labels[rows], len(sure.sizes)),
    }


def _alike(shares: FloatArray, rows: IndexArray) -> IndexArray:
    """The rows in an order in which neighbours share many trees: that of the leaves of their dendrogram."""
    if len(rows) < 3:
        return rows
    apart = squareform(1.0 - shares[np.ix_(rows, rows)], checks=False)
    order: IndexArray = rows[leaves_list(linkage(apart, "average"))]
    return order


def row_numbers(sure: Sure, table: Table) -> dict[str, Any]:
    """The rows that are least sure, all of them where there are few."""
    n = len(sure.labels)
    every = np.arange(n)
    own = sure.memberships[every, sure.labels]
    together = sure.shares[every, sure.labels]
    order = np.lexsort((every, together, own, sure.silhouette))[:LISTED_ROWS]
    following = sure.following[order]
    other = np.where(following >= 0, sure.memberships[order, following], np.nan)
    return {
        "of": n,
        "rows": order.tolist(),
        "ids": None if table.ids is None else [shorten(table.ids[row]) for row in order],
        "cluster": sure.labels[order].tolist(),
        "next": [None if c < 0 else int(c) for c in following],
        "membership": plains(own[order]),
        "next_membership": plains(other),
        "together": plains(together[order]),
        "silhouette": plains(sure.silhouette[order]),
    }


def all_labels(sure: Sure, table: Table) -> dict[str, Any] | None:
    """What the download of all labels needs; None where that would make the page too heavy."""
    n = len(sure.labels)
    if n > LABELLED_ROWS:
        return None
    width = 1 if len(sure.sizes) <= 256 else 4
    fits = table.ids is not None and len(as_data(table.ids)) <= ID_CHARACTERS
    return {
        "n": n,
        "width": width,
        "cells": packed(sure.labels.astype("<u1" if width == 1 else "<u4")),
        "ids": table.ids if fits else None,
        "left_out": table.ids is not None and not fits,
    }


def number_of_clusters(forest: Any, table: Table) -> dict[str, Any] | None:
    """What the choice was made from; where there was none, the distribution of the shares of pairs."""
    choice = forest.n_clusters_evidence_
    if choice is not None:
        evidence = {name: plains(values) for name, values in choice.evidence.items()}
        return {
            "chosen": True,
            "candidates": list(choice.candidates),
            "evidence": evidence,
            "reason": choice.reason,
            "value": int(choice.n_clusters),
        }
    weights = None if forest._weights is None else forest._weights[table.rows]
    if (len(table.rows) if weights is None else int((weights > 0).sum())) < 2:
        return None
    members = np.ascontiguousarray(forest.partitions_[:, table.rows])
    found = consensus_cdf(members, max_rows=PAIR_ROWS, weights=weights)
    return {
        "chosen": False,
        "points": plains(found.points),
        "cdf": plains(found.cdf),
        "pac": plain(pac(found)),
        "rows": found.n_rows,
        "value": int(forest.n_clusters_),
    }


def plain(value: Any) -> float | None:
    """Four digits are what the page shows; JSON has no NaN."""
    number = float(value)
    return float(f"{number:.4g}") if np.isfinite(number) else None


def plains(values: Any) -> list[float | None]:
    return [plain(value) for value in values]


def packed(values: AnyArray) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
