"""Rows of a table that fits into memory as one array of numbers: the sample is all of them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clusterforests._utils.threads import count_threads
from clusterforests.backends import Backend
from clusterforests.consensus.consensus_clustering import place_rows
from clusterforests.consensus.constraints import Constraints, GivenConstraints
from clusterforests.consensus.enforcement import Placed, enforce
from clusterforests.consensus.methods import Cut
from clusterforests.consensus.nodes import CutSettings, Nodes, choose_nodes
from clusterforests.consensus.placement import Placement
from clusterforests.rows.memory_estimate import check_fit_memory, needs_little
from clusterforests.rows.protocol import (
    FittedTable,
    Grower,
    LabelledForest,
    Reading,
    ReadingProgress,
    ReadingSettings,
    Rows,
)
from clusterforests.rows.results import Results
from clusterforests.table.checks import check_weights
from clusterforests.table.encoding import encode
from clusterforests.table.feature_columns import distinct_rows
from clusterforests.table.imputation import complete
from clusterforests.table.scaling import Scaling
from clusterforests.trees.forest import Forest, GrowthPlan
from clusterforests.trees.growth import GrowthProgress
from clusterforests.trees.planning import Sample
from clusterforests.trees.settings import Setting


@dataclass(frozen=True)
class InMemoryRows:
    """All rows as numbers, without missing cells."""

    sample_of_all: Sample
    reading: Reading
    backend: Backend
    results: Results
    grower: Grower | None = None  # grows the trees elsewhere, such as on the workers of a cluster
    constraints: Constraints | None = None  # what the user asks of the clusters

    @property
    def n_rows(self) -> int:
        return len(self.sample_of_all.table.values)

    def report_to(self, progress: ReadingProgress) -> None:
        """Report nothing: the rows are read already."""

    def sample(self, seed: int) -> Sample:
        return self.sample_of_all

    def grow(self, plan: GrowthPlan, progress: GrowthProgress) -> Forest:
        return plan.grow(self.backend, progress) if self.grower is None else self.grower(plan, progress)

    def label(self, forest: Forest, scaling: Scaling, sample: Sample) -> LabelledForest:
        """Leave the labels as they are: trees that were grown on all rows have them. Rows may be linked."""
        if self.constraints is None:
            return LabelledForest(forest, None)
        return LabelledForest(replace(forest, partitions=self.constraints.link(forest.partitions)), None)

    def nodes(self, labelled: LabelledForest, sample: Sample, settings: CutSettings, seed: int) -> Nodes:
        return choose_nodes(self.backend, labelled.forest.partitions, sample.weights, settings, seed)

    def place(self, labelled: LabelledForest, nodes: Nodes, kept: Cut) -> tuple[Placement, Any]:
        partitions, weights = labelled.forest.partitions, self.sample_of_all.weights
        placement, labels = place_rows(self.backend, nodes, kept, partitions, weights)
        if self.constraints is None:
            return placement, labels
        return enforce(self.backend, Placed(partitions, weights, placement, labels), self.constraints)

    def send(self, values: Any) -> Any:
        return self.results.send(values)


def read_in_memory(settings: ReadingSettings, X: Any, sample_weight: Any, device: Setting) -> tuple[Sample, Reading]:
    """Copy the table as numbers, fill its missing cells and find the rows that are distinct.

    A table too large for memory is refused before it is read, as far as its shape is known.
    """
    check_before_reading(settings, X, sample_weight)
    table = FittedTable()
    encoded, encoding = encode(table, X)
    weights = check_weights(sample_weight, len(encoded.values))

    # Categories and missing cells make a copy; where cells are missing they are filled from similar rows.
    donors = None
    if encoded.categorical.any() or not np.isfinite(encoded.values).all():
        check_fit_memory(settings, encoded.values.shape, copied=True)
        encoded, donors = complete(encoded, weights, count_threads(settings.n_jobs))
    elif not needs_little(encoded.values.shape):
        check_fit_memory(settings, encoded.values.shape)
    sample = Sample(encoded, weights, distinct_rows(encoded.values, weights), every_row=True)
    return sample, Reading(table, encoding, donors, weights, device)


def check_before_reading(settings: ReadingSettings, X: Any, sample_weight: Any) -> None:
    """Refuse what can be refused before a long reading."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2 and all(shape) and not needs_little(shape):
        check_weights(sample_weight, shape[0])
        check_fit_memory(settings, shape)


def constrain(rows: Rows, asked: GivenConstraints, large_rows: int) -> Rows:
    """Let rows keep what the user asks for; refuse it where trees see only a sample of them."""
    names = asked.names
    if not names:
        return rows
    if not isinstance(rows, InMemoryRows):
        raise ValueError(
            f"{names[0]} is offered where all rows are compared, but trees of {rows.n_rows} rows see a sample. Fit at "
            f"most {large_rows} rows and `predict` the others, or pass max_samples=None for a table in memory."
        )
    return replace(rows, constraints=asked.read(rows.n_rows, rows.sample_of_all.weights))
