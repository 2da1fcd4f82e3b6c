"""What a fitted forest hands out: the classes of its attributes."""

from clusterforests.combining.normalized_cut import CutNode, CutTree
from clusterforests.diagnostics import Stability
from clusterforests.forest.automatic_settings import Setting
from clusterforests.n_clusters.evidence import NClustersEvidence
from clusterforests.rows.memory_estimate import MemoryEstimate
from clusterforests.story import ClusterStory, DoubtfulRows, Summary, Trait
from clusterforests.tables.column_reading import ColumnReading
from clusterforests.tables.overview import TableOverview

__all__ = [
    "ClusterStory",
    "ColumnReading",
    "CutNode",
    "CutTree",
    "DoubtfulRows",
    "MemoryEstimate",
    "NClustersEvidence",
    "Setting",
    "Stability",
    "Summary",
    "TableOverview",
    "Trait",
]
