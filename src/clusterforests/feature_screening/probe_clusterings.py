"""Small clusterings of random features that scout a table, many in a batch."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from clusterforests._utils.arrays import AnyArray, AnyIntArray, BoolArray, FloatArray, IndexArray, IntArray, KeyArray
from clusterforests._utils.linear_algebra import axis_rows, principal_axes, reproducible
from clusterforests._utils.memory import column_blocks, is_wide
from clusterforests._utils.portable_math import exponential
from clusterforests._utils.random import Purpose, integers, stream, uniform
from clusterforests._utils.row_keys import extend_keys
from clusterforests._utils.threads import map_in_threads
from clusterforests.backends import CpuBackend, Effort, KMeansJobs
from clusterforests.table.feature_columns import FeatureColumns
from clusterforests.table.scaling import Scaling
from clusterforests.table.wide_scaling import CellSteps

# The rows that are searched for features that tell, in the first view: columns are scaled when they are asked for.

SAME = 2.0**16  # scaled values that differ by less than its inverse are mostly one


@dataclass(frozen=True)
class SearchedRows:
    """Rows of a table of which only the columns at hand are scaled: (x / 2**exponent - shift) / divisor - center."""

    values: AnyArray  # (n, C)
    rows: IndexArray
    exponent: IntArray  # (C,), as the three below
    shift: FloatArray
    divisor: FloatArray
    center: FloatArray
    threads: int = 1

    @classmethod
    def of(cls, values: AnyArray, scaling: Scaling, rows: IndexArray, threads: int) -> "SearchedRows":
        """Take rows of a table; ranks, which depend on more than the cell, are computed at once."""
        first, count = scaling.first_view, values.shape[1]
        if first.ranked.any():
            ranked = first.apply(values[rows], threads)[:, :count]
            return cls.plain(np.ascontiguousarray(ranked), threads)
        if not len(first.exponent):
            return replace(cls.plain(values, threads), rows=rows)
        return cls(values, rows, first.exponent[0], first.shift[0], first.divisor[0], np.zeros(count), threads)

    @classmethod
    def plain(cls, values: AnyArray, threads: int = 1) -> "SearchedRows":
        """Take all rows of a table as they are."""
        count = values.shape[1]
        steps = np.zeros(count, np.int32), np.zeros(count), np.ones(count), np.zeros(count)
        return cls(values, np.arange(len(values)), *steps, threads)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_columns(self) -> int:
        return len(self.exponent)

    def take(self, columns: AnyIntArray, rows: slice = slice(None)) -> FloatArray:
        """Scale some columns of all rows, or of some: (rows, columns), in Fortran's order."""
        steps = CellSteps(self.exponent, self.shift, self.divisor, self.center)
        return steps.take(self.values, self.rows[rows], columns, self.threads)

    def blocks(self, columns: IntArray) -> list[IntArray]:
        """Split columns into blocks that are taken at a time."""
        return [columns[some] for some in column_blocks(len(self), len(columns))]

    def in_order(self, columns: IntArray) -> "SearchedRows":
        """Put the rows in an order that neither their units nor their first order nor a last digit changes."""
        keys = np.zeros(len(self), dtype=np.uint64)
        for some in self.blocks(columns):
            X = self.take(some)
            exponents = np.frexp(np.maximum(X.max(axis=0), -X.min(axis=0)))[1]
            keys = extend_keys(keys, np.ascontiguousarray(np.rint(np.ldexp(X, -exponents) * SAME)))
        return replace(self, rows=self.rows[np.argsort(keys, kind="stable")])

    def centred(self, most_rows: int) -> "SearchedRows":
        """Take the first rows, each column less its mean over them."""
        first = replace(self, rows=self.rows[:most_rows])
        every = np.arange(self.n_columns, dtype=np.int32)
        means = [np.ascontiguousarray(first.take(some)).mean(axis=0) for some in first.blocks(every)]
        return replace(first, center=np.concatenate(means))


SCOUTS = 60
MAX_ITER = 30
LEAST_RANGE = 7
ROW_CELLS = 2**24  # of rows whose components are computed at a time
WIDE = 20  # draws of more columns are reduced to as many components, or half as many, in turn


class Scouted(NamedTuple):
    """Clusterings of the rows, and the features that each of them used."""

    labels: IntArray  # (T, n)
    used: BoolArray  # (T, p)


@dataclass(frozen=True)
class ScoutedRows:
    """The rows that scouts cluster."""

    rows: SearchedRows  # centred
    views: FeatureColumns
    n_clusters: int
    threads: int

    def scout(self, weights: FloatArray, seed: int, round_number: int) -> Scouted:
        """Cluster the rows by features drawn by weight; scouts that find too few different rows are left out."""
        keys = stream(seed, Purpose.SCOUTS, round_number, np.arange(SCOUTS))
        draws = [_draw(weights, t, key) for t, key in enumerate(keys[:, None])]
        at_once = self.threads if is_wide(len(weights)) else 1
        parts = map_in_threads(lambda t: self._view(draws[t], t), range(SCOUTS), at_once)
        ends = np.cumsum([part.shape[1] for part in parts])
        columns = [np.arange(end - part.shape[1], end, dtype=np.int32) for part, end in zip(parts, ends, strict=True)]
        clusters = 2 + integers(stream(keys, 1), self._most_clusters() - 1)
        backend = CpuBackend(self.threads)
        backend.load(np.ascontiguousarray(np.concatenate(parts, axis=1)))
        jobs = KMeansJobs(columns, clusters.clip(max=len(self.rows)), stream(keys, 2), 1, MAX_ITER, Effort.QUICK)
        runs = backend.kmeans(jobs)
        solved = np.flatnonzero(runs.solved).tolist()
        if not solved:
            return Scouted(np.empty((0, len(self.rows)), np.int32), np.empty((0, len(weights)), dtype=bool))
        labels = backend.assign([columns[t] for t in solved], [runs.centers[t] for t in solved])
        used = np.zeros((len(solved), len(weights)), dtype=bool)
        for row, t in enumerate(solved):
            used[row, draws[t]] = True
        return Scouted(labels, used)

    def _most_clusters(self) -> int:
        """Limit the clusters of a scout; the limit doubles until it is enough for `n_clusters`."""
        most = max(LEAST_RANGE, math.isqrt(len(self.rows)) // 2)
        while most < self.n_clusters + 2:
            most *= 2
        return most

    def _view(self, features: IndexArray, t: int) -> FloatArray:
        """Take the columns of the features, or the leading components of many."""
        columns = self.views.columns(0, features.astype(np.int32))
        rows = replace(self.rows, threads=1) if is_wide(len(columns)) else self.rows
        if len(columns) <= WIDE:
            return rows.take(columns)
        step = max(axis_rows(len(columns)), ROW_CELLS // len(columns))
        V = rows.take(columns, slice(step))
        coefficients = principal_axes(V, None, WIDE if t % 2 else WIDE // 2).coefficients
        places = [V @ coefficients]
        for start in range(step, len(rows), step):
            del V
            V = rows.take(columns, slice(start, start + step))
            places.append(V @ coefficients)
        return reproducible(np.concatenate(places))


def _draw(weights: FloatArray, t: int, key: KeyArray) -> IndexArray:
    """Draw features by weight: half of all that count, from their root to a half, or to twice the root, in turn."""
    able = np.flatnonzero(weights)
    enough = max(2.0, weights.sum() ** 2 / np.square(weights).sum())  # features that would count as much if equal
    root = np.sqrt(enough)
    size = max(1, min(int(0.75 * enough), len(able) // 2))
    if t % 3:
        low, high = sorted((max(2, int(root)), max(3, int((enough / 2, 2 * root)[t % 2]))))
        size = min(low + int(integers(stream(key, 3), high - low + 1)[0]), max(1, len(able) - 1))
    waiting = exponential(uniform(stream(stream(key, 4), np.arange(len(able))))) / weights[able]
    last = np.partition(waiting, size - 1)[size - 1]
    drawn, equal = np.flatnonzero(waiting < last), np.flatnonzero(waiting == last)
    found: IndexArray = able[np.sort(np.concatenate([drawn, equal[: size - len(drawn)]]))]
    return found
