"""Rows of a large table: what is costly is done on a sample, then all rows are read in blocks.

The sample is chosen by a hash of the rows' values, so it does not depend on their order, and equal rows are one row
whose weight is the sum of theirs.
"""

import math
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
from clusterforests.rows.lloyd_pass import LloydPass, Measure, are_whole
from clusterforests.rows.protocol import Grower, LabelledForest, Reading, ReadingProgress, Sample
from clusterforests.rows.results import Results
from clusterforests.tables.distinct_rows import distinct_rows
from clusterforests.tables.feature_columns import EncodedTable
from clusterforests.tables.row_sources import ArraySource, RowSource
from clusterforests.tables.scaling import Scaling

STEPS = 1  # of Lloyd on the sample: trees are made on few of its rows. On all rows they would be no better


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

    def ends(self) -> FloatArray:
        """Find the smallest and the largest value of each column, over the rows that have a weight: (2, C)."""

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
        rows, threads = ArraySource(sample.table.values), self.backend.threads
        trees = settle_centers(forest, scaling, self.reader.ends(), rows, sample.weights, threads)
        of_all = replace(forest, centers=trees.centers, partitions=self.reader.label(trees))
        return LabelledForest(of_all, trees.label(rows, threads).astype(np.int32))

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


def settle_centers(
    forest: Forest, scaling: Scaling, ends: FloatArray, rows: RowSource, weights: FloatArray | None, threads: int = 1
) -> LloydPass:
    """Move the centres to the means of the rows; return the pass that labels rows between the `ends` by them."""
    n = rows.shape[0]
    mass = np.ones(n) if weights is None else weights
    trees = LloydPass.of(forest, scaling, Measure(ends, n, math.fsum(mass), are_whole(mass)))
    for _ in range(STEPS):
        trees = trees.move(trees.add_up(rows, weights, threads))
    return trees
