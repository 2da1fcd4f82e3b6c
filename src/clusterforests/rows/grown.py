"""What `fit` decides before its trees are made, and what it has once they are grown."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from clusterforests._base.typing import AnyIntArray, IndexArray
from clusterforests.backends import CpuBackend
from clusterforests.combining.nodes import Nodes
from clusterforests.forest.automatic_settings import Setting, choose, choose_by_features, growth_settings, shape_of
from clusterforests.forest.forest import Forest, GrowthPlan, sample_rows
from clusterforests.rows.protocol import LabelledForest, Sample
from clusterforests.signal import FeatureSignal, find_islands, find_signal, preferring
from clusterforests.tables.reduction import Reduction
from clusterforests.tables.scaling import fit_scaling


class Choices(NamedTuple):
    """What was decided before the trees are made."""

    plan: GrowthPlan
    chosen: dict[str, Setting]
    signal: FeatureSignal | None  # None: every feature was kept, unseen
    islands: list[IndexArray]


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
    scaling = fit_scaling(encoded, chosen["scale"].value, sample.weights)
    grown = chosen["trees"].value == "grown"
    islands = [] if grown else find_islands(encoded.values, scaling.views, distinct, seed)
    signal = None
    if chosen["noise_features"].value != "keep":
        threads = CpuBackend(given["n_jobs"]).threads
        signal = find_signal(encoded.values, scaling, preferring(distinct, islands), n_clusters, seed, threads)
        scaling = scaling.drawing(signal.telling)
        stated = "given; " if given["noise_features"] == "drop" else ""
        reason = signal.reason if reduction is None else signal.reason.replace("features", "components")
        chosen["noise_features"] = Setting("drop", stated + reason)
    n_features = len(scaling.views.drawable)
    chosen |= choose_by_features(given, chosen["trees"], n_features)
    settings = growth_settings(chosen, given, n_features, len(distinct.rows), seed)
    limit = chosen["max_samples"].value
    part = None if limit is None or len(distinct.rows) <= limit else sample_rows(distinct, limit, seed, islands)
    plan = GrowthPlan(encoded.values, sample.weights, scaling, settings, seed, part)
    if chosen["trees"].value != "grown":
        plan = plan.vary(distinct, fine=chosen["trees"].value == "fine")
    return Choices(plan, chosen, signal, islands)
