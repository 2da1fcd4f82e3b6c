"""How much of a large table the page shows, and how much it is computed from."""

from dataclasses import dataclass

from clusterforests.story.limits import StoryLimits


@dataclass(frozen=True)
class PageLimits(StoryLimits):
    """Sizes that keep a page readable, light and quick to make."""

    numbers: int = 8  # of clusters that the page can be switched to
    splits_of_others: int = 8  # into halves, for numbers of clusters that were not chosen
    numbers_of_many: int = 5  # where there are many rows
    many_rows: int = 5000
    map_rows: int = 400
    map_rows_per_cluster: int = 4  # at least
    point_rows: int = 600
    listed_rows: int = 2000  # in the table of rows, if there are too many for all of them
    stored_rows: int = 200_000  # beyond which only the least sure rows are in the page
    exact_rows: int = 20_000  # beyond which memberships of rows are rounded to per cent
    id_bytes: int = 1_500_000  # that the names of all rows may take up in the page, compressed
    clusters_in_table: int = 30  # beyond which there is no table of shares between clusters
    listed_columns: int = 100  # in the table of columns
    drawn_columns: int = 24  # with a histogram for each cluster
    bins: int = 20  # of a histogram
    bars: int = 8  # levels of a category that are drawn, the rest being one
    drawn_clusters: int = 30  # beyond which there are no histograms
    classes: int = 1000  # known classes
    listed_classes: int = 30  # beyond which there is no table of clusters against classes
