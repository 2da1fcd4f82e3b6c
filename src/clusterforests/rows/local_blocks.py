"""Rows of a large table that this machine reads a block at a time, from memory or from disk."""

from dataclasses import dataclass, field

import numpy as np

from clusterforests._base.size_limits import DEFAULT_LIMITS, SizeLimits
from clusterforests._base.typing import AnyArray, FloatArray, IntArray
from clusterforests.backends import Backend, CpuBackend
from clusterforests.combining.placement import Placement, settle
from clusterforests.rows.lloyd_pass import LloydPass, ends_of
from clusterforests.rows.protocol import ReadingProgress
from clusterforests.rows.sampled import DrawnRows
from clusterforests.tables.row_blocks import LargeTable
from clusterforests.tables.row_sampling import check_sample, draw_rows


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

    def settle(self, partitions: AnyArray, placement: Placement) -> tuple[Placement, IntArray]:
        return settle(placement, self.backend, partitions, self.weights)

    def _tell(self, rows: int) -> None:
        self.read += rows
        if self.progress is not None:
            self.progress(self.read, self.shape[0])
