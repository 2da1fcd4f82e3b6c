"""A back end that solves each K-means problem once, however often it is asked for."""

from typing import Any

import numpy as np

from clusterforests.backends import CpuBackend, KMeansJobs, KMeansRuns


class RememberingBackend(CpuBackend):
    """A problem's solution depends on its features, clusters, seed and restarts alone, so it can be kept.

    Forests with the same `random_state` try the same draws with the same seeds: one with more candidates, or more
    patience, tries what the other did and then more.
    """

    def __init__(self) -> None:
        super().__init__(1)
        self._known: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def kmeans(self, jobs: KMeansJobs) -> KMeansRuns:
        problems = zip(jobs.features, jobs.clusters.tolist(), jobs.seeds.tolist(), strict=True)
        keys = [(f.tobytes(), k, seed, jobs.n_init, jobs.max_iter, jobs.effort) for f, k, seed in problems]
        new = [i for i, key in enumerate(keys) if key not in self._known]
        if new:
            chosen = [jobs.features[i] for i in new]
            runs = super().kmeans(jobs._replace(features=chosen, clusters=jobs.clusters[new], seeds=jobs.seeds[new]))
            self._known.update(zip((keys[i] for i in new), zip(*runs[1:], strict=True), strict=True))
        centers, *numbers = zip(*(self._known[key] for key in keys), strict=True)
        return KMeansRuns(jobs.features, list(centers), *(np.array(column) for column in numbers))
