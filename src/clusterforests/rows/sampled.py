"""Rows of a large table: what is costly is done on a sample, then all rows are read in blocks, twice.

The sample is chosen by a hash of the rows' values, so it does not depend on their order, and equal rows are one row
whose weight is the sum of theirs.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from clusterforests._base.typing import FloatArray
from clusterforests.backends import Backend
from clusterforests.combining.affinity import collapse
from clusterforests.combining.combine import place_rows
from clusterforests.combining.cut import KeptCut, place_by
from clusterforests.combining.nodes import Nodes, choose_nodes, choose_sampled_nodes
from clusterforests.combining.placement import Placement
from clusterforests.combining.settings import CutSettings
from clusterforests.forest.forest import Forest, GrowthPlan
from clusterforests.forest.growth import GrowthProgress
from clusterforests.rows.lloyd_pass import LloydPass, Measure, Sums
from clusterforests.rows.protocol import Grower, LabelledForest, Reading, ReadingProgress, Sample
from clusterforests.rows.results import Results
from clusterforests.tables.distinct_rows import distinct_rows
from clusterforests.tables.feature_columns import EncodedTable
from clusterforests.tables.row_sources import ArraySource
from clusterforests.tables.scaling import Scaling

STEPS = 1  # passes that move the centres to the means of all rows


class DrawnRows(NamedTuple):
    """Distinct rows of a large table, and how many rows each stands for."""

    rows: EncodedTable
    weights: FloatArray


class RowReader(Protocol):
    """Reads all rows of a large table, wherever they are. What it returns is small, but for labels."""

    progress: ReadingProgress | None

    @property
    def shape(self) -> tuple[int, int]: ...

    def draw(self, size: int, seed: int) -> DrawnRows:
        """Draw a sample of the distinct rows."""

    def measure(self) -> Measure:
        """Say what sums over all rows have to hold."""

    def add_up(self, trees: LloydPass) -> Sums:
        """Add up the rows that are nearest to each centre."""

    def label(self, trees: LloydPass) -> Any:
        """Find the nearest centre of each row in each tree: labels (T, n)."""

    def settle(self, partitions: Any, placement: Placement) -> tuple[Placement, Any]:
        """Place all rows, and name the clusters by size."""


@dataclass(frozen=True)
class SampledRows:
    """The rows that a reader reads, with a sample that stands for them until the trees are grown."""

    reader: RowReader
    reading: Reading
    backend: Backend
    results: Results
    sample_size: int
    grower: Grower | None = None  # grows the trees elsewhere, such as on the workers of a cluster

    @classmethod
    def of(
        cls,
        forest: Any,
        reader: RowReader,
        reading: Reading,
        backend: Backend,
        results: Results,
        grower: Grower | None = None,
    ) -> "SampledRows":
        """Choose the size of the sample by the forest's settings."""
        size = forest._limits.sample_size(reader.shape[1], forest.max_samples, forest.landmarks)
        return cls(reader, reading, backend, results, size, grower)

    @property
    def n_rows(self) -> int:
        return self.reader.shape[0]

    @property
    def constraints(self) -> None:
        """Rows that are not compared one by one keep no constraints."""

    def report_to(self, progress: ReadingProgress) -> None:
        self.reader.progress = progress

    def sample(self, seed: int) -> Sample:
        rows, weights = self.reader.draw(self.sample_size, seed)
        return Sample(rows, weights, distinct_rows(rows.values, weights))

    def grow(self, plan: GrowthPlan, progress: GrowthProgress) -> Forest:
        return plan.grow(self.backend, progress) if self.grower is None else self.grower(plan, progress)

    def label(self, forest: Forest, scaling: Scaling, sample: Sample) -> LabelledForest:
        spread_forest, trees = spread(forest, scaling, self.reader)
        of_sample = trees.label(ArraySource(sample.table.values), self.backend.threads).astype(np.int32)
        return LabelledForest(spread_forest, of_sample)

    def nodes(self, labelled: LabelledForest, sample: Sample, settings: CutSettings, seed: int) -> Nodes:
        if settings.landmarks is None:
            return choose_nodes(self.backend, labelled.forest.partitions, self.reading.weights, settings, seed)
        assert labelled.sample is not None
        return choose_sampled_nodes(self.backend, collapse(labelled.sample, sample.weights), settings, seed)

    def place(self, labelled: LabelledForest, nodes: Nodes, kept: KeptCut) -> tuple[Placement, Any]:
        if nodes.exact:
            return place_rows(self.backend, nodes, kept, labelled.forest.partitions, self.reading.weights)
        return self.reader.settle(labelled.forest.partitions, place_by(kept.cut, nodes.signatures))

    def send(self, values: Any) -> Any:
        return self.results.send(values)


def spread(forest: Forest, scaling: Scaling, reader: RowReader) -> tuple[Forest, LloydPass]:
    """Take the forest of a sample to all rows; return it with the pass that labelled them."""
    trees = LloydPass.of(forest, scaling, reader.measure())
    for _ in range(STEPS):
        trees = trees.move(reader.add_up(trees))
    return replace(forest, centers=trees.centers, partitions=reader.label(trees)), trees
