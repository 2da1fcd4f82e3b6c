"""What `fit` has once its trees are grown."""

from typing import NamedTuple

from clusterforests._base.typing import AnyIntArray, IndexArray
from clusterforests.combining.nodes import Nodes
from clusterforests.forest.automatic_settings import Setting
from clusterforests.forest.forest import Forest, GrowthPlan
from clusterforests.rows.protocol import LabelledForest
from clusterforests.signal import FeatureSignal


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
