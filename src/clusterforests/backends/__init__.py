"""Where the heavy work runs. Stages get a back end; back ends know nothing of stages."""

from clusterforests.backends.cpu import Coordinates, CpuBackend, Effort, KMeansJobs, KMeansRuns
from clusterforests.backends.matches import Matches

__all__ = ["Coordinates", "CpuBackend", "Effort", "KMeansJobs", "KMeansRuns", "Matches"]
