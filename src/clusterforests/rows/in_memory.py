"""Rows of a table that fits into memory as one array of numbers: the sample is all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._base.typing import FloatArray
from clusterforests.backends import Backend
from clusterforests.combining.combine import place_rows
from clusterforests.combining.cut import KeptCut
from clusterforests.combining.nodes import Nodes, choose_nodes
from clusterforests.combining.placement import Placement
from clusterforests.combining.settings import CutSettings
from clusterforests.forest.automatic_settings import Setting
from clusterforests.forest.forest import Forest, GrowthPlan
from clusterforests.forest.growth import GrowthProgress
from clusterforests.rows.memory_estimate import check_fit_memory
from clusterforests.rows.protocol import LabelledForest, Reading, Sample
from clusterforests.rows.results import Results
from clusterforests.tables.checks import check_weights
from clusterforests.tables.encoding import encode
from clusterforests.tables.feature_columns import EncodedTable
from clusterforests.tables.imputation import complete
from clusterforests.tables.scaling import Scaling

Grower = Callable[[GrowthPlan, GrowthProgress], Forest]


@dataclass(frozen=True)
class InMemoryRows:
    """All rows as numbers, without missing cells."""

    encoded: EncodedTable
    weights: FloatArray | None  # in memory, wherever those of `reading` are
    reading: Reading
    backend: Backend
    results: Results
    grower: Grower | None = None  # grows the trees elsewhere, such as on the workers of a cluster

    @property
    def n_rows(self) -> int:
        return len(self.encoded.values)

    def sample(self, seed: int) -> Sample:
        return Sample(self.encoded, self.weights)

    def grow(self, plan: GrowthPlan, progress: GrowthProgress) -> Forest:
        return plan.grow(self.backend, progress) if self.grower is None else self.grower(plan, progress)

    def label(self, forest: Forest, scaling: Scaling, sample: Sample) -> LabelledForest:
        """Leave the labels as they are: trees that were grown on all rows have them."""
        return LabelledForest(forest, None)

    def nodes(self, labelled: LabelledForest, sample: Sample, settings: CutSettings, seed: int) -> Nodes:
        return choose_nodes(self.backend, labelled.forest.partitions, self.weights, settings, seed)

    def place(self, labelled: LabelledForest, nodes: Nodes, kept: KeptCut) -> tuple[Placement, Any]:
        return place_rows(self.backend, nodes, kept, labelled.forest.partitions, self.weights)

    def send(self, values: Any) -> Any:
        return self.results.send(values)


def check_before_reading(forest: Any, X: Any, sample_weight: Any, threads: int) -> None:
    """Refuse what can be refused before a long reading."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2 and all(shape):
        check_weights(sample_weight, shape[0])
        check_fit_memory(forest, shape, threads=threads)


def encode_rows(
    forest: Any, X: Any, sample_weight: Any, threads: int, backend: Setting
) -> tuple[EncodedTable, Reading]:
    """Copy the table as numbers, and fill its missing cells."""
    encoded, encoding = encode(forest, X)
    copied = bool(np.isnan(encoded.values).any()) or bool(encoded.categorical.any())
    check_fit_memory(forest, encoded.values.shape, threads=threads, copied=copied)
    weights = check_weights(sample_weight, len(encoded.values))
    encoded, donors = complete(encoded, weights, threads)
    return encoded, Reading(encoding, donors, weights, backend)
