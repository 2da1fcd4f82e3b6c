"""The CPU back end: threads of the C++ core."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from clusterforests import _core
from clusterforests._utils.arrays import AnyIntArray, BoolArray, FloatArray, IndexArray, Int64Array, IntArray, KeyArray
from clusterforests._utils.threads import count_threads
from clusterforests.backends.match_operator import MatchOperator
from clusterforests.backends.protocol import Coordinates, Effort, KMeansJobs, KMeansRuns, LoadedTable

SMALL = 2**16  # rows * columns * clusters: below this, the core uses one thread for a problem
SHORT = 2**20  # products: a thread that has fewer to do is not worth its start


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
        """Take the table that `kmeans` and `assign` work on."""
        self._table = table = _core.Table(X, weights, keyed, keys)
        self._coordinates = Coordinates(table.exponent, table.origin, table.reach)
        return LoadedTable(table.distinct, self._coordinates, table.weight_exponent)

    def kmeans(self, jobs: KMeansJobs) -> KMeansRuns:
        columns, offsets = _flatten(jobs.features)
        found = _core.kmeans(
            self._table,
            columns,
            offsets,
            jobs.clusters,
            jobs.seeds,
            jobs.n_init,
            jobs.max_iter,
            int(jobs.effort),
            self.threads,
        )
        return KMeansRuns(
            features=jobs.features,
            centers=found.centers,
            solved=found.solved,
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
        """Find the nearest centre in each clustering of each row: labels (T, n).

        Coordinates are those of the centres, if they come from another table than the loaded one. What a row gets does
        not depend on the other rows.
        """
        if X is None:
            table = self._table
        else:
            table = _core.project(X, *(self._coordinates if coordinates is None else coordinates))
        columns, offsets = _flatten(features)
        clusters = np.array([len(c) for c in centers], dtype=np.int32)
        flat = np.concatenate([c.ravel() for c in centers])
        return _core.assign(table, columns, offsets, clusters, flat, self.threads)

    def coassociate(self, a: IntArray, b: IntArray, table: FloatArray) -> FloatArray:
        """Look up table[number of members in which row i of `a` and row j of `b` share a label]."""
        return _core.coassociate(np.ascontiguousarray(a), np.ascontiguousarray(b), table, self.threads)

    def most_matched(self, a: IntArray, b: IntArray) -> tuple[Int64Array, IntArray]:
        """Find for each row of `a` the row of `b` with which it shares the most labels, and how many."""
        return _core.most_matched(np.ascontiguousarray(a), np.ascontiguousarray(b), self.threads)

    def matches(self, columns: IntArray, table: FloatArray) -> MatchOperator:
        """Make the same an operator: products with it, without a number for each pair."""
        return MatchOperator(columns, table, self.threads)

    def multiply(self, matrix: FloatArray, vectors: FloatArray) -> FloatArray:
        """Multiply a matrix with vectors, which are the rows of `vectors`; the products are rows."""
        threads = min(self.threads, max(1, matrix.size * len(vectors) // SHORT))
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
    threads = 1 if X.size * int(n_clusters) < SMALL else count_threads(n_jobs)
    return KMeansFit(*_core.fit_kmeans(X, weights, n_clusters, seed, n_init, max_iter, int(effort), threads))


def _flatten(features: Sequence[IntArray]) -> tuple[IntArray, Int64Array]:
    ends = itertools.accumulate(map(len, features), initial=0)
    return np.concatenate(features, dtype=np.int32), np.fromiter(ends, np.int64, len(features) + 1)


# Hashes of columns of labels, sums over tables that labels point into, votes of nodes: computed by the C++ core.


def order_columns(labels: IntArray) -> tuple[IndexArray, BoolArray]:
    """Order the columns of labels (T, r) so that equal ones are neighbours; say which differ from the one before.

    Equal columns stay in their order.
    """
    return _core.order_columns(labels)


def hash_columns(labels: IntArray) -> KeyArray:
    """Hash each column of labels (T, r) to 64 bits; equal columns have equal hashes."""
    return _core.column_keys(labels)


def sum_table_lines(labels: IntArray, first: Int64Array, table: FloatArray, threads: int) -> FloatArray:
    """Sum, for each column of labels (T, r), the lines of the table that its labels pick.

    The lines of partition t begin at first[t]. Its last two are for labels that the partition does not have, and for
    labels below zero.
    """
    return _core.sum_lines(labels, first, table, threads)


def count_cells(
    labels: IntArray, first: Int64Array, groups: IntArray, weights: FloatArray | None, cells: FloatArray, threads: int
) -> None:
    """Add the weight of each column of labels (T, r) to the cell of its group in the lines that its labels pick.

    The lines of partition t begin at first[t]; its last one is for labels below zero, and stays as it is.
    """
    _core.count_cells(labels, first, groups, weights, cells, threads)


def sum_companions(
    labels: IntArray,
    first: Int64Array,
    cells: FloatArray,
    everyone: FloatArray,
    copies: FloatArray,
    rounding: float,
    threads: int,
) -> FloatArray:
    """Sum over the partitions the share of each group among the companions of each column of labels (T, r).

    `everyone` are the sums of the lines, `copies` what each row counts there for itself. A partition whose companions
    weigh at most `rounding` times that says nothing. The last number of a row sums what it counts for itself.
    """
    return _core.sum_companions(labels, first, cells, everyone, copies, rounding, threads)


class GroupVotes:
    """Nodes that vote for their groups, laid out for any number of blocks of rows.

    A link is the node's weight times the entry of the table for the number of labels that both have: a**number - 1.
    """

    def __init__(self, nodes: IntArray, groups: IntArray, weights: FloatArray, table: FloatArray) -> None:
        self._votes = _core.GroupVotes(nodes, groups, weights, table)

    def most_linked(self, labels: AnyIntArray, threads: int) -> IntArray:
        """Find, for each column of labels (T, r), the group whose nodes it is linked to most.

        -1 where that is close, and where a label is below zero.
        """
        return self._votes.place(labels, threads)
