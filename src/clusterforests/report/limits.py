"""How much of a large table the page shows, and how much it is computed from."""

from dataclasses import dataclass

from clusterforests._base.size_limits import DEFAULT_LIMITS
from clusterforests.diagnostics.half_forests import N_SPLITS


@dataclass(frozen=True)
class PageLimits:
    """Sizes that keep a page readable, light and quick to make."""

    large_rows: int = DEFAULT_LIMITS.large_rows  # of tables of numbers with more rows, only the sample is read
    sample_rows: int = 20_000  # rows that statements about features, clusters and pairs are based on
    sample_rows_per_cluster: int = 5  # at least
    splits: int = N_SPLITS  # of the forest into two halves
    map_rows: int = 400
    map_rows_per_cluster: int = 4  # at least
    listed_rows: int = 2000  # in the table of rows
    labelled_rows: int = 200_000  # beyond which labels cannot be downloaded from the page
    id_characters: int = 3_500_000  # that the names of all rows may take up in the page
    clusters_in_table: int = 30  # beyond which there is no table of shares between clusters
    listed_columns: int = 100  # in the table of columns
    columns_per_cluster: int = 8
    classes: int = 1000  # known classes
    listed_classes: int = 30  # beyond which there is no table of clusters against classes
