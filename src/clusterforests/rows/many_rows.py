"""Tables of many rows: what is costly is done on a sample, then all rows are read in blocks, twice.

The sample is chosen by a hash of the rows' values, so it does not depend on their order, and equal rows are one row
whose weight is the sum of theirs.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from clusterforests._base.typing import AnyArray, FloatArray, IntArray
from clusterforests.backends import CpuBackend
from clusterforests.combining.placement import Placement, settle
from clusterforests.forest.forest import Forest, GrowthPlan
from clusterforests.forest.growth import Progress as Grown
from clusterforests.rows.tree_passes import Measure, Pass, Sums, are_whole, ends_of
from clusterforests.tables.feature_columns import EncodedTable
from clusterforests.tables.row_blocks import LargeTable
from clusterforests.tables.row_sampling import draw_rows
from clusterforests.tables.row_sources import ArraySource
from clusterforests.tables.scaling import Scaling

SAMPLE_ROWS = 16384
LEAST_SAMPLE = 4096
SAMPLE_CELLS = 2**26
STEPS = 1  # passes that move the centres to the means of all rows

Progress = Callable[[int, int], None]  # (rows read, rows to read)


class Sample(NamedTuple):
    """Different rows that stand for all, and how many each stands for."""

    rows: EncodedTable
    weights: FloatArray


class ManyRows(Protocol):
    """All rows of a large table, wherever they lie. What comes back is small, but for labels."""

    progress: Progress | None

    @property
    def shape(self) -> tuple[int, int]: ...
    def draw(self, size: int, seed: int) -> Sample: ...
    def grow(self, plan: GrowthPlan, progress: Grown) -> Forest: ...
    def measure(self) -> Measure: ...
    def add_up(self, trees: Pass) -> Sums: ...
    def label(self, trees: Pass) -> Any: ...
    def settle(self, partitions: Any, placement: Placement) -> tuple[Placement, Any]: ...


@dataclass
class LocalRows:
    """Rows that this machine can read, a block at a time."""

    table: LargeTable
    weights: FloatArray | None = None
    threads: int = 1
    progress: Progress | None = None
    read: int = 0

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.source.shape

    def draw(self, size: int, seed: int) -> Sample:
        pool = draw_rows(self.table.scan.keys, self.weights, size, seed)
        return Sample(self.table.rows(pool.rows), pool.weights)

    def grow(self, plan: GrowthPlan, progress: Grown) -> Forest:
        return plan.grow(CpuBackend(self.threads), progress)

    def measure(self) -> Measure:
        seen, n = self.table.scan, self.shape[0]
        ends = np.array([seen.low, seen.high])
        if self.weights is None:
            return Measure(ends, n, n, whole=True)
        if not self.weights.all():
            ends = ends_of(self.table.source, self.weights)
        return Measure(ends, n, math.fsum(self.weights), are_whole(self.weights))

    def add_up(self, trees: Pass) -> Sums:
        return trees.add_up(self.table.source, self.weights, self.threads, self._tell)

    def label(self, trees: Pass) -> AnyArray:
        return trees.label(self.table.source, self.threads, self._tell)

    def settle(self, partitions: AnyArray, placement: Placement) -> tuple[Placement, IntArray]:
        return settle(placement, CpuBackend(self.threads), partitions, self.weights)

    def _tell(self, rows: int) -> None:
        self.read += rows
        if self.progress is not None:
            self.progress(self.read, (STEPS + 1) * self.shape[0])


def sample_size(n_columns: int, max_samples: Any, landmarks: Any) -> int:
    """Rows of the sample: fewer of a very wide table, but enough to grow on and for the landmarks asked for."""
    rows = min(SAMPLE_ROWS, max(LEAST_SAMPLE, SAMPLE_CELLS // n_columns))
    return max(rows, *(int(n) for n in (max_samples, landmarks) if isinstance(n, (int, np.integer))), 1)


def spread(forest: Forest, scaling: Scaling, rows: ManyRows) -> tuple[Forest, Pass]:
    """The forest of a sample on all rows, and the pass that labelled them."""
    trees = Pass.of(forest, scaling, rows.measure())
    for _ in range(STEPS):
        trees = trees.move(rows.add_up(trees))
    return replace(forest, centers=trees.centers, partitions=rows.label(trees)), trees


def labels_of(trees: Pass, sample: Sample, threads: int) -> IntArray:
    """Of the rows of the sample in each tree: those that all rows got."""
    return trees.label(ArraySource(sample.rows.values), threads).astype(np.int32)
