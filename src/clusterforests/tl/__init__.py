"""Tools for AnnData, in the manner of scanpy's `tl`."""

from clusterforests.tl.cells import cluster_forest

__all__ = ["cluster_forest"]
