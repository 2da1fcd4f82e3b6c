"""Where the heavy work runs. Stages get a back end; back ends know nothing of stages."""

from clusterforests.backends.cpu import Coordinates, CpuBackend, Effort, KMeansJobs, KMeansRuns

__all__ = ["Coordinates", "CpuBackend", "Effort", "KMeansJobs", "KMeansRuns"]
