"""The CPU back end: threads of the C++ core."""

import itertools
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clusterforests import _core
from clusterforests.backends.matches import Matches
from clusterforests.threads import count_threads

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]


class Effort(IntEnum):
    """What follows the random starts of a K-means."""

    QUICK = 0  # a pass of single-row moves
    POLISHED = 1  # passes until no single row's move lowers the sum of squares
    IMPROVED = 2  # before these, attempts to improve the best start by moving one centre elsewhere


class KMeansJobs(NamedTuple):
    """K-means problems over one table: features (repeats count as weight), clusters and seed of each."""

    features: Sequence[IntArray]
    clusters: IntArray
    seeds: npt.NDArray[np.uint64]
    n_init: int
    max_iter: int
    effort: Effort = Effort.POLISHED


class KMeansRuns(NamedTuple):
    """Solutions, one per job. `solved` is False where a job had fewer distinct rows than clusters.

    Centres are in the table's coordinates. Sums are in units of 4**exponent, which cancel in their ratios.
    """

    features: Sequence[IntArray]
    centers: Sequence[FloatArray]
    solved: npt.NDArray[np.bool_]
    within: FloatArray
    between: FloatArray
    within_pairs: FloatArray
    between_pairs: FloatArray
    exponent: IntArray
    iterations: IntArray


class Coordinates(NamedTuple):
    """Of a loaded table, by column: true value = (coordinate + origin) * 2**exponent, at most 2**reach from origin.

    Centres are in these coordinates, so with them they can be used without the table.
    """

    exponent: IntArray
    origin: FloatArray
    reach: IntArray


class CpuBackend:
    """K-means, assignment, match counts and products with W on this machine's cores."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.threads = count_threads(n_jobs)

    def load(self, X: FloatArray, weights: FloatArray | None = None) -> None:
        """Take the table that `kmeans` and `assign` work on."""
        self.table = _core.Table(X, weights)

    def coordinates(self) -> Coordinates:
        """Those of the loaded table."""
        return Coordinates(self.table.exponent, self.table.origin, self.table.reach)

    def kmeans(self, jobs: KMeansJobs) -> KMeansRuns:
        columns, offsets = _flatten(jobs.features)
        found = _core.kmeans(
            self.table,
            columns,
            offsets,
            jobs.clusters,
            jobs.seeds,
            jobs.n_init,
            jobs.max_iter,
            int(jobs.effort),
            self.threads,
        )
        solved = found.solved
        clusters = [k if ok else 0 for k, ok in zip(jobs.clusters.tolist(), solved.tolist(), strict=True)]
        shapes = [(k, len(f)) for k, f in zip(clusters, jobs.features, strict=True)]
        ends = itertools.accumulate((k * width for k, width in shapes), initial=0)
        flat = found.centers
        return KMeansRuns(
            features=jobs.features,
            centers=[flat[a:b].reshape(shape) for (a, b), shape in zip(itertools.pairwise(ends), shapes, strict=True)],
            solved=solved,
            within=found.within,
            between=found.between,
            within_pairs=found.within_pairs,
            between_pairs=found.between_pairs,
            exponent=found.exponent,
            iterations=found.iterations,
        )

    def assign(
        self,
        features: Sequence[IntArray],
        centers: Sequence[FloatArray],
        X: FloatArray | None = None,
        coordinates: Coordinates | None = None,
    ) -> IntArray:
        """Nearest centre for each clustering and row, shape (T, n); of other rows in the same columns if given.

        Coordinates are those of the centres, if they come from another table than the loaded one. What a row gets does
        not depend on the other rows.
        """
        if X is None:
            table = self.table
        else:
            table = _core.project(X, *(self.coordinates() if coordinates is None else coordinates))
        columns, offsets = _flatten(features)
        clusters = np.array([len(c) for c in centers], dtype=np.int32)
        flat = np.concatenate([c.ravel() for c in centers])
        return _core.assign(table, columns, offsets, clusters, flat, self.threads)

    def coassociate(self, a: IntArray, b: IntArray, table: FloatArray) -> FloatArray:
        """table[number of members in which row i of `a` and row j of `b` share a label]."""
        return _core.coassociate(np.ascontiguousarray(a), np.ascontiguousarray(b), table, self.threads)

    def matches(self, columns: IntArray, table: FloatArray) -> Matches:
        """The same as an operator: products with it, without a number for each pair."""
        return Matches(columns, table, self.threads)

    def multiply(self, matrix: FloatArray, vectors: FloatArray) -> FloatArray:
        """The products of a matrix with vectors, which are the rows of `vectors`, as rows."""
        return _core.multiply(matrix, np.ascontiguousarray(vectors), self.threads)


def _flatten(features: Sequence[IntArray]) -> tuple[IntArray, npt.NDArray[np.int64]]:
    ends = itertools.accumulate(map(len, features), initial=0)
    return np.concatenate(features, dtype=np.int32), np.fromiter(ends, np.int64, len(features) + 1)
