"""A random sample of a table's different rows, by their keys, their weights and the seed alone.

Equal rows have equal keys and are one row with the sum of their weights. What is kept of some rows can be merged with
what is kept of others, so that a table in pieces has the sample that it would have as a whole, and no piece tells more
than a bounded number of its keys.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from clusterforests._base.portable_math import expm1, exponential
from clusterforests._base.random import Purpose, stream, uniform
from clusterforests._base.typing import BoolArray, FloatArray, IndexArray, KeyArray
from clusterforests.tables.distinct_rows import DistinctRows

HASHED = 2**20  # keys at a time
CANDIDATES = 8  # for each row of the sample
COUNTERS = 4  # for each row of the sample
RARE = 2 / 3  # of a share of 1 / size
LOST = RARE + 1 / COUNTERS  # of such a share: the most that the counters of a key may be short of its weight


class WeightedKeys(NamedTuple):
    """Different keys in ascending order, and the weight of the rows that have each."""

    names: KeyArray
    mass: FloatArray

    def take(self, which: IndexArray | BoolArray) -> "WeightedKeys":
        return WeightedKeys(self.names[which], self.mass[which])


class DrawnKeys(NamedTuple):
    """Places of the drawn keys among the candidates, in random order, and what each stands for."""

    places: IndexArray
    weights: FloatArray


def distinct_keys(keys: KeyArray, weights: FloatArray | None = None) -> tuple[WeightedKeys, IndexArray]:
    """The keys of rows of positive weight, and for each a row that has it."""
    if weights is None:
        names, first, counts = np.unique(keys, return_index=True, return_counts=True)
        return WeightedKeys(names, counts.astype(np.float64)), first
    counted = np.flatnonzero(weights > 0)
    order = counted[np.lexsort((weights[counted], keys[counted]))]
    starts = np.flatnonzero(np.diff(keys[order], prepend=~keys[order[:1]]) != 0)
    mass = np.add.reduceat(weights[order], starts) if len(starts) else np.empty(0)
    return WeightedKeys(keys[order[starts]], mass), order[starts]


def merge_keys(pieces: Sequence[WeightedKeys]) -> WeightedKeys:
    """The weights of equal keys add up, in the order of the pieces."""
    names, place = np.unique(np.concatenate([piece.names for piece in pieces]), return_inverse=True)
    mass = np.concatenate([piece.mass for piece in pieces])
    return WeightedKeys(names, np.bincount(place, mass, minlength=len(names)).astype(np.float64))


def sampling_key(seed: int) -> np.uint64:
    """What keys are hashed with to see how long they wait."""
    key: np.uint64 = stream(seed, Purpose.TABLE_SAMPLE)[0]
    return key


def key_uniforms(names: KeyArray, seed: int) -> FloatArray:
    """A uniform random number for each key."""
    chance = np.empty(len(names))
    for start in range(0, len(names), HASHED):
        some = slice(start, start + HASHED)
        chance[some] = uniform(stream(stream(seed, Purpose.TABLE_SAMPLE), names[some]))
    return chance


def waiting_times(names: KeyArray, seed: int) -> FloatArray:
    """How long each key waits if its weight is 1: exponential of mean 1."""
    return exponential(key_uniforms(names, seed))


def waiting_limit(waits: FloatArray, size: int) -> float:
    """Keys that wait less are candidates: CANDIDATES for each row of the sample, or all if there are no more."""
    count = CANDIDATES * size
    return float(np.partition(waits, count)[count]) if len(waits) > count else np.inf


def draw_keys(keys: WeightedKeys, waits: FloatArray, size: int, limit: float, total: float) -> DrawnKeys:
    """At most `size` of the keys that wait less than `limit` and of those with a share of 1 / `size` of all weight.

    A key of weight w is there after its waiting time divided by w: so heavy rows, or such that are there many times,
    are drawn first. Each stands for its weight over its chance to be drawn, in units in which a row of weight 1 has 1.
    """
    heavy = keys.mass >= total / size
    places = np.flatnonzero((waits < limit) | heavy)
    mass, arrival = keys.mass[places], waits[places] / keys.mass[places]
    if len(places) <= size:
        order = np.argsort(arrival, kind="stable")
        return DrawnKeys(places[order], mass[order])
    last = np.partition(arrival, size)[size]
    few = np.flatnonzero(arrival <= last)
    few = few[np.argsort(arrival[few], kind="stable")][:size]
    waited = np.where(heavy[places[few]], mass[few] * last, np.minimum(mass[few] * last, limit))
    return DrawnKeys(places[few], mass[few] * (expm1(-last) / expm1(-waited)))


def draw_rows(keys: KeyArray, weights: FloatArray | None, size: int, seed: int) -> DistinctRows:
    """At most `size` different rows, by their keys and the seed alone, in random order."""
    known, first = distinct_keys(keys, weights)
    total, count, chance = float(known.mass.sum()), CANDIDATES * size, key_uniforms(known.names, seed)
    if len(chance) > count:  # logarithms only of those that can be drawn
        some = np.flatnonzero((chance <= np.partition(chance, count)[count]) | (known.mass >= total / size))
        known, first, chance = known.take(some), first[some], chance[some]
    waits = exponential(chance)
    drawn = draw_keys(known, waits, size, waiting_limit(waits, size), total)
    return DistinctRows(first[drawn.places], drawn.weights)


def frequent_keys(keys: WeightedKeys, size: int) -> WeightedKeys:
    """Counters for the keys of a piece that may be a share of 1 / size of the table. Rare ones have none here."""
    return prune_counters(keys.take(keys.mass > RARE * keys.mass.sum() / size), size)


def prune_counters(keys: WeightedKeys, size: int) -> WeightedKeys:
    """What is left of counters when, as often as it takes to have few, one unit of as many is cancelled.

    As Misra and Gries do it. Counters of pieces can be merged and cut down again: a key loses in all at most the share
    LOST / size of all weight, so one with a share of 1 / size keeps some.
    """
    most = COUNTERS * size
    if len(keys.names) <= most:
        return keys
    cancelled = np.partition(keys.mass, -most - 1)[-most - 1]
    left = keys.take(keys.mass > cancelled)
    return WeightedKeys(left.names, left.mass - cancelled)
