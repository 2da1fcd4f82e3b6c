"""Plan the trees of `ClusterForest` before any is made: settings, informative features, rows, kinds of trees."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray, is_wide
from clusterforests.feature_screening import ScreeningResult, find_rare_groups, screen_features, with_preferences
from clusterforests.table.feature_columns import DistinctRows, EncodedTable
from clusterforests.table.scaling import KEPT_VALUES, WAYS, RowOrder, fit_scaling
from clusterforests.table.sparse_reduction import Reduction
from clusterforests.trees.forest import KMeansPlan, sample_rows
from clusterforests.trees.settings import (
    ForestSettings,
    Setting,
    check_n_base_clusters,
    choose,
    choose_by_features,
    clusters_of_trees,
)


class Sample(NamedTuple):
    """Rows that stand for all, and how many each stands for: all rows of a small table, with their own weights."""

    table: EncodedTable
    weights: FloatArray | None  # None: each counts once
    distinct: DistinctRows
    every_row: bool = False  # whether these are all rows


class PlannedForest(NamedTuple):
    """The plan of the trees, and what it was decided by."""

    plan: KMeansPlan
    chosen: dict[str, Setting]
    screening: ScreeningResult | None  # None: every feature was kept, unseen
    rare_groups: list[IndexArray]


def plan_forest(
    given: ForestSettings, sample: Sample, n_clusters: int, seed: int, threads: int, reduction: Reduction | None
) -> PlannedForest:
    """Decide every setting that is "auto", for up to so many clusters, screen the features and plan the trees."""
    encoded, distinct = sample.table, sample.distinct
    chosen = choose(given, len(distinct.rows), n_clusters)
    if reduction is not None:
        chosen["scale"] = Setting("none", reduction.reason)

    # Features are made comparable. Of a wide table ranks wait until it is known which columns are used.
    scale = chosen["scale"].value
    narrowed = sample.every_row and can_be_narrowed(encoded, scale)
    scaling = fit_scaling(encoded, scale, sample.weights, threads, ranks=not narrowed)

    # Trees use the informative features only. Rare groups are drawn sooner than other rows, so that there are some.
    rare_groups = find_rare_groups(encoded.values, scaling.views, distinct, seed)
    screening = None
    if chosen["select_features"].value:
        drawn = with_preferences(distinct, rare_groups)
        screening = screen_features(encoded.values, scaling, drawn, n_clusters, seed, threads)
        scaling = scaling.drawing(screening.informative)
        reason = screening.reason if reduction is None else screening.reason.replace("features", "components")
        chosen["select_features"] = Setting(True, reason)

    # The kind of trees, the rows that they are made on, and the clusters of each.
    chosen |= choose_by_features(given, chosen["trees"], len(scaling.views.drawable))
    limit = chosen["max_samples"].value
    part = None if limit is None or len(distinct.rows) <= limit else sample_rows(distinct, limit, seed, rare_groups)
    asked = chosen["n_base_clusters"].value
    check_n_base_clusters(given.n_base_clusters, len(distinct.rows))
    sizes = clusters_of_trees(asked, n_clusters, given.n_estimators, len(distinct.rows), seed, even=False)
    plan = KMeansPlan(encoded.values, sample.weights, scaling, sizes, isinstance(asked, tuple), seed, part)
    if narrowed:
        plan = _narrow(plan, encoded, threads)
    fine = chosen["trees"].value == "fine"
    plan = plan.plan_trees(distinct, fine=fine)
    if fine and given.n_base_clusters == "auto":
        reason = f"{chosen['n_base_clusters'].reason}; fine trees have more, up to {plan.n_base_clusters.max()}"
        chosen["n_base_clusters"] = Setting(asked, reason)
    return PlannedForest(plan, chosen, screening, rare_groups)


def _narrow(plan: KMeansPlan, encoded: EncodedTable, threads: int) -> KMeansPlan:
    """Let a plan have only the columns that trees may draw. Rows stay in the order that all columns give them."""
    values, scaling, sources = plan.scaling.narrowed(encoded, plan.weights)
    order = RowOrder(encoded.values, plan.weights, plan.scaling)
    rows, weights = (np.arange(len(values)), plan.weights) if plan.part is None else plan.part
    (keys,) = order.keys([(rows, weights)], threads)
    return replace(plan, values=values, scaling=scaling, sources=sources, keys=keys, order=order)


def can_be_narrowed(encoded: EncodedTable, scale: str) -> bool:
    """Tell whether a table is so wide that it pays, and whether its first view, which is screened, needs no ranks."""
    n, count = encoded.values.shape
    return is_wide(count) and n <= KEPT_VALUES and WAYS[scale][0] != "rank"
