"""How sure a clustering is, and how far its clusters differ in each feature.

The partitions it was made from may come from anywhere; a negative label means "not clustered" there. P is the share of
partitions in which two rows are together, among those in which both are clustered. A weight of 2 is the row twice.
"""

from clusterforests.diagnostics.distribution import ConsensusCdf, cdf_area, consensus_cdf, delta_area, pac
from clusterforests.diagnostics.feature_profile import Profile, feature_profile, noise_strength
from clusterforests.diagnostics.half_forests import Stability, stability
from clusterforests.diagnostics.separation import Separation, VarianceShares, feature_separation
from clusterforests.diagnostics.shares import (
    cluster_consensus,
    cluster_shares,
    consensus_silhouette,
    item_consensus,
    memberships,
)

__all__ = [
    "ConsensusCdf",
    "Profile",
    "Separation",
    "Stability",
    "VarianceShares",
    "cdf_area",
    "cluster_consensus",
    "cluster_shares",
    "consensus_cdf",
    "consensus_silhouette",
    "delta_area",
    "feature_profile",
    "feature_separation",
    "item_consensus",
    "memberships",
    "noise_strength",
    "pac",
    "stability",
]
