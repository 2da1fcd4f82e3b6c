"""How sure a clustering is, and how far its clusters differ in each feature.

Functions take a fitted forest, or partitions from anywhere and their clustering; a negative label means "not clustered"
there. P is the share of partitions in which two rows are together, among those in which both are clustered. M is the
share of random halves of the partitions that put two rows into the same one of K clusters. A weight of 2 is the row
twice.
"""

from clusterforests.inspection.cluster_tree import ClusterTree, Split, SplitFeature, cluster_tree
from clusterforests.inspection.consensus_distribution import ConsensusCdf, cdf_area, consensus_cdf, delta_area, pac
from clusterforests.inspection.memberships import (
    cluster_consensus,
    cluster_shares,
    consensus_silhouette,
    item_consensus,
    memberships,
)
from clusterforests.inspection.separation import (
    Profile,
    Separation,
    VarianceShares,
    feature_profile,
    feature_separation,
    noise_strength,
)
from clusterforests.inspection.stability import HalfCuts, Stability, half_cuts, half_cuts_for_each, stability

__all__ = [
    "ClusterTree",
    "ConsensusCdf",
    "HalfCuts",
    "Profile",
    "Separation",
    "Split",
    "SplitFeature",
    "Stability",
    "VarianceShares",
    "cdf_area",
    "cluster_consensus",
    "cluster_shares",
    "cluster_tree",
    "consensus_cdf",
    "consensus_silhouette",
    "delta_area",
    "feature_profile",
    "feature_separation",
    "half_cuts",
    "half_cuts_for_each",
    "item_consensus",
    "memberships",
    "noise_strength",
    "pac",
    "stability",
]
