"""Which features tell, and how the clusters differ in them: all clusters together, and each one from the rest."""

from typing import Any

import numpy as np

from clusterforests._base.typing import FloatArray, IndexArray
from clusterforests.diagnostics.separation import Separation, separate
from clusterforests.forest_view import ForestView
from clusterforests.report.json_values import rounded
from clusterforests.report.limits import PageLimits
from clusterforests.story.certainty import Certainty
from clusterforests.story.table_sample import NamedColumn, TableSample


def feature_entries(view: ForestView, sure: Certainty, table: TableSample, limits: PageLimits) -> dict[str, Any]:
    """Describe the columns: how much each tells, the test of it, and its variance between the clusters."""
    k, labels = view.n_clusters, sure.labels[table.rows]
    weights = np.ones(len(labels)) if view.weights is None else view.weights[table.rows]
    found = separate(table.values, labels, weights, k)
    everywhere, inside = _means(table.values, labels, weights, k)
    features = np.array([column.feature for column in table.columns])
    importance, p_value = view.feature_importances[features], view.feature_pvalues[features]
    usable = np.isin(features, view.usable_features)
    order = np.lexsort((-found.features.share, -importance))
    listed = [
        {
            **_title(table.columns[j]),
            "importance": rounded(importance[j]),
            "p_value": rounded(p_value[j]),
            "usable": bool(usable[j]),
            "share": rounded(found.features.share[j]),
        }
        for j in order[: limits.listed_columns]
    ]
    profiles = [_profile(c, found, table, inside[c], everywhere, limits) for c in range(k)]
    return {
        "n_columns": len(table.columns),
        "tell": None if np.isnan(p_value).any() else int((importance > 0).sum()),
        "rows": len(table.rows),
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
