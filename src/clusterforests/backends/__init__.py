"""Where the computing is done. Stages get a back end; back ends know nothing of stages.

Where rows are read, on the CPU or on a GPU (`ClusterForest(device=...)`), is another question: see `rows/`.
"""

from clusterforests.backends.cpu import CpuBackend
from clusterforests.backends.protocol import (
    Backend,
    Coordinates,
    Effort,
    KMeansJobs,
    KMeansRuns,
    LoadedTable,
    MatchOperator,
)

__all__ = [
    "Backend",
    "Coordinates",
    "CpuBackend",
    "Effort",
    "KMeansJobs",
    "KMeansRuns",
    "LoadedTable",
    "MatchOperator",
]
