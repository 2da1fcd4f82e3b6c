"""Rows of the report: the least sure ones, the labels of all, and the map of pairs."""

from typing import Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from clusterforests._base.typing import FloatArray, IndexArray
from clusterforests.diagnostics.shares import share_range
from clusterforests.forest_view import ForestView
from clusterforests.report.certainty import has_all_clusters
from clusterforests.report.json_values import packed, rounded, rounded_list
from clusterforests.report.limits import PageLimits
from clusterforests.report.page import as_data
from clusterforests.story.certainty import Certainty
from clusterforests.story.table_sample import TableSample, representative_rows, shorten


def consensus_map(view: ForestView, sure: Certainty, table: TableSample, limits: PageLimits) -> dict[str, Any]:
    """Map the shares of pairs of rows as bytes, ordered by cluster and within it by similarity, and their range."""
    rows = representative_rows(sure.labels, limits.map_rows, limits.map_rows_per_cluster)
    shares = view.coassociation(rows)
    order = np.concatenate(
        [_by_likeness(shares, np.flatnonzero(sure.labels[rows] == c)) for c in range(len(sure.sizes))]
    )
    rows, shares = rows[order], shares[np.ix_(order, order)]
    low, high = share_range(shares)
    return {
        "of": len(sure.labels),
        "rows": rows.tolist(),
        "ids": _short_ids(table, rows),
        "labels": sure.labels[rows].tolist(),
        "cells": packed(np.rint(shares * 255).astype(np.uint8)),
        "low": rounded(low),
        "high": rounded(high),
        "trees": view.n_trees,
        "all_clusters": has_all_clusters(sure.labels[rows], len(sure.sizes)),
    }


def _by_likeness(shares: FloatArray, rows: IndexArray) -> IndexArray:
    """Order rows like the leaves of their dendrogram, so that neighbours share many trees."""
    if len(rows) < 3:
        return rows
    apart = squareform(1.0 - shares[np.ix_(rows, rows)], checks=False)
    order: IndexArray = rows[leaves_list(linkage(apart, "average"))]
    return order


def least_sure_rows(sure: Certainty, table: TableSample, limits: PageLimits) -> dict[str, Any]:
    """List the rows from the least sure on: all of them if there are few."""
    n = len(sure.labels)
    every = np.arange(n)
    own = sure.memberships[every, sure.labels]
    order = np.lexsort((every, own, sure.silhouette))[: limits.listed_rows]
    following = sure.next_cluster[order]
    other = np.where(following >= 0, sure.memberships[order, following], np.nan)
    return {
        "of": n,
        "rows": order.tolist(),
        "ids": _short_ids(table, order),
        "cluster": sure.labels[order].tolist(),
        "next": [None if c < 0 else int(c) for c in following],
        "membership": rounded_list(own[order]),
        "next_membership": rounded_list(other),
        "silhouette": rounded_list(sure.silhouette[order]),
    }


def all_labels(sure: Certainty, table: TableSample, limits: PageLimits) -> dict[str, Any] | None:
    """Pack the labels of all rows for download; None if they would make the page too large."""
    n = len(sure.labels)
    if n > limits.labelled_rows:
        return None
    width = 1 if len(sure.sizes) <= 256 else 4
    fits = table.ids is not None and len(as_data(table.ids)) <= limits.id_characters
    return {
        "n": n,
        "width": width,
        "cells": packed(sure.labels.astype("<u1" if width == 1 else "<u4")),
        "ids": table.ids if fits else None,
        "left_out": table.ids is not None and not fits,
    }


def _short_ids(table: TableSample, rows: IndexArray) -> list[str] | None:
    return None if table.ids is None else [shorten(table.ids[row]) for row in rows]
