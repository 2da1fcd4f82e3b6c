"""The columns as they were read, and how their values lie in each cluster."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray
from clusterforests.app.description.clustering import Clustering
from clusterforests.app.description.described_table import DescribedTable, shorten
from clusterforests.app.description.words import ColumnWords, shown_pair
from clusterforests.app.report.json_values import PageLimits, rounded, rounded_list
from clusterforests.app.table_reader.columns import ColumnReading, Kind
from clusterforests.inspection.separation import separate

REACH = 0.01, 0.99  # quantiles that a histogram lies between; what is beyond counts at its ends


def reading_entries(readings: Sequence[ColumnReading]) -> list[dict[str, Any]]:
    """Describe how each column of a frame or file was read; nothing for arrays."""
    return [
        {
            "name": shorten(reading.name),
            "kind": reading.kind,
            "used": reading.used,
            "reason": reading.reason,
            "unit": reading.unit,
            "notes": list(reading.notes),
            "examples": [shorten(text) for text in reading.examples[:3]],
        }
        for reading in readings
    ]


class DrawnColumn:
    """A feature as bins or bars: which of them each row of the sample is in, -1 if its cell is missing."""

    def __init__(self, table: DescribedTable, places: list[int], limits: PageLimits) -> None:
        first = table.columns[places[0]]
        self.name = first.name
        self.edges: FloatArray | None = None
        if first.level is None:
            self.kind, values = first.kind, table.values[:, places[0]]
            self.codes, edges = _binned(values, limits.bins)
            self.labels, self.edges = _edge_labels(first, edges), edges
        else:
            self.kind = "category"
            self.codes, self.labels = _levels(table.values[:, places], [table.columns[j] for j in places], limits.bars)

    def counts(self, labels: IndexArray, n_clusters: int) -> list[list[int]]:
        """Count the rows of each cluster in each bin."""
        known, width = self.codes >= 0, len(self.labels) if self.edges is None else len(self.edges) - 1
        flat = np.bincount(labels[known] * width + self.codes[known], minlength=n_clusters * width)
        return [[int(count) for count in line] for line in flat.reshape(n_clusters, width)]

    def entry(self) -> dict[str, Any]:
        """Describe the bins."""
        return {
            "name": self.name,
            "kind": self.kind,
            "edges": None if self.edges is None else rounded_list(self.edges),
            "labels": self.labels,
            "missing": rounded((self.codes < 0).mean()),
        }


def draw_columns(table: DescribedTable, features: list[int], limits: PageLimits) -> list[DrawnColumn]:
    """Sort the cells of the first features into bins or bars."""
    of_feature: dict[int, list[int]] = {}
    for j, column in enumerate(table.columns):
        of_feature.setdefault(column.feature, []).append(j)
    return [DrawnColumn(table, of_feature[feature], limits) for feature in features[: limits.drawn_columns]]


def _binned(values: FloatArray, bins: int) -> tuple[IndexArray, FloatArray]:
    known = ~np.isnan(values)
    codes = np.full(len(values), -1)
    different = np.unique(values[known])
    if len(different) == 0:
        return codes, np.array([0.0, 1.0])
    if len(different) <= bins and bool((different == np.floor(different)).all()) and np.ptp(different) < bins:
        edges = np.arange(different[0] - 0.5, different[-1] + 1)  # a bin for each whole number
    else:
        low, high = np.quantile(values[known], REACH)
        if low == high:
            low, high = different[0], different[-1]
        edges = np.linspace(low, high, bins + 1) if low < high else np.array([low - 0.5, low + 0.5])
    codes[known] = np.clip(np.searchsorted(edges, values[known], side="right") - 1, 0, len(edges) - 2)
    return codes, edges


def _edge_labels(words: ColumnWords, edges: FloatArray) -> list[str]:
    """Write the two ends of the axis in the column's own words."""
    low, high = float(edges[0]), float(edges[-1])
    if words.kind == Kind.ORDERED and words.order:
        return [shorten(words.order[0]), shorten(words.order[-1])]
    if words.kind != Kind.DATE and (np.diff(edges) == 1).all() and low != np.floor(low):
        low, high = low + 0.5, high - 0.5
    return [shorten(text) for text in shown_pair(words, low, high, "median")]


def _levels(values: FloatArray, words: list[ColumnWords], bars: int) -> tuple[IndexArray, list[str]]:
    """Number the levels, the most frequent first; those beyond the last bar are one."""
    known = ~np.isnan(values[:, 0])
    names = [str(word.level) for word in words]
    if len(words) == 1:  # two levels, of which the column marks the second
        codes, names = np.where(known, np.nan_to_num(values[:, 0]), 0).astype(np.intp), [str(words[0].other), names[0]]
    else:
        codes = np.nan_to_num(values).argmax(axis=1)
    counts = np.bincount(codes[known], minlength=len(names))
    order = np.argsort(-counts, kind="stable")
    places = np.empty(len(names), dtype=np.intp)
    places[order] = np.arange(len(names))
    labels = [shorten(names[i]) for i in order]
    if len(names) > bars:
        places = np.minimum(places, bars - 1)
        labels = [*labels[: bars - 1], f"{len(names) - bars + 1} others"]
    return np.where(known, places[codes], -1), labels


# Which features are informative, and how much of each lies between the clusters.


def feature_entries(forest: Any, table: DescribedTable, listed: IndexArray) -> dict[str, Any]:
    """Describe the columns: how informative each is, and the test of it."""
    features = np.array([column.feature for column in table.columns])
    importance, p_value = forest.feature_importances_[features], forest.feature_pvalues_[features]
    used = np.isin(features, np.concatenate(forest.estimators_features_))
    return {
        "n_columns": len(table.columns),
        "informative": None if np.isnan(p_value).any() else int((importance > 0).sum()),
        "rows": len(table.rows),
        "features": [
            {
                "name": table.columns[j].name,
                "level": table.columns[j].marks,
                "importance": rounded(importance[j]),
                "p_value": rounded(p_value[j]),
                "used": bool(used[j]),
            }
            for j in listed.tolist()
        ],
    }


def listed_columns(forest: Any, table: DescribedTable, shares: FloatArray, limits: PageLimits) -> IndexArray:
    """Choose the columns that are listed: the most informative, then those with most variance between clusters."""
    importance = forest.feature_importances_[[column.feature for column in table.columns]]
    return np.lexsort((-shares, -importance))[: limits.listed_columns]


def variance_between(clustering: Clustering, table: DescribedTable, columns: Any = slice(None)) -> FloatArray:
    """Compute the share of each column's variance that lies between the clusters."""
    weights = clustering.weights
    mass = np.ones(len(table.rows)) if weights is None else weights[table.rows]
    labels = clustering.labels[table.rows]
    return separate(table.values[:, columns], labels, mass, clustering.n_clusters).features
