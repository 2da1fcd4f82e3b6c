"""One step of Lloyd over all rows: centres move to the means of their rows, then every row gets a label.

Sums are in fixed point, so that neither threads nor blocks nor partitions of the table change a bit.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from clusterforests import _core
from clusterforests._utils.arrays import AnyArray, FloatArray, Int64Array, IntArray
from clusterforests._utils.memory import DEFAULT_LIMITS, SizeLimits
from clusterforests.backends import Coordinates
from clusterforests.table.row_sources import RowSource, read_blocks
from clusterforests.table.scaling import NO_PROJECTIONS, Scaling
from clusterforests.trees.forest import Forest

FIXED_BITS = 62  # of a sum of coordinates
MOST_BITS = 52  # of a coordinate
MOST_MAGNITUDE = 500  # a power of two: what a column's rows may be beyond those of the sample
SPARE_BITS = 2  # for weights that are not whole numbers: their mean is about 2**SPARE_BITS units

Told = Callable[[int], None]  # rows that were just read


class Measure(NamedTuple):
    """What sums over all rows have to hold."""

    ends: FloatArray  # (2, C): the smallest and the largest value of each column, over the rows that have a weight
    n_rows: int
    total: float  # of the weights
    whole: bool  # whether they are whole numbers


class Sums(NamedTuple):
    """Sums by centre: of the coordinates of its rows, and of their weights."""

    values: Int64Array
    mass: Int64Array

    def __add__(self, other: object) -> "Sums":
        assert isinstance(other, Sums)
        return Sums(self.values + other.values, self.mass + other.mass)


@dataclass(frozen=True)
class Labelling:
    """Trees that rows are labelled by, and how rows get to the coordinates of the centres."""

    scaling: Scaling
    coordinates: Coordinates
    columns: list[IntArray]  # of each tree
    centers: list[FloatArray]

    @property
    def label_type(self) -> type[np.signedinteger[Any]]:
        most = max(map(len, self.centers))
        return np.int8 if most <= 2**7 else np.int16 if most <= 2**15 else np.int32


@dataclass(frozen=True)
class LloydPass(Labelling):
    """The trees of a pass over all rows, and how sums are kept."""

    bits: IntArray  # after the point, of the sums in each column
    mass_bits: int
    weight_exponent: int  # weights are multiplied by 2**weight_exponent

    @classmethod
    def of(cls, forest: Forest, scaling: Scaling, seen: Measure) -> "LloydPass":
        columns = forest.columns
        exponent = _weight_exponent(seen)
        total = math.ldexp(seen.total, exponent)
        bits = _bits(scaling, forest.coordinates, seen.ends, total, np.concatenate(columns))
        return cls(scaling, forest.coordinates, columns, forest.centers, bits, _spare(total), exponent)

    def core(self) -> _core.Passes:
        return _core.Passes(
            None if self.scaling.is_identity else self.scaling.core(),
            *self.coordinates,
            np.concatenate(self.columns),
            np.cumsum([0, *map(len, self.columns)], dtype=np.int64),
            np.array([len(c) for c in self.centers], dtype=np.int32),
            np.concatenate([c.ravel() for c in self.centers]),
        )

    def add_up(
        self,
        source: RowSource,
        weights: FloatArray | None = None,
        threads: int = 1,
        limits: SizeLimits = DEFAULT_LIMITS,
    ) -> Sums:
        """Add up the rows that are nearest to each centre."""
        values = np.zeros(sum(c.size for c in self.centers), dtype=np.int64)
        mass = np.zeros(sum(map(len, self.centers)), dtype=np.int64)
        core = self.core()
        for start, rows in read_blocks(source, limits):
            units = None if weights is None else np.ldexp(weights[start : start + len(rows)], self.weight_exponent)
            core.add(rows, units, self.bits, self.mass_bits, values, mass, threads)
        return Sums(values, mass)

    def move(self, sums: Sums) -> "LloydPass":
        """Move the centres to the means of their rows; one without rows stays."""
        means, (values, mass) = [], sums
        for c, columns in zip(self.centers, self.columns, strict=True):
            own, values = values[: c.size].reshape(c.shape), values[c.size :]
            weight, mass = mass[: len(c), None], mass[len(c) :]
            mean = np.ldexp(own / np.maximum(weight, 1), self.mass_bits - self.bits[columns])
            means.append(np.where(weight > 0, mean, c))
        return replace(self, centers=means)

    def label(
        self, source: RowSource, threads: int = 1, told: Told | None = None, limits: SizeLimits = DEFAULT_LIMITS
    ) -> AnyArray:
        """Find the nearest centre of each row in each tree: (T, n), of the smallest signed type that holds it."""
        labels: AnyArray = np.empty((len(self.centers), source.shape[0]), dtype=self.label_type)
        core = self.core()
        for start, rows in read_blocks(source, limits):
            core.label(rows, labels, start, threads)
            if told is not None:
                told(len(rows))
        return labels


def ends_of(source: RowSource, weights: FloatArray, limits: SizeLimits = DEFAULT_LIMITS) -> FloatArray:
    """Find the smallest and the largest value of each column, over the rows that have a weight."""
    ends = np.array([np.full(source.shape[1], np.inf), np.full(source.shape[1], -np.inf)])
    for start, values in read_blocks(source, limits):
        counted = values[weights[start : start + len(values)] > 0]
        if len(counted):
            ends = np.array([np.minimum(ends[0], counted.min(axis=0)), np.maximum(ends[1], counted.max(axis=0))])
    return ends


def are_whole(weights: FloatArray) -> bool:
    return bool((weights == np.floor(weights)).all())


def _weight_exponent(seen: Measure) -> int:
    """Choose units in which the sum of the weights fits. Whole numbers stay, so that a weight of 3 is three rows."""
    if seen.whole and seen.total <= 2.0**40:
        return 0
    return (int(seen.n_rows) - 1).bit_length() + SPARE_BITS - math.frexp(seen.total)[1]


def _spare(total: float) -> int:
    """Count the bits after the point that numbers up to 1 may have, if their weights add up to `total`."""
    return min(FIXED_BITS - math.frexp(total)[1], MOST_BITS)


def _bits(scaling: Scaling, coordinates: Coordinates, ends: FloatArray, total: float, drawn: IntArray) -> IntArray:
    """Count the bits after the point that each column's sums may have, by the largest magnitude of a row there."""
    views = replace(scaling, projections=NO_PROJECTIONS).apply(ends)
    with np.errstate(over="ignore", invalid="ignore"):
        reached = np.hstack([views, scaling.projections.bounds(views)])
        there = np.ldexp(reached, -coordinates.exponent) - coordinates.origin
    magnitude = np.where(np.isfinite(there).all(axis=0), np.frexp(np.abs(there).max(axis=0))[1], MOST_MAGNITUDE + 1)
    far = np.flatnonzero((magnitude > MOST_MAGNITUDE) & np.isin(np.arange(len(magnitude)), drawn))
    if len(far):
        source = far[0] if far[0] < views.shape[1] else scaling.projections.farthest(far[0] - views.shape[1], views)
        raise ValueError(
            f"X has values in column {source % ends.shape[1]} that are more than 2**{MOST_MAGNITUDE} times those of "
            "most rows. Clip them, or use scale='rank'."
        )
    bits = _spare(total) - magnitude
    return bits.clip(max=1000).astype(np.int32)
