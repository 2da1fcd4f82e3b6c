"""What `fit` decides before its trees are made, and what it has once they are grown."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from clusterforests._utils.arrays import AnyIntArray, IndexArray, is_wide
from clusterforests.backends import CpuBackend
from clusterforests.consensus.nodes import Nodes
from clusterforests.feature_screening import ScreeningResult, find_rare_groups, screen_features, with_preferences
from clusterforests.rows.protocol import LabelledForest, Sample
from clusterforests.table.feature_columns import EncodedTable
from clusterforests.table.scaling import KEPT_VALUES, WAYS, RowOrder, fit_scaling
from clusterforests.table.sparse_reduction import Reduction
from clusterforests.trees.forest import Forest, GrowthPlan, sample_rows
from clusterforests.trees.settings import Setting, choose, choose_by_features, growth_settings, shape_of


class Choices(NamedTuple):
    """What was decided before the trees are made."""

    plan: GrowthPlan
    chosen: dict[str, Setting]
    screening: ScreeningResult | None  # None: every feature was kept, unseen
    rare_groups: list[IndexArray]


class Grown(NamedTuple):
    """Trees of all rows, and the nodes of their graph."""

    choices: Choices
    forest: Forest
    labelled: LabelledForest
    nodes: Nodes

    @property
    def labels_of_sample(self) -> AnyIntArray:
        """The labels of the sample's rows, (T, n)."""
        return self.labelled.forest.partitions if self.labelled.sample is None else self.labelled.sample


def plan_growth(
    given: Mapping[str, Any], sample: Sample, n_clusters: int, seed: int, reduction: Reduction | None
) -> Choices:
    """Decide every setting that is "auto", for up to so many clusters, and plan the growth."""
    encoded, distinct = sample.table, sample.distinct
    number = Setting(n_clusters, "given")
    chosen = choose(given, shape_of(encoded, distinct.rows), n_clusters) | {"n_clusters": number}
    if reduction is not None:
        chosen["scale"] = Setting("none", reduction.reason)
    grown, scale = chosen["trees"].value == "grown", chosen["scale"].value
    threads = CpuBackend(given["n_jobs"]).threads
    narrowed = sample.every_row and not grown and can_be_narrowed(encoded, scale)
    scaling = fit_scaling(encoded, scale, sample.weights, threads, ranks=not narrowed)
    rare_groups = [] if grown else find_rare_groups(encoded.values, scaling.views, distinct, seed)
    screening = None
    if chosen["select_features"].value:
        screening = screen_features(
            encoded.values, scaling, with_preferences(distinct, rare_groups), n_clusters, seed, threads
        )
        scaling = scaling.drawing(screening.informative)
        reason = screening.reason if reduction is None else screening.reason.replace("features", "components")
        chosen["select_features"] = Setting(True, reason)
    n_features = len(scaling.views.drawable)
    chosen |= choose_by_features(given, chosen["trees"], n_features)
    settings = growth_settings(chosen, given, n_features, len(distinct.rows), seed)
    limit = chosen["max_samples"].value
    part = None if limit is None or len(distinct.rows) <= limit else sample_rows(distinct, limit, seed, rare_groups)
    plan = GrowthPlan(encoded.values, sample.weights, scaling, settings, seed, part)
    if narrowed:
        plan = _narrow(plan, encoded, threads)
    if chosen["trees"].value != "grown":
        plan = plan.vary(distinct, fine=chosen["trees"].value == "fine")
    return Choices(plan, chosen, screening, rare_groups)


def _narrow(plan: GrowthPlan, encoded: EncodedTable, threads: int) -> GrowthPlan:
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
