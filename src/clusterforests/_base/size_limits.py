"""The sizes at which a fit changes how it works."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class DeviceLimits:
    """How much of a GPU is taken at a time."""

    spare: float = 0.8  # of its free memory may be taken
    block_bytes: int = 2**28  # of rows, or of labels, on their way to it
    vote_bytes: int = 2**28
    vote_chip_bytes: int = 2**18  # of nodes' labels on the chip, if it has so much
    label_bytes: int = 2**31  # of new rows' labels in all trees
    scratch_bytes: int = 2**29  # columns and labels of the rows at hand
    least_scratch_rows: int = 4_096
    most_scratch_rows: int = 2**24
    tile_columns: int = 23  # of these rows on the chip
    chip_bytes: int = 56 * 1024  # for them and the records of their trees: four blocks have room


@dataclass(frozen=True)
class SizeLimits:
    """When a table is large, and how it is then read and sampled."""

    large_rows: int = 65_536  # tables of more rows are read in blocks, and a sample stands for them
    block_bytes: int = 2**24  # of a block of rows as float64
    least_block_rows: int = 256
    sample_rows: int = 16_384
    least_sample: int = 4_096  # of a very wide table
    sample_cells: int = 2**26
    device: DeviceLimits = DeviceLimits()

    def is_large(self, n_rows: int) -> bool:
        return n_rows > self.large_rows

    def block_rows(self, n_columns: int) -> int:
        """Choose the rows of a block."""
        return max(self.least_block_rows, self.block_bytes // (8 * n_columns))

    def sample_size(self, n_columns: int, max_samples: Any, landmarks: Any) -> int:
        """Choose the rows of a sample: fewer of a wide table, but enough to grow on and for the landmarks."""
        rows = min(self.sample_rows, max(self.least_sample, self.sample_cells // n_columns))
        return max(rows, *(int(n) for n in (max_samples, landmarks) if isinstance(n, (int, np.integer))), 1)


DEFAULT_LIMITS = SizeLimits()
