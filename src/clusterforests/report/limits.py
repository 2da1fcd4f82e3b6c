"""How much of a large table the page shows, and how much it is computed from."""

from dataclasses import dataclass

from clusterforests.story.limits import StoryLimits


@dataclass(frozen=True)
class PageLimits(StoryLimits):
    """Sizes that keep a page readable, light and quick to make."""

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
