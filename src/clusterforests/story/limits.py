"""How much of a large table the story is told from."""

from dataclasses import dataclass

from clusterforests.diagnostics.half_forests import N_SPLITS


@dataclass(frozen=True)
class StoryLimits:
    """Sizes that keep a summary quick to make."""

    sample_rows: int = 20_000  # rows that statements about features, clusters and pairs are based on
    sample_rows_per_cluster: int = 5  # at least
    splits: int = N_SPLITS  # of the forest into two halves
