"""Counter-based random numbers: each is a hash of where it is used (random_state, purpose, tree, round, ...).

So the same `random_state` gives the same numbers for any number of threads and any order of work.
"""

import enum
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np

from clusterforests import _core
from clusterforests._utils.arrays import AnyArray, FloatArray, IndexArray, IntArray, KeyArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@enum.unique
class Purpose(enum.IntEnum):
    """What a stream of random numbers is for: the first counter after the seed, so that no two uses share a stream."""

    # Growing a forest
    FIRST_FEATURES = 0
    MORE_FEATURES = 1
    FEATURE_ORDER = 2
    BASE_CLUSTERS = 3
    GROWTH_ROWS = 4
    FINAL_KMEANS = 5
    TABLE_SAMPLE = 6
    LANDMARKS = 7
    SEARCH_ROWS = 8
    PROBES = 9
    PAIRED_COLUMNS = 10
    PAIRED_TIES = 11
    TREE_DRAWS = 12
    TREE_CLUSTERS = 13
    REDUCED_ROWS = 14
    RARE_GROUPS = 15
    TREE_KMEANS = 2**32  # follows the counters of a tree rather than the seed

    # Choosing the number of clusters
    K_ROWS = 16
    K_COLUMNS = 17
    K_TREES = 21
    K_FOLDS = 22
    K_TIES = 24
    K_NULL_TABLE = 25

    # Diagnostics
    DIAGNOSTIC_ROWS = 32
    HALF_FORESTS = 33

    # Keeping what the user knows
    ASSIGNMENT_TIES = 40
    LINKED_ROWS = 41

    # Choosing the rows that plots and reports show
    REPORTED_ROWS = 49


def root_seed(random_state: Any) -> int:
    """Turn what scikit-learn calls `random_state` into a 64-bit seed; None means fresh entropy."""
    if random_state is None:
        return secrets.randbits(64)
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state={random_state} must not be negative.")
        return int(random_state) % 2**64
    if isinstance(random_state, np.random.RandomState):
        high, low = random_state.randint(0, 2**32, size=2, dtype=np.uint64)
        return int(high) << 32 | int(low)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**64, dtype=np.uint64))
    raise ValueError(
        f"random_state={random_state!r} must be None, an integer, a NumPy RandomState or a NumPy Generator."
    )


def stream(seed: int | KeyArray, *counters: Any) -> KeyArray:
    """Hash a seed and counters, which are broadcast, into keys; the result has at least one dimension."""
    key = np.atleast_1d(np.asarray(seed, dtype=np.uint64))
    for counter in counters:
        step = np.atleast_1d(np.asarray(counter, dtype=np.uint64)) + np.uint64(1)
        key = _mix(key + _GOLDEN * step)
    return key


def uniform(keys: KeyArray) -> FloatArray:
    """Turn each key into a number in [0, 1)."""
    return (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53


def integers(keys: KeyArray, upper: int) -> IntArray:
    """Turn each key into an integer in [0, upper)."""
    return (uniform(keys) * upper).astype(np.int32)


def permutations(keys: KeyArray, length: int) -> IntArray:
    """Turn each key into a permutation of range(length)."""
    order = np.argsort(stream(keys[:, None], np.arange(length)), axis=1, kind="stable")
    return order.astype(np.int32)


def distinct_integers(keys: KeyArray, upper: int, count: int, taken: Sequence[IndexArray]) -> IntArray:
    """Draw `count` distinct integers in [0, upper) for each key, none of its taken ones; -1 where none are left."""
    offsets = np.zeros(len(keys) + 1, dtype=np.int64)
    np.cumsum([len(some) for some in taken], out=offsets[1:])
    return _core.draw_features(keys, upper, count, np.concatenate(taken, dtype=np.int32), offsets)


def representative_rows(labels: AnyArray, limit: int, per_cluster: int) -> IndexArray:
    """Draw about `limit` random rows: each cluster's share, but at least `per_cluster` of it if it has that many."""
    n = len(labels)
    if n <= limit:
        return np.arange(n)
    order = permutations(stream(0, Purpose.REPORTED_ROWS), n)[0]
    sizes = np.bincount(labels)
    if len(sizes) * per_cluster > limit:
        return np.sort(order[:limit])
    quotas = np.maximum(limit * sizes // n, np.minimum(sizes, per_cluster))
    by_cluster = order[np.argsort(labels[order], kind="stable")]
    starts = np.cumsum(sizes) - sizes
    chosen = [by_cluster[start : start + quota] for start, quota in zip(starts, quotas, strict=True)]
    return np.sort(np.concatenate(chosen))


def _mix(z: KeyArray) -> KeyArray:
    """Scramble the bits as SplitMix64 does."""
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))
