"""Where the heavy work runs. Stages get a back end; back ends know nothing of stages."""

from clusterforests.backends.cpu import CpuBackend, Effort, KMeansJobs, KMeansRuns

__all__ = ["CpuBackend", "Effort", "KMeansJobs", "KMeansRuns"]
