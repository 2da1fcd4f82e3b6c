"""Rows of the report: all of them with how sure each is, and the map of pairs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from clusterforests._base.typing import FloatArray, IndexArray
from clusterforests.diagnostics.shares import share_range
from clusterforests.forest_view import ForestView
from clusterforests.report.certainty import has_all_clusters
from clusterforests.report.json_values import kind_for, packed, packed_list, rounded
from clusterforests.report.limits import PageLimits
from clusterforests.story.certainty import Certainty
from clusterforests.story.table_sample import TableSample, representative_rows, shorten

EXACT, ROUGH = 10_000, 100  # memberships are whole numbers of such parts


def stored_rows(rows: IndexArray, parts: int, table: TableSample, n_rows: int, limits: PageLimits) -> dict[str, Any]:
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


def kept_rows(sure: Certainty, limits: PageLimits) -> IndexArray:
    """Choose the rows that the page has: all, or the least sure where there are too many."""
    every = np.arange(len(sure.labels))
    if len(every) <= limits.stored_rows:
        return every
    return np.lexsort((every, sure.memberships[every, sure.labels], sure.silhouette))[: limits.listed_rows]


def row_entry(sure: Certainty, rows: IndexArray, parts: int) -> dict[str, Any]:
    """Pack cluster, next cluster and both memberships of the rows; one without a next cluster has its own there."""
    labels, k = sure.labels[rows], len(sure.sizes)
    following = np.where(sure.next_cluster[rows] < 0, labels, sure.next_cluster[rows])
    kind, fine = kind_for(k - 1), kind_for(parts)
    return {
        "cluster": packed(labels, kind),
        "next": packed(following, kind),
        "membership": packed(np.rint(parts * sure.memberships[rows, labels]), fine),
        "next_membership": packed(np.rint(parts * sure.memberships[rows, following]), fine),
    }


@dataclass(frozen=True)
class MappedPairs:
    """The rows of the map, and the shares of trees in which two of them are together."""

    rows: IndexArray
    shares: FloatArray


def map_pairs(view: ForestView, sure: Certainty, limits: PageLimits) -> MappedPairs:
    """Draw some rows, a few of every cluster among them."""
    rows = representative_rows(sure.labels, limits.map_rows, limits.map_rows_per_cluster)
    return MappedPairs(rows, view.coassociation(rows))


def map_entry(pairs: MappedPairs, view: ForestView, sure: Certainty, table: TableSample) -> dict[str, Any]:
    """Write the shares of pairs of rows as bytes, and their range."""
    rows, shares = pairs.rows, pairs.shares
    low, high = share_range(shares)
    return {
        "of": len(sure.labels),
        "rows": rows.tolist(),
        "ids": short_ids(table, rows),
        "cells": packed(np.rint(shares * 255), "u1"),
        "low": rounded(low),
        "high": rounded(high),
        "trees": view.n_trees,
        "all_clusters": has_all_clusters(sure.labels[rows], len(sure.sizes)),
    }


def map_order(sure: Certainty, pairs: MappedPairs) -> list[int]:
    """Order the rows of the map by cluster, and within it by similarity."""
    labels = sure.labels[pairs.rows]
    order = [_by_likeness(pairs.shares, np.flatnonzero(labels == c)) for c in range(len(sure.sizes))]
    return [int(i) for i in np.concatenate(order)]


def _by_likeness(shares: FloatArray, rows: IndexArray) -> IndexArray:
    """Order rows like the leaves of their dendrogram, so that neighbours share many trees."""
    if len(rows) < 3:
        return rows
    apart = squareform(1.0 - shares[np.ix_(rows, rows)], checks=False)
    order: IndexArray = rows[leaves_list(linkage(apart, "average"))]
    return order


def short_ids(table: TableSample, rows: IndexArray) -> list[str] | None:
    """Return the names of some rows, if rows have names."""
    return None if table.ids is None else [shorten(table.ids[row]) for row in rows]
