"""One clustering from many partitions: affinity, cuts, placement of rows (Algorithm 3, lines 4 to 8)."""

from clusterforests.consensus.aggregation import Aggregate, aggregate
from clusterforests.consensus.library_selection import select_partitions

__all__ = ["Aggregate", "aggregate", "select_partitions"]
