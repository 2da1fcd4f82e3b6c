"""Cluster Forests: consensus clustering of tables with many features, some of them noise."""

from importlib.metadata import version as _version

from clusterforests.combining.consensus_function import consensus
from clusterforests.estimator import ClusterForest
from clusterforests.kmeans import HartiganWongKMeans

__version__ = _version("clusterforests")

__all__ = ["ClusterForest", "HartiganWongKMeans", "__version__", "consensus"]
