"""How much of a large table the story is told from."""

from dataclasses import dataclass

from clusterforests._base.size_limits import DEFAULT_LIMITS
from clusterforests.diagnostics.half_forests import N_SPLITS


@dataclass(frozen=True)
class StoryLimits:
    """Sizes that keep a summary quick to make."""

    large_rows: int = DEFAULT_LIMITS.large_rows  # of tables of numbers with more rows, only the sample is read
    sample_rows: int = 20_000  # rows that statements about features, clusters and pairs are based on
    sample_rows_per_cluster: int = 5  # at least
    splits: int = N_SPLITS  # of the forest into two halves
