"""A random sample of a table's distinct rows that depends on their keys, their weights and the seed alone.

Equal rows have equal keys and count as one row with the sum of their weights. What is kept of some rows can be merged
with what is kept of others. So a table in pieces has the sample that it would have as a whole, and no piece has to send
more than a bounded number of its keys.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from clusterforests._utils.arrays import BoolArray, FloatArray, IndexArray, KeyArray
from clusterforests._utils.portable_math import expm1, exponential
from clusterforests._utils.random import Purpose, stream, uniform
from clusterforests.table.feature_columns import DistinctRows, differ

# Keys that are hashed together, and rows that are compared.
KEYS_AT_A_TIME, ROWS_AT_A_TIME = 2**20, 2**14
# Leading bits of a key, by which rows are sifted before they are sorted or looked up.
BUCKET_BITS = 18
# Keys per row of the sample that may be drawn, and rows per such key: enough, unless many rows are equal.
CANDIDATES, SIFTED = 8, 2
# Counters per row of the sample.
COUNTERS = 4
# Keys of less weight in a piece than this part of a share of 1 / size get no counter.
RARE = 2 / 3
# Of such a share: the most that the counters of a key fall short of its weight.
LOST = RARE + 1 / COUNTERS


class WeightedKeys(NamedTuple):
    """Distinct keys in ascending order, and the total weight of the rows that have each."""

    names: KeyArray
    weights: FloatArray

    def take(self, which: IndexArray | BoolArray) -> "WeightedKeys":
        """Keep some of the keys."""
        return WeightedKeys(self.names[which], self.weights[which])


class DrawnKeys(NamedTuple):
    """Positions of the drawn keys among the given ones, in random order, and the weight that each stands for."""

    positions: IndexArray
    weights: FloatArray


def distinct_keys(keys: KeyArray, weights: FloatArray | None = None) -> tuple[WeightedKeys, IndexArray]:
    """Collect the keys of rows of positive weight, and for each key one row that has it."""
    if weights is None:
        names, first, counts = np.unique(keys, return_index=True, return_counts=True)
        return WeightedKeys(names, counts.astype(np.float64)), first
    counted = np.flatnonzero(weights > 0)
    order = counted[np.lexsort((weights[counted], keys[counted]))]
    starts = np.flatnonzero(np.diff(keys[order], prepend=~keys[order[:1]]) != 0)
    weights = np.add.reduceat(weights[order], starts) if len(starts) else np.empty(0)
    return WeightedKeys(keys[order[starts]], weights), order[starts]


def merge_keys(pieces: Sequence[WeightedKeys]) -> WeightedKeys:
    """Merge the keys of pieces; the weights of equal keys add up, in the order of the pieces."""
    names, position = np.unique(np.concatenate([piece.names for piece in pieces]), return_inverse=True)
    weights = np.concatenate([piece.weights for piece in pieces])
    return WeightedKeys(names, np.bincount(position, weights, minlength=len(names)).astype(np.float64))


def sampling_key(seed: int) -> np.uint64:
    """Return the random stream that keys are hashed with for their waiting times."""
    key: np.uint64 = stream(seed, Purpose.TABLE_SAMPLE)[0]
    return key


def key_uniforms(names: KeyArray, seed: int) -> FloatArray:
    """Draw a uniform random number for each key."""
    drawn = np.empty(len(names))
    for start in range(0, len(names), KEYS_AT_A_TIME):
        some = slice(start, start + KEYS_AT_A_TIME)
        drawn[some] = uniform(stream(stream(seed, Purpose.TABLE_SAMPLE), names[some]))
    return drawn


def waiting_times(names: KeyArray, seed: int) -> FloatArray:
    """Draw for each key how long it waits if its weight is 1: exponentially distributed with mean 1."""
    return exponential(key_uniforms(names, seed))


def waiting_limit(waits: FloatArray, size: int, candidates: int = CANDIDATES) -> float:
    """Return the limit below which `candidates` keys per row of the sample wait; infinity if there are no more."""
    count = candidates * size
    return float(np.partition(waits, count)[count]) if len(waits) > count else np.inf


def draw_keys(keys: WeightedKeys, waits: FloatArray, size: int, limit: float, total: float) -> DrawnKeys:
    """Draw at most `size` of the keys that wait less than `limit` or have a share of 1 / `size` of the total weight.

    A key of weight w arrives after its waiting time divided by w, so rows that are heavy or repeated often are drawn
    first. Each drawn key stands for its weight over its chance of being drawn, in units in which a row of weight 1
    stands for 1.
    """
    heavy = keys.weights >= total / size
    positions = np.flatnonzero((waits < limit) | heavy)
    weights, arrival = keys.weights[positions], waits[positions] / keys.weights[positions]
    if len(positions) <= size:
        order = np.argsort(arrival, kind="stable")
        return DrawnKeys(positions[order], weights[order])
    last = np.partition(arrival, size)[size]
    few = np.flatnonzero(arrival <= last)
    few = few[np.argsort(arrival[few], kind="stable")][:size]
    waited = np.where(heavy[positions[few]], weights[few] * last, np.minimum(weights[few] * last, limit))
    return DrawnKeys(positions[few], weights[few] * (expm1(-last) / expm1(-waited)))


def draw_rows(
    keys: KeyArray, weights: FloatArray | None, size: int, seed: int, candidates: int = CANDIDATES
) -> DistinctRows:
    """Draw at most `size` distinct rows by their keys, in random order."""
    known, first, total = _collect_keys(keys, weights, size, seed, candidates * size)
    return draw_known(known, first, size, seed, total, candidates)


def draw_known(
    known: WeightedKeys, first: IndexArray, size: int, seed: int, total: float, candidates: int = CANDIDATES
) -> DistinctRows:
    """Draw from keys of which a row is known each: all of them, or those that can be drawn."""
    count = candidates * size
    drawn = key_uniforms(known.names, seed)
    if len(drawn) > count:  # logarithms are taken only for keys that can be drawn
        some = np.flatnonzero((drawn <= np.partition(drawn, count)[count]) | (known.weights >= total / size))
        known, first, drawn = known.take(some), first[some], drawn[some]
    waits = exponential(drawn)
    chosen = draw_keys(known, waits, size, waiting_limit(waits, size, candidates), total)
    return DistinctRows(first[chosen.positions], chosen.weights)


def _collect_keys(
    keys: KeyArray, weights: FloatArray | None, size: int, seed: int, count: int
) -> tuple[WeightedKeys, IndexArray, float]:
    """Collect distinct keys, a row of each, and the weight of all rows. Most keys that cannot be drawn are left out."""
    share = SIFTED * count / max(len(keys), 1)
    if weights is None and share < 1 / 2:
        rows = _sift_rows(keys, size, seed, share)
        known, first = distinct_keys(keys[rows])
        if np.count_nonzero(key_uniforms(known.names, seed) < share) > count:
            return known, rows[first], float(len(keys))
    known, first = distinct_keys(keys, weights)
    return known, first, float(known.weights.sum())


def _sift_rows(keys: KeyArray, size: int, seed: int, share: float) -> IndexArray:
    """Find all rows whose key has a uniform number below `share`, or may have a share of 1 / size of the rows."""
    pieces = [slice(start, start + KEYS_AT_A_TIME) for start in range(0, len(keys), KEYS_AT_A_TIME)]
    counts = np.zeros(2**BUCKET_BITS, dtype=np.int64)
    for some in pieces:
        counts += np.bincount(_buckets(keys[some]), minlength=len(counts))
    crowded = counts >= len(keys) / size
    return np.concatenate(
        [
            some.start + np.flatnonzero((key_uniforms(keys[some], seed) < share) | crowded[_buckets(keys[some])])
            for some in pieces
        ]
    )


def _buckets(keys: KeyArray) -> IndexArray:
    """Return the leading bits of the keys: equal keys have equal ones."""
    return (keys >> np.uint64(64 - BUCKET_BITS)).astype(np.intp)


def sifted_buckets(names: KeyArray) -> BoolArray:
    """Mark the leading bits that some of the keys have."""
    marked = np.zeros(2**BUCKET_BITS, dtype=bool)
    marked[_buckets(names)] = True
    return marked


def check_sample(take: Callable[[IndexArray], FloatArray], keys: KeyArray, sample: IndexArray) -> None:
    """Refuse a table in which a row of the sample shares its key with a row that is not equal to it.

    `take` reads rows. Chance finds no such rows, but they can be made, and would be counted as one row.
    """
    order = np.argsort(keys[sample])
    names = keys[sample[order]]
    taken = sifted_buckets(names)
    for start in range(0, len(keys), KEYS_AT_A_TIME):
        rows = start + np.flatnonzero(taken[_buckets(keys[start : start + KEYS_AT_A_TIME])])
        position = np.minimum(np.searchsorted(names, keys[rows]), len(names) - 1)
        drawn = sample[order[position]]
        others = (names[position] == keys[rows]) & (drawn != rows)
        rows, drawn = rows[others], drawn[others]
        for first in range(0, len(rows), ROWS_AT_A_TIME):
            some = slice(first, first + ROWS_AT_A_TIME)
            check_shared(take(rows[some]), take(drawn[some]))


def check_shared(a: FloatArray, b: FloatArray) -> None:
    """Refuse rows that have the same keys but are not equal."""
    found = np.flatnonzero(differ(a, b))
    if len(found):
        raise ValueError(
            f"X has rows that differ but share the key by which equal rows of a large table are found, such as "
            f"{_start(a[found[0]])} and {_start(b[found[0]])}. Rows like these do not come about by chance. Find out "
            "who made them; or fit the columns in another order, where their keys differ."
        )


def _start(row: FloatArray) -> str:
    return f"({', '.join(f'{value!r}' for value in row[:3].tolist())}{', ...' * (len(row) > 3)})"


def frequent_keys(keys: WeightedKeys, size: int) -> WeightedKeys:
    """Count the keys of a piece that may have a share of 1 / size of the whole table; leave out rare ones."""
    return prune_counters(keys.take(keys.weights > RARE * keys.weights.sum() / size), size)


def prune_counters(keys: WeightedKeys, size: int) -> WeightedKeys:
    """Prune the counters as Misra and Gries do.

    Counters of pieces can be merged and pruned again: in all, a key loses at most the share LOST / size of the total
    weight, so a key with a share of 1 / size keeps a counter.
    """
    most = COUNTERS * size
    if len(keys.names) <= most:
        return keys
    cancelled = np.partition(keys.weights, -most - 1)[-most - 1]
    left = keys.take(keys.weights > cancelled)
    return WeightedKeys(left.names, left.weights - cancelled)
