"""How sure a clustering is, and how far its clusters differ in each feature: functions of values.

They take partitions from anywhere and their clustering; a negative label means "not clustered" there. P is the share of
partitions in which two rows are together, among those in which both are clustered. M is the share of random halves of
the partitions that put two rows into the same one of K clusters. A weight of 2 is the row twice. A fitted forest has
the same as attributes and methods: `memberships_`, `half_cuts`, `stability`, `cluster_tree`.
"""

from clusterforests.inspection.cluster_tree import ClusterTree, cluster_tree
from clusterforests.inspection.memberships import consensus_silhouette, memberships
from clusterforests.inspection.separation import feature_separation
from clusterforests.inspection.stability import HalfCuts, Stability, consensus_cdf, half_cuts, pac, stability

__all__ = [
    "ClusterTree",
    "HalfCuts",
    "Stability",
    "cluster_tree",
    "consensus_cdf",
    "consensus_silhouette",
    "feature_separation",
    "half_cuts",
    "memberships",
    "pac",
    "stability",
]
