"""Set the fitted attributes that have an entry for each row, or that say how new rows get theirs."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from clusterforests._utils.arrays import IntArray
from clusterforests.consensus.constraints import Constraints
from clusterforests.consensus.enforcement import name_by_size
from clusterforests.consensus.outliers import OUTLIER, OutlierRule, check_left, find_outliers
from clusterforests.consensus.placement import Placement
from clusterforests.feature_screening import ScreeningResult
from clusterforests.rows.protocol import Rows
from clusterforests.rows.results import clusters_of, in_memory
from clusterforests.table.sparse_reduction import Reduction
from clusterforests.trees.forest import FittedTrees, Forest, GrowthPlan


def publish_trees(forest: Any, rows: Rows, plan: GrowthPlan, trees: Forest, screening: ScreeningResult) -> None:
    """Set the attributes of the trees."""
    forest.partitions_ = rows.send(trees.partitions)
    forest.estimators_features_ = [forest._encoding.numbered(features) for features in trees.features]
    forest.kappas_ = trees.kappas
    forest.kappa_path_ = trees.kappa_path
    forest.feature_importances_ = forest._encoding.spread(screening.scores, 0.0)
    forest.feature_pvalues_ = forest._encoding.spread(screening.p_values, 1.0)
    forest.n_iter_ = trees.rounds
    forest._scaling = replace(plan.scaling, sources=plan.sources)
    forest._trees = FittedTrees(trees.columns, trees.centers, trees.coordinates)


def publish_labels(forest: Any, rows: Rows, plan: GrowthPlan, placement: Placement, labels: Any) -> None:
    """Set the labels, and the rule for new rows; rows that belong to no cluster are looked for if they may be."""
    forest._nearest = forest._outlier_rule = None
    if forest.outliers is not None:
        apart = set_apart(plan, placement, labels, forest.outliers, rows.constraints)
        if apart is not None:
            forest._outlier_rule, placement, labels = apart.rule, apart.placement, apart.labels
            forest._nearest = rows.send(apart.nearest)
    forest.labels_, forest._placement, forest._constraints = rows.send(labels), placement, rows.constraints


class SetApart(NamedTuple):
    """Labels with rows that belong to no cluster, and what is known of these."""

    rule: OutlierRule
    placement: Placement
    nearest: IntArray  # the cluster of every row, or the one nearest to it
    labels: IntArray


def set_apart(
    plan: GrowthPlan, placement: Placement, labels: IntArray, asked: float | str, constraints: Constraints | None
) -> SetApart | None:
    """Find the rows that belong to no cluster, if any can. Rows of which the user knows something are none of them."""
    assert plan.varied is not None
    values = plan.whole_rows(np.arange(len(labels)))
    found = find_outliers(values, plan.varied.whole, labels, plan.weights, asked)
    if found is None:
        return None
    rule, outside = found
    if constraints is not None and constraints.guidance is not None:
        outside[constraints.guidance.rows] = False
    check_left(labels, outside, len(placement.names), asked)
    mass = np.ones(len(labels)) if plan.weights is None else plan.weights
    placement, nearest = name_by_size(placement, labels, np.where(outside, 0.0, mass))
    return SetApart(rule, placement, nearest, np.where(outside, np.int32(OUTLIER), nearest))


# What a forest says of the columns of a wide sparse table, whose components its trees see.


def publish_columns(forest: Any, X: Any, reduction: Reduction) -> None:
    """Set the attributes that have an entry for each column: every tree uses all columns."""
    everything = np.arange(forest.n_features_in_, dtype=np.int32)
    forest.estimators_features_ = [everything] * len(forest.estimators_features_)
    forest.feature_importances_ = reduction.importances(X, in_memory(clusters_of(forest)))
    forest.feature_pvalues_ = np.full(forest.n_features_in_, np.nan)
    forest.dominant_features_, forest._donors = {}, None
    if forest.n_clusters_evidence_ is not None:
        forest.n_clusters_evidence_ = replace(forest.n_clusters_evidence_, columns=everything.astype(np.intp))
