"""What a fitted forest hands out: the classes of its attributes."""

from clusterforests.consensus.normalized_cut import CutNode, CutTree
from clusterforests.inspection import Stability
from clusterforests.judge.evidence import NClustersEvidence
from clusterforests.rows.memory_estimate import MemoryEstimate
from clusterforests.trees.settings import Setting

__all__ = [
    "CutNode",
    "CutTree",
    "MemoryEstimate",
    "NClustersEvidence",
    "Setting",
    "Stability",
]
