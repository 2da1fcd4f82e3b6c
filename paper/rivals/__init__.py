"""The methods that the paper compares Cluster Forests with, and one more that it mentions."""

from paper.rivals.bagging import BaggedClustering
from paper.rivals.evidence_accumulation import EvidenceAccumulation
from paper.rivals.njw import NJWSpectralClustering
from paper.rivals.projection import RandomProjectionEnsemble
from paper.rivals.proximity import RandomForestProximity

__all__ = [
    "BaggedClustering",
    "EvidenceAccumulation",
    "NJWSpectralClustering",
    "RandomForestProximity",
    "RandomProjectionEnsemble",
]
