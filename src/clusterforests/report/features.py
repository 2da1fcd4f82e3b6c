"""Which features tell which cluster apart."""

from typing import Any

import numpy as np

from clusterforests._base.typing import FloatArray, IndexArray
from clusterforests.diagnostics import FeatureImportance, feature_importance
from clusterforests.diagnostics.separation import separate
from clusterforests.report.numbers import Sure, plain
from clusterforests.report.table import Table

LISTED = 100  # columns in the table of all
OF_CLUSTER = 8  # columns listed for a cluster
TESTED = 200  # columns up to which clusters are found again without each: this takes time like their number
LEVEL = 0.05


def feature_numbers(forest: Any, sure: Sure, table: Table) -> dict[str, Any]:
    """Shares of variance between the clusters, of all columns and cluster by cluster, and a test of each."""
    k, labels = forest.n_clusters_, sure.labels[table.rows]
    weights = np.ones(len(labels)) if forest._weights is None else forest._weights[table.rows]
    found = separate(table.values, labels, weights, k)
    tested = _test(forest, sure, table)
    use = np.zeros(forest.n_features_in_)
    for features in forest.estimators_features_:
        use[np.unique(features)] += 1 / len(forest.estimators_features_)
    order = np.argsort(-found.features.share, kind="stable")[:LISTED]
    everywhere, inside = _means(table.values, labels, weights, k)
    listed = [
        {
            "name": table.columns[j].name,
            "level": table.columns[j].level,
            "share": plain(found.features.share[j]),
            "use": plain(use[table.columns[j].feature]),
            "p_value": None if tested is None else plain(tested.separation.features.p_value[j]),
            "mean": plain(everywhere[j]),
        }
        for j in order
    ]
    by_cluster = []
    for c in range(k):
        best = [j for j in np.argsort(-found.clusters.share[c], kind="stable")[:OF_CLUSTER] if found.direction[c, j]]
        by_cluster.append(
            [
                {
                    "name": table.columns[j].name,
                    "level": table.columns[j].level,
                    "share": plain(found.clusters.share[c, j]),
                    "direction": int(found.direction[c, j]),
                    "inside": plain(inside[c, j]),
                    "mean": plain(everywhere[j]),
                }
                for j in best
            ]
        )
    return {
        "n_columns": len(table.columns),
        "rows": len(table.rows),
        "tested_rows": None if tested is None else tested.n_rows,
        "level": LEVEL / len(table.columns),
        "features": listed,
        "clusters": by_cluster if k > 1 else [],
    }


def _test(forest: Any, sure: Sure, table: Table) -> FeatureImportance | None:
    """Each feature against clusters that were found without it. None with wide categories, and where it takes long."""
    plain_columns = len(table.columns) == forest.n_features_in_
    labels = sure.labels[table.rows]
    there = bool((np.bincount(labels, minlength=forest.n_clusters_) > 0).all())
    counted = len(labels) if forest._weights is None else int((forest._weights[table.rows] > 0).sum())
    if not plain_columns or not there or forest.n_clusters_ < 2 or not 1 < len(table.columns) <= TESTED or counted < 4:
        return None
    return feature_importance(
        table.values,
        labels,
        forest.partitions_[:, table.rows],
        forest.estimators_features_,
        combine=forest._cut_again,
        weights=None if forest._weights is None else forest._weights[table.rows],
    )


def _means(
    values: FloatArray, labels: IndexArray, weights: FloatArray, n_clusters: int
) -> tuple[FloatArray, FloatArray]:
    """Of every column over its known cells: everywhere, and in each cluster; NaN where nothing is known."""
    known = ~np.isnan(values)
    w = known * weights[:, None]
    filled = np.where(known, values, 0.0)
    scale = np.maximum(np.abs(filled).max(axis=0, initial=0.0), np.finfo(np.float64).tiny)  # so that no sum overflows
    cells = w * (filled / scale)

    def mean(rows: Any) -> FloatArray:
        total = w[rows].sum(axis=0)
        part: FloatArray = np.divide(cells[rows].sum(axis=0), total, out=np.full(total.shape, np.nan), where=total > 0)
        return np.asarray(part * scale, dtype=np.float64)

    return mean(slice(None)), np.array([mean(labels == c) for c in range(n_clusters)])
