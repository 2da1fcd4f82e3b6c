"""What a fitted forest hands out: the classes of its attributes."""

from clusterforests.consensus.normalized_cut import CutNode, CutTree
from clusterforests.inspection import Stability
from clusterforests.judge.evidence import NClustersEvidence
from clusterforests.rows.memory_estimate import MemoryEstimate
from clusterforests.table.reader.column_reading import ColumnReading
from clusterforests.table.reader.overview import TableOverview
from clusterforests.trees.settings import Setting

__all__ = [
    "ColumnReading",
    "CutNode",
    "CutTree",
    "MemoryEstimate",
    "NClustersEvidence",
    "Setting",
    "Stability",
    "TableOverview",
]
