"""Tables of many rows: what is costly is done on a sample, then all rows are read in blocks, twice.

The sample is chosen by a hash of the rows' values, so it does not depend on their order, and equal rows are one row
whose weight is the sum of theirs.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clusterforests import _core
from clusterforests.backends import Coordinates
from clusterforests.forest import Forest
from clusterforests.scaling import Scaling
from clusterforests.source import Source, Survey, blocks

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int32]

SAMPLE_ROWS = 16384
LEAST_SAMPLE = 4096
SAMPLE_CELLS = 2**26
FIXED_BITS = 62  # of a sum of coordinates
MOST_BITS = 52  # of a coordinate
MOST_MAGNITUDE = 500  # a power of two: what a column's rows may be beyond those of the sample
SPARE_BITS = 2  # for weights that are not whole numbers: their mean is about 2**SPARE_BITS units
STEPS = 1  # passes that move the centres to the means of all rows


Progress = Callable[[int, int], None]  # (rows read, rows to read)


def sample_size(n_columns: int, max_samples: Any, landmarks: Any) -> int:
    """Rows of the sample: fewer of a very wide table, but enough to grow on and for the landmarks asked for."""
    rows = min(SAMPLE_ROWS, max(LEAST_SAMPLE, SAMPLE_CELLS // n_columns))
    return max(rows, *(int(n) for n in (max_samples, landmarks) if isinstance(n, (int, np.integer))), 1)


def spread(
    forest: Forest,
    scaling: Scaling,
    source: Source,
    seen: Survey,
    weights: FloatArray | None = None,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Forest:
    """The forest of a sample on all rows: centres move to the means of their rows, then every row gets a label.

    Labels are of the smallest signed type that holds them. Neither threads nor the size of blocks change a bit.
    """
    units, total = _units(weights, source.shape[0])
    columns = [scaling.views.columns(t, features) for t, features in enumerate(forest.features)]
    reading = _Reading(source, units, threads, progress)
    space = _Space(
        scaling,
        forest.coordinates,
        columns,
        _bits(scaling, forest.coordinates, _bounds(source, weights, seen), total, np.concatenate(columns)),
        _spare(total),
    )
    centers = forest.centers
    for _ in range(STEPS):
        centers = _means(reading, space, centers)
    return replace(forest, centers=centers, partitions=_labels(reading, space, centers))


@dataclass
class _Reading:
    """All rows, block by block, as often as it takes."""

    source: Source
    weights: FloatArray | None
    threads: int
    progress: Progress | None
    read: int = 0

    def __iter__(self) -> Iterator[tuple[int, FloatArray]]:
        for start, values in blocks(self.source):
            yield start, values
            self.read += len(values)
            if self.progress is not None:
                self.progress(self.read, (STEPS + 1) * self.source.shape[0])


class _Space(NamedTuple):
    """Where centres live: how rows get there, each tree's columns, and the bits after the point of sums and weights."""

    scaling: Scaling
    coordinates: Coordinates
    columns: list[IntArray]
    bits: IntArray
    mass_bits: int

    def passes(self, centers: Sequence[FloatArray]) -> _core.Passes:
        return _core.Passes(
            self.scaling.core() if len(self.scaling.exponent) else None,
            *self.coordinates,
            np.concatenate(self.columns),
            np.cumsum([0, *map(len, self.columns)], dtype=np.int64),
            np.array([len(c) for c in centers], dtype=np.int32),
            np.concatenate([c.ravel() for c in centers]),
        )


def _means(reading: _Reading, space: _Space, centers: list[FloatArray]) -> list[FloatArray]:
    """The means of the rows that are nearest to each centre; a centre without rows stays."""
    sums = np.zeros(sum(c.size for c in centers), dtype=np.int64)
    mass = np.zeros(sum(map(len, centers)), dtype=np.int64)
    passes = space.passes(centers)
    for start, values in reading:
        weights = None if reading.weights is None else reading.weights[start : start + len(values)]
        passes.add(values, weights, space.bits, space.mass_bits, sums, mass, reading.threads)
    means = []
    for c, columns in zip(centers, space.columns, strict=True):
        own, sums = sums[: c.size].reshape(c.shape), sums[c.size :]
        weight, mass = mass[: len(c), None], mass[len(c) :]
        mean = np.ldexp(own / np.maximum(weight, 1), space.mass_bits - space.bits[columns])
        means.append(np.where(weight > 0, mean, c))
    return means


def _labels(reading: _Reading, space: _Space, centers: list[FloatArray]) -> npt.NDArray[Any]:
    most = max(map(len, centers))
    kind = np.int8 if most <= 2**7 else np.int16 if most <= 2**15 else np.int32
    labels: npt.NDArray[Any] = np.empty((len(centers), reading.source.shape[0]), dtype=kind)
    passes = space.passes(centers)
    for start, values in reading:
        passes.label(values, labels, start, reading.threads)
    return labels


def _units(weights: FloatArray | None, n: int) -> tuple[FloatArray | None, float]:
    """Weights whose sum fits, and that sum. Whole numbers stay, so that a weight of 3 is three rows."""
    if weights is None:
        return None, n
    total = math.fsum(weights)
    if total <= 2.0**40 and bool((weights == np.floor(weights)).all()):
        return weights, total
    exponent = math.ceil(math.log2(n)) + SPARE_BITS - math.frexp(total)[1]
    return np.ldexp(weights, exponent), math.ldexp(total, exponent)


def _bounds(source: Source, weights: FloatArray | None, seen: Survey) -> FloatArray:
    """The smallest and the largest value of each column, over the rows that have a weight."""
    ends = np.array([seen.low, seen.high])
    if weights is not None and not weights.all():
        ends = np.array([np.full(source.shape[1], np.inf), np.full(source.shape[1], -np.inf)])
        for start, values in blocks(source):
            counted = values[weights[start : start + len(values)] > 0]
            if len(counted):
                ends = np.array([np.minimum(ends[0], counted.min(axis=0)), np.maximum(ends[1], counted.max(axis=0))])
    return ends


def _spare(total: float) -> int:
    """How many bits after the point numbers up to 1 may have, if their weights add up to this."""
    return min(FIXED_BITS - math.frexp(total)[1], MOST_BITS)


def _bits(scaling: Scaling, coordinates: Coordinates, ends: FloatArray, total: float, drawn: IntArray) -> IntArray:
    """How many bits after the point each column's sums may have, by the largest magnitude that a row has there."""
    with np.errstate(over="ignore"):
        there = np.ldexp(scaling.apply(ends), -coordinates.exponent) - coordinates.origin
    magnitude = np.where(np.isfinite(there).all(axis=0), np.frexp(np.abs(there).max(axis=0))[1], MOST_MAGNITUDE + 1)
    far = np.flatnonzero((magnitude > MOST_MAGNITUDE) & np.isin(np.arange(len(magnitude)), drawn))
    if len(far):
        raise ValueError(
            f"X has values in column {far[0] % ends.shape[1]} that are more than 2**{MOST_MAGNITUDE} times those of "
            "most rows. Clip them, or use scale='rank'."
        )
    bits = _spare(total) - magnitude
    return bits.clip(max=1000).astype(np.int32)
