"""Random numbers as a hash of where they are used: (random_state, purpose, tree, round, candidate, ...).

The same `random_state` therefore gives the same numbers for any number of threads and any order of work.
"""

import enum
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np

from clusterforests import _core
from clusterforests._base.typing import FloatArray, IndexArray, IntArray, KeyArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@enum.unique
class Purpose(enum.IntEnum):
    """What a stream of random numbers is for: the first counter after the seed, so that no two uses share numbers."""

    # Growing a forest
    FIRST_FEATURES = 0
    MORE_FEATURES = 1
    FEATURE_ORDER = 2
    BASE_CLUSTERS = 3
    GROWTH_ROWS = 4
    FINAL_KMEANS = 5
    TABLE_SAMPLE = 6
    LANDMARKS = 7
    TREE_KMEANS = 2**32  # follows the counters of a tree instead of the seed

    # Choosing the number of clusters
    K_ROWS = 16
    K_COLUMNS = 17
    K_FEATURES = 18
    K_FEATURE_COUNTS = 19
    K_BASE_CLUSTERS = 20
    K_TREES = 21
    K_FOLDS = 22
    K_HALVES = 23
    K_TIES = 24
    K_NULL_TABLE = 25
    K_NULL_TAILS = 26

    # Diagnostics
    DIAGNOSTIC_ROWS = 32
    HALF_FORESTS = 33
    HALF_FEATURES = 34
    FRESH_TREES = 35

    # Which rows pictures and reports show
    PLOTTED_ROWS = 48
    REPORTED_ROWS = 49


def root_seed(random_state: Any) -> int:
    """A 64-bit seed from what scikit-learn calls `random_state`; None means fresh entropy."""
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
        f"random_state={random_state!r} must be None, an integer, a numpy RandomState or a numpy Generator."
    )


def stream(seed: int | KeyArray, *counters: Any) -> KeyArray:
    """Keys for every combination of the (broadcast) counters; an array of at least one dimension."""
    key = np.atleast_1d(np.asarray(seed, dtype=np.uint64))
    for counter in counters:
        step = np.atleast_1d(np.asarray(counter, dtype=np.uint64)) + np.uint64(1)
        key = _mix(key + _GOLDEN * step)
    return key


def uniform(keys: KeyArray) -> FloatArray:
    """Numbers in [0, 1), one for each key."""
    return (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53


def integers(keys: KeyArray, upper: int) -> IntArray:
    """Integers in [0, upper), one for each key."""
    return (uniform(keys) * upper).astype(np.int32)


def permutations(keys: KeyArray, length: int) -> IntArray:
    """One permutation of range(length) for each key."""
    order = np.argsort(stream(keys[:, None], np.arange(length)), axis=1, kind="stable")
    return order.astype(np.int32)


def distinct_integers(keys: KeyArray, upper: int, count: int, taken: Sequence[IndexArray]) -> IntArray:
    """Draw `count` distinct integers in [0, upper) for each key, none of its taken ones; -1 where none are left."""
    offsets = np.zeros(len(keys) + 1, dtype=np.int64)
    np.cumsum([len(some) for some in taken], out=offsets[1:])
    return _core.draw_features(keys, upper, count, np.concatenate(taken, dtype=np.int32), offsets)


def _mix(z: KeyArray) -> KeyArray:
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))
