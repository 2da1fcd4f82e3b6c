"""The methods that the paper compares Cluster Forests with, and one more that it mentions."""

from clusterforests.baselines.bagging import BaggedClustering
from clusterforests.baselines.evidence import EvidenceAccumulation
from clusterforests.baselines.njw import NJWSpectralClustering
from clusterforests.baselines.projection import RandomProjectionEnsemble
from clusterforests.baselines.proximity import RandomForestProximity

__all__ = [
    "BaggedClustering",
    "EvidenceAccumulation",
    "NJWSpectralClustering",
    "RandomForestProximity",
    "RandomProjectionEnsemble",
]
