"""Probe clusterings: small K-means clusterings of random features, by which all other features are scored."""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from clusterforests._utils.arrays import BoolArray, FloatArray, IndexArray, IntArray, KeyArray, is_wide
from clusterforests._utils.linear_algebra import axis_rows, principal_axes, reproducible
from clusterforests._utils.portable_math import exponential
from clusterforests._utils.random import Purpose, integers, stream, uniform
from clusterforests._utils.threads import map_in_threads
from clusterforests.backends import CpuBackend, Effort, KMeansJobs
from clusterforests.feature_screening.screened_rows import ScreenedRows
from clusterforests.table.feature_columns import FeatureColumns

PROBES = 60
# Lloyd iterations: a probe need not be good, only better than chance.
PROBE_ITERATIONS = 30
# The fewest clusters that a probe's upper limit may be.
LEAST_LIMIT = 7
# Cells of rows whose components are computed at a time.
ROW_CELLS = 2**24
# Draws of more columns are reduced to as many components, or half as many, in turn.
PROBE_COMPONENTS = 20


class ProbeClusterings(NamedTuple):
    """Clusterings of the rows, and the features that each of them used."""

    labels: IntArray  # (T, n)
    used: BoolArray  # (T, p)


@dataclass(frozen=True)
class ProbedRows:
    """The rows that probes cluster, for up to `n_clusters` clusters."""

    rows: ScreenedRows  # centred
    views: FeatureColumns
    n_clusters: int
    threads: int

    def cluster(self, weights: FloatArray, seed: int, round_number: int) -> ProbeClusterings:
        """Cluster the rows by features drawn by weight; probes that find too few different rows are left out."""
        # Draw features, and the points of the rows in them.
        keys = stream(seed, Purpose.PROBES, round_number, np.arange(PROBES))
        draws = [_draw(weights, t, key) for t, key in enumerate(keys[:, None])]
        # Threads pay only where the columns of a wide table are many.
        at_once = self.threads if is_wide(len(weights)) else 1
        parts = map_in_threads(lambda t: self._points(draws[t], t), range(PROBES), at_once)
        # All probes are one batch of K-means problems over one table.
        ends = np.cumsum([part.shape[1] for part in parts])
        columns = [np.arange(end - part.shape[1], end, dtype=np.int32) for part, end in zip(parts, ends, strict=True)]
        clusters = 2 + integers(stream(keys, 1), self._most_clusters() - 1)
        backend = CpuBackend(self.threads)
        backend.load(np.ascontiguousarray(np.concatenate(parts, axis=1)))
        jobs = KMeansJobs(
            columns, clusters.clip(max=len(self.rows)), stream(keys, 2), 1, PROBE_ITERATIONS, Effort.QUICK
        )
        runs = backend.kmeans(jobs)
        solved = np.flatnonzero(runs.solved).tolist()
        used = np.zeros((len(solved), len(weights)), dtype=bool)
        if not solved:
            return ProbeClusterings(np.empty((0, len(self.rows)), np.int32), used)
        labels = backend.assign([columns[t] for t in solved], [runs.centers[t] for t in solved])
        for row, t in enumerate(solved):
            used[row, draws[t]] = True
        return ProbeClusterings(labels, used)

    def _most_clusters(self) -> int:
        """Limit the clusters of a probe; the limit doubles until it is enough for `n_clusters`."""
        most = max(LEAST_LIMIT, math.isqrt(len(self.rows)) // 2)
        while most < self.n_clusters + 2:
            most *= 2
        return most

    def _points(self, features: IndexArray, t: int) -> FloatArray:
        """Take the columns of the features, or the leading components of many."""
        columns = self.views.columns(0, features.astype(np.int32))
        rows = replace(self.rows, threads=1)
        if len(columns) <= PROBE_COMPONENTS:
            return rows.take(columns)
        step = max(axis_rows(len(columns)), ROW_CELLS // len(columns))
        V = rows.take(columns, slice(step))
        coefficients = principal_axes(V, None, PROBE_COMPONENTS if t % 2 else PROBE_COMPONENTS // 2).coefficients
        points = [V @ coefficients]
        for start in range(step, len(rows), step):
            del V
            V = rows.take(columns, slice(start, start + step))
            points.append(V @ coefficients)
        return reproducible(np.concatenate(points))


def _draw(weights: FloatArray, t: int, key: KeyArray) -> IndexArray:
    """Draw features by weight: half of all that count, from their root to a half, or to twice the root, in turn."""
    able = np.flatnonzero(weights)
    # The number of features that would count as much if all were equal.
    enough = max(2.0, weights.sum() ** 2 / np.square(weights).sum())
    root = np.sqrt(enough)
    size = max(1, min(int(0.75 * enough), len(able) // 2))
    if t % 3:
        low, high = sorted((max(2, int(root)), max(3, int((enough / 2, 2 * root)[t % 2]))))
        size = min(low + int(integers(stream(key, 3), high - low + 1)[0]), max(1, len(able) - 1))
    # Heavy features wait the shortest; of equal waits the first are drawn.
    waiting = exponential(uniform(stream(stream(key, 4), np.arange(len(able))))) / weights[able]
    last = np.partition(waiting, size - 1)[size - 1]
    drawn, equal = np.flatnonzero(waiting < last), np.flatnonzero(waiting == last)
    found: IndexArray = able[np.sort(np.concatenate([drawn, equal[: size - len(drawn)]]))]
    return found
