"""Rows of a large table: what is costly is done on a sample, then all rows are read in blocks.

The sample is chosen by a hash of the rows' values, so it does not depend on their order, and equal rows are one row
whose weight is the sum of theirs.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from clusterforests._utils.arrays import AnyArray, FloatArray, IntArray
from clusterforests._utils.memory import DEFAULT_LIMITS, SizeLimits
from clusterforests.backends import Backend, CpuBackend
from clusterforests.consensus.affinity import collapse
from clusterforests.consensus.nodes import CutSettings, Nodes, choose_nodes, choose_sampled_nodes
from clusterforests.consensus.placement import Cut, Placement, place, place_rows
from clusterforests.rows.lloyd_pass import LloydPass, Measure, are_whole, ends_of
from clusterforests.rows.protocol import LabelledForest, Reading, ReadingProgress, ReadingSettings, TreeMaker
from clusterforests.rows.results import Results
from clusterforests.table.feature_columns import EncodedTable, distinct_rows
from clusterforests.table.row_sampling import check_sample, draw_rows
from clusterforests.table.row_sources import ArraySource, LargeTable, RowSource
from clusterforests.table.scaling import Scaling
from clusterforests.trees.forest import Forest, TreePlan
from clusterforests.trees.growth import GrowthProgress
from clusterforests.trees.planning import Sample

LLOYD_STEPS = 1  # of Lloyd on the sample: trees are made on few of its rows. On all rows they would be no better


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

    def place(self, partitions: Any, placement: Placement) -> tuple[Placement, Any]:
        """Place all rows, and name the clusters by size."""


@dataclass(frozen=True)
class SampledRows:
    """The rows that a reader reads, with a sample that stands for them until the trees are grown."""

    reader: RowReader
    reading: Reading
    backend: Backend
    results: Results
    sample_size: int
    tree_maker: TreeMaker | None = None  # makes the trees elsewhere, such as on the workers of a cluster

    @classmethod
    def of(
        cls,
        settings: ReadingSettings,
        reader: RowReader,
        reading: Reading,
        results: Results,
        tree_maker: TreeMaker | None = None,
    ) -> "SampledRows":
        """Choose the size of the sample by the settings."""
        size = settings.limits.sample_size(reader.shape[1], settings.max_samples, settings.n_landmarks)
        return cls(reader, reading, settings.backend(), results, size, tree_maker)

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

    def make_trees(self, plan: TreePlan, progress: GrowthProgress) -> Forest:
        return plan.make_trees(self.backend, progress) if self.tree_maker is None else self.tree_maker(plan, progress)

    def label(self, forest: Forest, scaling: Scaling, sample: Sample) -> LabelledForest:
        rows, threads = ArraySource(sample.table.values), self.backend.threads
        trees = settle_centers(forest, scaling, self.reader.ends(), rows, sample.weights, threads)
        of_all = replace(forest, centers=trees.centers, partitions=self.reader.label(trees))
        return LabelledForest(of_all, trees.label(rows, threads).astype(np.int32))

    def nodes(self, labelled: LabelledForest, sample: Sample, settings: CutSettings, seed: int) -> Nodes:
        if settings.n_landmarks is None:
            return choose_nodes(self.backend, labelled.forest.partitions, self.reading.weights, settings, seed)
        assert labelled.sample is not None
        return choose_sampled_nodes(self.backend, collapse(labelled.sample, sample.weights), settings, seed)

    def place(self, labelled: LabelledForest, nodes: Nodes, kept: Cut) -> tuple[Placement, Any]:
        if nodes.exact:
            return place_rows(self.backend, nodes, kept, labelled.forest.partitions, self.reading.weights)
        return self.reader.place(labelled.forest.partitions, Placement.of(kept, nodes.signatures))

    def send(self, values: Any) -> Any:
        return self.results.send(values)


def settle_centers(
    forest: Forest, scaling: Scaling, ends: FloatArray, rows: RowSource, weights: FloatArray | None, threads: int = 1
) -> LloydPass:
    """Move the centres to the means of the rows; return the pass that labels rows between the `ends` by them."""
    n = rows.shape[0]
    row_weights = np.ones(n) if weights is None else weights
    trees = LloydPass.of(forest, scaling, Measure(ends, n, math.fsum(row_weights), are_whole(row_weights)))
    for _ in range(LLOYD_STEPS):
        trees = trees.move(trees.add_up(rows, weights, threads))
    return trees


# Rows of a large table that this machine reads a block at a time, from memory or from disk.


@dataclass
class LocalBlocks:
    """A reader of rows in this machine's memory or on its disk."""

    table: LargeTable
    weights: FloatArray | None = None
    backend: Backend = field(default_factory=CpuBackend)
    progress: ReadingProgress | None = None
    limits: SizeLimits = DEFAULT_LIMITS
    read: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.source.shape

    def draw(self, size: int, seed: int) -> DrawnRows:
        pool = draw_rows(self.table.scan.keys, self.weights, size, seed)
        check_sample(self.table.source.take, self.table.scan.keys, pool.rows)
        return DrawnRows(self.table.rows(pool.rows), pool.weights)

    def ends(self) -> FloatArray:
        if self.weights is not None and not self.weights.all():
            return ends_of(self.table.source, self.weights, self.limits)
        return np.array([self.table.scan.low, self.table.scan.high])

    def label(self, trees: LloydPass) -> AnyArray:
        return trees.label(self.table.source, self.backend.threads, self._tell, self.limits)

    def place(self, partitions: AnyArray, placement: Placement) -> tuple[Placement, IntArray]:
        return place(placement, self.backend, partitions, self.weights)

    def _tell(self, rows: int) -> None:
        self.read += rows
        if self.progress is not None:
            self.progress(self.read, self.shape[0])
