"""Which features tell, and how much of each lies between the clusters."""

from typing import Any

import numpy as np

from clusterforests._base.typing import FloatArray, IndexArray
from clusterforests.diagnostics.separation import separate
from clusterforests.forest_view import ForestView
from clusterforests.report.json_values import rounded
from clusterforests.report.limits import PageLimits
from clusterforests.story.certainty import Certainty
from clusterforests.story.table_sample import TableSample


def feature_entries(view: ForestView, table: TableSample, listed: IndexArray) -> dict[str, Any]:
    """Describe the columns: how much each tells, and the test of it."""
    features = np.array([column.feature for column in table.columns])
    importance, p_value = view.feature_importances[features], view.feature_pvalues[features]
    usable = np.isin(features, view.usable_features)
    return {
        "n_columns": len(table.columns),
        "tell": None if np.isnan(p_value).any() else int((importance > 0).sum()),
        "rows": len(table.rows),
        "features": [
            {
                "name": table.columns[j].name,
                "level": table.columns[j].level,
                "importance": rounded(importance[j]),
                "p_value": rounded(p_value[j]),
                "usable": bool(usable[j]),
            }
            for j in listed.tolist()
        ],
    }


def listed_columns(view: ForestView, table: TableSample, shares: FloatArray, limits: PageLimits) -> IndexArray:
    """Choose the columns that are listed: those that tell most, then those with most variance between clusters."""
    importance = view.feature_importances[[column.feature for column in table.columns]]
    return np.lexsort((-shares, -importance))[: limits.listed_columns]


def variance_between(view: ForestView, sure: Certainty, table: TableSample, columns: Any = slice(None)) -> FloatArray:
    """Compute the share of each column's variance that lies between the clusters."""
    weights = view.weights_of(table.rows)
    mass = np.ones(len(table.rows)) if weights is None else weights
    return separate(table.values[:, columns], sure.labels[table.rows], mass, view.n_clusters).features.share
