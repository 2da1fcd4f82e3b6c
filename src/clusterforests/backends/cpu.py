"""The CPU back end: threads of the C++ core."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from clusterforests import _core
from clusterforests._utils.arrays import FloatArray, Int64Array, IntArray, KeyArray
from clusterforests._utils.threads import count_threads
from clusterforests.backends.protocol import Coordinates, Effort, KMeansJobs, KMeansRuns, LoadedTable, MatchOperator

# Rows * columns * clusters below which the core uses one thread for a problem.
ONE_THREAD_WORK = 2**16
# Products that a thread must have to do to be worth its start.
THREAD_WORK = 2**20


class CpuBackend:
    """Computes on this machine's cores: K-means, assignment, match counts and products with W."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.threads = count_threads(n_jobs)

    def load(
        self,
        X: FloatArray,
        weights: FloatArray | None = None,
        keyed: int | None = None,
        keys: KeyArray | None = None,
    ) -> LoadedTable:
        self._table = table = _core.Table(X, weights, keyed, keys)
        self._coordinates = Coordinates(table.exponent, table.origin, table.reach)
        return LoadedTable(table.distinct, self._coordinates, table.weight_exponent)

    def kmeans(self, jobs: KMeansJobs) -> KMeansRuns:
        columns, offsets = _flatten(jobs.features)
        seeds, n_init, max_iter = jobs.seeds, jobs.n_init, jobs.max_iter
        found = _core.kmeans(
            self._table, columns, offsets, jobs.clusters, seeds, n_init, max_iter, int(jobs.effort), self.threads
        )
        return KMeansRuns(
            jobs.features,
            found.centers,
            found.solved,
            found.within,
            found.between,
            found.within_pairs,
            found.between_pairs,
            found.exponent,
            found.iterations,
        )

    def assign(
        self,
        features: Sequence[IntArray],
        centers: Sequence[FloatArray],
        X: FloatArray | None = None,
        coordinates: Coordinates | None = None,
    ) -> IntArray:
        if X is None:
            table = self._table
        else:
            table = _core.project(X, *(self._coordinates if coordinates is None else coordinates))
        columns, offsets = _flatten(features)
        clusters = np.array([len(c) for c in centers], dtype=np.int32)
        flat = np.concatenate([c.ravel() for c in centers])
        return _core.assign(table, columns, offsets, clusters, flat, self.threads)

    def coassociate(self, a: IntArray, b: IntArray, table: FloatArray) -> FloatArray:
        return _core.coassociate(np.ascontiguousarray(a), np.ascontiguousarray(b), table, self.threads)

    def most_matched(self, a: IntArray, b: IntArray) -> tuple[Int64Array, IntArray]:
        return _core.most_matched(np.ascontiguousarray(a), np.ascontiguousarray(b), self.threads)

    def matches(self, columns: IntArray, table: FloatArray) -> MatchOperator:
        return MatchOperator(columns, table, self.threads)

    def multiply(self, matrix: FloatArray, vectors: FloatArray) -> FloatArray:
        threads = min(self.threads, max(1, matrix.size * len(vectors) // THREAD_WORK))
        return _core.multiply(matrix, np.ascontiguousarray(vectors), threads)


class KMeansFit(NamedTuple):
    """K-means of one table. Coordinates are value / 2**exponent - origin; distances are in units of 2**scale."""

    n_distinct: int  # different rows that have a weight; with fewer than clusters asked for, each is a cluster
    solved: bool  # False if float64 cannot tell that many rows apart
    scale: int
    iterations: int
    within: float
    exponent: IntArray
    origin: FloatArray
    places: FloatArray  # coordinates of the centres, (k, columns)
    centers: FloatArray
    labels: IntArray


def fit_kmeans(
    X: FloatArray,
    weights: FloatArray | None,
    *,
    n_clusters: int,
    seed: int,
    n_init: int,
    max_iter: int,
    effort: Effort,
    n_jobs: int | None,
) -> KMeansFit:
    """Solve one problem over all columns of X and label its rows, in a single call of the core.

    The result is that of `load`, `kmeans` and `assign`; for a small table, their calls take about as long as the work.
    """
    threads = 1 if X.size * int(n_clusters) < ONE_THREAD_WORK else count_threads(n_jobs)
    return KMeansFit(*_core.fit_kmeans(X, weights, n_clusters, seed, n_init, max_iter, int(effort), threads))


def _flatten(features: Sequence[IntArray]) -> tuple[IntArray, Int64Array]:
    ends = itertools.accumulate(map(len, features), initial=0)
    return np.concatenate(features, dtype=np.int32), np.fromiter(ends, np.int64, len(features) + 1)
