"""Which features distinguish the clusters: all of them together, and each one from the rest."""

from typing import Any

import numpy as np

from clusterforests._base.typing import FloatArray, IndexArray
from clusterforests.diagnostics import FeatureImportance, feature_importance
from clusterforests.diagnostics.separation import Separation, separate
from clusterforests.forest_view import ForestView
from clusterforests.report.certainty import Certainty, has_all_clusters
from clusterforests.report.json_values import rounded
from clusterforests.report.limits import PageLimits
from clusterforests.report.table_sample import NamedColumn, TableSample

TEST_LEVEL = 0.05  # of the tests of all columns together


def feature_entries(view: ForestView, sure: Certainty, table: TableSample, limits: PageLimits) -> dict[str, Any]:
    """Describe the columns: their variance between clusters, their use by the trees, and a test of each."""
    k, labels = view.n_clusters, sure.labels[table.rows]
    weights = np.ones(len(labels)) if view.weights is None else view.weights[table.rows]
    found = separate(table.values, labels, weights, k)
    tested = _test(view, labels, table, limits)
    use = np.zeros(view.n_features)
    for features in view.tree_features:
        use[np.unique(features)] += 1 / view.n_trees
    everywhere, inside = _means(table.values, labels, weights, k)
    order = np.argsort(-found.features.share, kind="stable")[: limits.listed_columns]
    listed = [
        {
            **_title(table.columns[j]),
            "share": rounded(found.features.share[j]),
            "use": rounded(use[table.columns[j].feature]),
            "p_value": None if tested is None else rounded(tested.separation.features.p_value[j]),
            "mean": rounded(everywhere[j]),
        }
        for j in order
    ]
    profiles = [_profile(c, found, table, inside[c], everywhere, limits) for c in range(k)]
    return {
        "n_columns": len(table.columns),
        "rows": len(table.rows),
        "tested_rows": None if tested is None else tested.n_rows,
        "level": TEST_LEVEL / len(table.columns),
        "features": listed,
        "clusters": profiles if k > 1 else [],
    }


def _profile(
    cluster: int, found: Separation, table: TableSample, inside: FloatArray, everywhere: FloatArray, limits: PageLimits
) -> list[dict[str, Any]]:
    """Describe the columns that set a cluster apart most."""
    share, direction = found.clusters.share[cluster], found.direction[cluster]
    return [
        {
            **_title(table.columns[j]),
            "share": rounded(share[j]),
            "direction": int(direction[j]),
            "inside": rounded(inside[j]),
            "mean": rounded(everywhere[j]),
        }
        for j in np.argsort(-share, kind="stable")[: limits.columns_per_cluster]
        if direction[j]
    ]


def _title(column: NamedColumn) -> dict[str, Any]:
    return {"name": column.name, "level": column.level}


def _test(view: ForestView, labels: IndexArray, table: TableSample, limits: PageLimits) -> FeatureImportance | None:
    """Test each feature on clusters found without it; None if a category has several columns, or it would take long."""
    weights = view.weights_of(table.rows)
    counted = len(labels) if weights is None else int((weights > 0).sum())
    testable = (
        len(table.columns) == view.n_features
        and 1 < len(table.columns) <= limits.tested_columns
        and view.n_clusters > 1
        and has_all_clusters(labels, view.n_clusters)
        and counted >= 4
    )
    if not testable:
        return None
    partitions = view.partitions(table.rows)
    return feature_importance(table.values, labels, partitions, view.tree_features, combine=view.cut, weights=weights)


def _means(
    values: FloatArray, labels: IndexArray, weights: FloatArray, n_clusters: int
) -> tuple[FloatArray, FloatArray]:
    """Average each column's known cells, everywhere and in each cluster; NaN where none is known."""
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
