"""Random numbers as a hash of where they are used: (random_state, tree, round, candidate, ...).

The same `random_state` therefore gives the same numbers for any number of threads and any order of work.
"""

import secrets
from typing import Any

import numpy as np
import numpy.typing as npt

UInt64Array = npt.NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


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


def stream(seed: int | UInt64Array, *counters: Any) -> UInt64Array:
    """Keys for every combination of the (broadcast) counters; an array of at least one dimension."""
    key = np.atleast_1d(np.asarray(seed, dtype=np.uint64))
    for counter in counters:
        step = np.atleast_1d(np.asarray(counter, dtype=np.uint64)) + np.uint64(1)
        key = _mix(key + _GOLDEN * step)
    return key


def uniform(keys: UInt64Array) -> npt.NDArray[np.float64]:
    """Numbers in [0, 1), one for each key."""
    return (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53


def integers(keys: UInt64Array, upper: int) -> npt.NDArray[np.int32]:
    """Integers in [0, upper), one for each key."""
    return (uniform(keys) * upper).astype(np.int32)


def permutations(keys: UInt64Array, length: int) -> npt.NDArray[np.int32]:
    """One permutation of range(length) for each key."""
    order = np.argsort(stream(keys[:, None], np.arange(length)), axis=1, kind="stable")
    return order.astype(np.int32)


def _mix(z: UInt64Array) -> UInt64Array:
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))
