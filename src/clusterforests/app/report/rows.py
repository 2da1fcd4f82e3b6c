"""Rows of the report: all of them with how sure each is, and the map of pairs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.linalg
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform
from sklearn.manifold import TSNE

from clusterforests._utils.arrays import FloatArray, IndexArray
from clusterforests._utils.devices import in_memory
from clusterforests._utils.random import representative_rows
from clusterforests._utils.threads import blas_threads, openmp_threads
from clusterforests.app.description.clustering import INTERVAL, Clustering, agreement
from clusterforests.app.description.described_table import DescribedTable, shorten
from clusterforests.app.report.json_values import PageLimits, kind_for, packed, packed_list, rounded, rounded_list
from clusterforests.inspection.memberships import share_range

# How sure a forest is, as the page shows it.

BINS = 40  # of the silhouette, from -1 to 1


def has_all_clusters(labels: IndexArray, n_clusters: int) -> bool:
    """Say whether every cluster has a row."""
    return bool((np.bincount(labels, minlength=n_clusters) > 0).all())


def stability_entry(clustering: Clustering) -> dict[str, Any]:
    """Describe the stability of the whole clustering."""
    found = clustering.stability
    if found is None:
        return {"known": False, "reason": clustering.why_no_stability}
    return {
        "known": True,
        "mean": rounded(found.mean),
        "low": rounded(found.low),
        "high": rounded(found.high),
        "level": INTERVAL,
        "splits": len(found.scores),
        "rows": found.n_rows,
        "trees": len(clustering.forest.partitions_),
    }


def cluster_entries(clustering: Clustering) -> list[dict[str, Any]]:
    """Describe each cluster."""
    k, found = clustering.n_clusters, clustering.stability
    stable = clustering.by_cluster(None if found is None else found.clusters)
    return [
        {
            "size": int(clustering.sizes[c]),
            "membership": rounded(clustering.consensus[c]),
            "stability": rounded(stable[c]),
            "silhouette": rounded(clustering.silhouette[clustering.labels == c].mean()),
            "ambiguous": int((clustering.silhouette[clustering.labels == c] < 0).sum()),
        }
        for c in range(k)
    ]


def memberships_between_clusters(clustering: Clustering, limits: PageLimits) -> list[list[float | None]] | None:
    """Average the memberships of the rows of a cluster in each cluster."""
    k = clustering.n_clusters
    if k > limits.clusters_in_table:
        return None
    return [rounded_list(clustering.memberships[clustering.labels == c].mean(axis=0)) for c in range(k)]


def silhouette_counts(clustering: Clustering) -> list[int]:
    """Count the rows in equal intervals of the silhouette."""
    return [int(count) for count in np.histogram(clustering.silhouette, bins=BINS, range=(-1.0, 1.0))[0]]


EXACT, ROUGH = 10_000, 100  # memberships are whole numbers of such parts


def stored_rows(rows: IndexArray, parts: int, table: DescribedTable, n_rows: int, limits: PageLimits) -> dict[str, Any]:
    """Name the rows that the page has, and say in what parts their memberships are counted."""
    names = None if table.ids is None else packed_list([shorten(table.ids[row]) for row in rows])
    fits = names is not None and len(names["bytes"]) <= limits.id_bytes
    every = len(rows) == n_rows
    return {
        "of": n_rows,
        "all": every,
        "rows": None if every else packed(rows, "u4"),
        "ids": names if fits else None,
        "left_out": names is not None and not fits,
        "parts": parts,
    }


def kept_rows(clustering: Clustering, limits: PageLimits) -> IndexArray:
    """Choose the rows that the page has: all, or the least sure where there are too many."""
    every = np.arange(len(clustering.labels))
    if len(every) <= limits.stored_rows:
        return every
    return np.lexsort((every, clustering.memberships[every, clustering.labels], clustering.silhouette))[
        : limits.listed_rows
    ]


def row_entry(clustering: Clustering, rows: IndexArray, parts: int) -> dict[str, Any]:
    """Pack cluster, next cluster and both memberships of the rows; one without a next cluster has its own there."""
    labels, k = clustering.labels[rows], clustering.n_clusters
    following = np.where(clustering.next_cluster[rows] < 0, labels, clustering.next_cluster[rows])
    kind, fine = kind_for(k - 1), kind_for(parts)
    return {
        "cluster": packed(labels, kind),
        "next": packed(following, kind),
        "membership": packed(np.rint(parts * clustering.memberships[rows, labels]), fine),
        "next_membership": packed(np.rint(parts * clustering.memberships[rows, following]), fine),
    }


@dataclass(frozen=True)
class MappedPairs:
    """The rows of the map, and the shares of trees in which two of them are together."""

    rows: IndexArray
    shares: FloatArray


def map_pairs(clustering: Clustering, limits: PageLimits) -> MappedPairs:
    """Draw some rows, a few of every cluster among them."""
    rows = representative_rows(clustering.labels, limits.map_rows, limits.map_rows_per_cluster)
    return MappedPairs(rows, in_memory(clustering.forest.coassociation(rows, rows)))


def map_entry(pairs: MappedPairs, clustering: Clustering, table: DescribedTable) -> dict[str, Any]:
    """Write the shares of pairs of rows as bytes, and their range."""
    rows, shares = pairs.rows, pairs.shares
    low, high = share_range(shares)
    return {
        "of": len(clustering.labels),
        "rows": rows.tolist(),
        "ids": short_ids(table, rows),
        "cells": packed(np.rint(shares * 255), "u1"),
        "low": rounded(low),
        "high": rounded(high),
        "trees": len(clustering.forest.partitions_),
        "all_clusters": has_all_clusters(clustering.labels[rows], clustering.n_clusters),
    }


def map_order(clustering: Clustering, pairs: MappedPairs) -> list[int]:
    """Order the rows of the map by cluster, and within it by similarity."""
    labels = clustering.labels[pairs.rows]
    order = [_by_likeness(pairs.shares, np.flatnonzero(labels == c)) for c in range(clustering.n_clusters)]
    return [int(i) for i in np.concatenate(order)]


def _by_likeness(shares: FloatArray, rows: IndexArray) -> IndexArray:
    """Order rows like the leaves of their dendrogram, so that neighbours share many trees."""
    if len(rows) < 3:
        return rows
    apart = squareform(1.0 - shares[np.ix_(rows, rows)], checks=False)
    order: IndexArray = rows[leaves_list(linkage(apart, "average"))]
    return order


def short_ids(table: DescribedTable, rows: IndexArray) -> list[str] | None:
    """Return the names of some rows, if rows have names."""
    return None if table.ids is None else [shorten(table.ids[row]) for row in rows]


# A map of rows: two coordinates for each, so that rows that are often together lie near each other.

STEPS = 2**12 - 1  # of a coordinate
FEW = 12  # rows that are too few for neighbours
NEIGHBOURS = 30
ITERATIONS = 350


@dataclass(frozen=True)
class PlacedRows:
    """Some rows and their places, (n, 2)."""

    rows: IndexArray
    places: FloatArray


def place_some(clustering: Clustering, limits: PageLimits) -> PlacedRows:
    """Place some rows, a few of every cluster among them."""
    rows = representative_rows(clustering.labels, limits.point_rows, limits.map_rows_per_cluster)
    return PlacedRows(rows, place_rows(in_memory(clustering.forest.coassociation(rows, rows))))


def point_entry(placed: PlacedRows, table: DescribedTable) -> dict[str, Any]:
    """Describe the map of rows."""
    low = placed.places.min(axis=0)
    width = float((placed.places - low).max()) or 1.0  # one scale for both, so that the map keeps its shape
    steps = np.rint(STEPS * (placed.places - low) / width)
    return {
        "rows": placed.rows.tolist(),
        "ids": short_ids(table, placed.rows),
        "x": packed(steps[:, 0], "u2"),
        "y": packed(steps[:, 1], "u2"),
        "steps": STEPS,
    }


def place_rows(shares: FloatArray) -> FloatArray:
    """Place rows by the shares of trees in which two are together: t-SNE, from classical scaling as its start.

    Parameters
    ----------
    shares : array of shape (n, n)
        P between the rows.

    Returns
    -------
    places : array of shape (n, 2)
    """
    with blas_threads(1), openmp_threads(1):  # so that the same forest gives the same map
        start = _classical_scaling(shares)
        if len(shares) <= FEW or not start.any():
            return start
        apart = np.sqrt(np.maximum(1.0 - shares, 0.0))
        np.fill_diagonal(apart, 0.0)
        start *= 1e-4 / start[:, 0].std()
        neighbours = min(NEIGHBOURS, (len(shares) - 1) / 3)
        method = TSNE(
            init=start.astype(np.float32),
            metric="precomputed",
            perplexity=neighbours,
            max_iter=ITERATIONS,
            random_state=0,
            learning_rate="auto",
        )
        places: FloatArray = method.fit_transform(apart).astype(np.float64)
    return places


def _classical_scaling(shares: FloatArray) -> FloatArray:
    """Find the two leading coordinates in which squared distances are nearest to 1 - P."""
    n = len(shares)
    if n < 3:
        return np.column_stack([np.arange(n, dtype=np.float64), np.zeros(n)])
    means = shares.mean(axis=0)
    centred = shares - means - means[:, None] + means.mean()
    values, vectors = scipy.linalg.eigh(centred, subset_by_index=[n - 2, n - 1])
    places = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    first = np.abs(places).argmax(axis=0)
    signs = np.where(places[first, [0, 1]] < 0, -1.0, 1.0)
    scaled: FloatArray = places * signs
    return scaled


# How the clusters compare with known classes.


class KnownClasses:
    """The classes of the rows that have one."""

    def __init__(self, truth: Any, n_rows: int, limits: PageLimits) -> None:
        if isinstance(truth, (str, bytes)) or not hasattr(truth, "__len__") or len(truth) != n_rows:
            found = len(truth) if hasattr(truth, "__len__") else type(truth).__name__
            raise ValueError(f"truth must hold {n_rows} classes, one for each row of X; it has {found}.")
        self.known = pd.Series(list(truth), dtype=object).notna().to_numpy()
        names = np.array([str(value) for value, there in zip(truth, self.known, strict=True) if there], dtype=object)
        self.classes, self.codes = np.unique(names, return_inverse=True)
        if not len(self.classes):
            raise ValueError("truth has no class at all: every value is missing.")
        if len(self.classes) > limits.classes:
            raise ValueError(
                f"truth has {len(self.classes)} different values, such as {self.classes[0]!r}; at most "
                f"{limits.classes} can be classes. Is it an identifier?"
            )
        self.listed = len(self.classes) <= limits.listed_classes

    def compare(self, labels: IndexArray) -> dict[str, Any]:
        """Measure the agreement of clusters with the classes."""
        mine = labels[self.known]
        counts = np.zeros((int(labels.max()) + 1, len(self.classes)), dtype=np.intp)
        np.add.at(counts, (mine, self.codes), 1)
        measures = agreement(self.codes, mine)
        return {
            **{name: rounded(value) for name, value in measures.items()},
            "rows": len(mine),
            "classes": [shorten(name) for name in self.classes] if self.listed else None,
            "counts": counts.tolist() if self.listed else None,
            "n_classes": len(self.classes),
        }
