"""The sample of a table whose keys are on a GPU: that of `tables.row_sampling`."""

from typing import Any

import numpy as np

from clusterforests._base.typing import IndexArray
from clusterforests.rows.gpu.devices import need_cupy
from clusterforests.rows.gpu.kernels import Kernels, strides
from clusterforests.tables.distinct_rows import DistinctRows
from clusterforests.tables.row_sampling import (
    BUCKET_BITS,
    CANDIDATES,
    WeightedKeys,
    check_shared,
    draw_known,
    sampling_key,
    sifted_buckets,
)

CHANCE_BITS = 53  # of a uniform random number
BIN_BITS = 16  # of these, by which the GPU counts keys
NOWHERE = np.uint64(2**64 - 1)


def draw_on_gpu(keys: Any, size: int, seed: int) -> DistinctRows:
    """Do what `draw_rows` does for rows of weight 1: the GPU finds candidates, the CPU draws from them."""
    cupy, kernels, n = need_cupy(), Kernels(), np.int64(len(keys))
    order = cupy.argsort(keys)  # stable: of equal keys the first row comes first
    ordered = cupy.empty(len(keys), np.uint64)
    kernels.over(len(keys), "order_keys", keys, order, n, ordered)
    bins = cupy.zeros(2**BIN_BITS, np.uint64)
    kernels.over(len(keys), "count_chances", ordered, n, sampling_key(seed), bins)
    reached = np.cumsum(cupy.asnumpy(bins).astype(np.int64))
    last = min(int(np.searchsorted(reached, CANDIDATES * size + 1)), len(reached) - 1)
    limit = np.uint64((last + 1) << (CHANCE_BITS - BIN_BITS))
    room = int(reached[last]) + size  # at most `size` keys have a share of 1 / size of the rows
    taken, names = cupy.zeros(1, np.uint64), cupy.empty(room, np.uint64)
    first, mass = cupy.empty(room, np.int64), cupy.empty(room, np.int64)
    crowd = np.int64(-(-len(keys) // size))
    out = taken, names, first, mass
    kernels.over(len(keys), "take_keys", ordered, order, n, sampling_key(seed), limit, crowd, *out)
    found = int(taken[0])
    names, first, mass = (cupy.asnumpy(array[:found]) for array in out[1:])
    ascending = np.argsort(names)
    known = WeightedKeys(names[ascending], mass[ascending].astype(np.float64))
    return draw_known(known, first[ascending], size, seed, float(n))


def check_on_gpu(table: Any, keys: Any, sample: IndexArray) -> None:
    """Do what `check_sample` does for a table on the GPU."""
    cupy, kernels = need_cupy(), Kernels(table.real)
    rows = np.ascontiguousarray(sample, dtype=np.int64)
    own = cupy.empty(len(rows), np.uint64)
    kernels.over(len(rows), "order_keys", keys, cupy.asarray(rows), np.int64(len(rows)), own)
    names = cupy.asnumpy(own)
    ascending = np.argsort(names)
    names, rows = names[ascending], rows[ascending]
    sifted = np.packbits(sifted_buckets(names), bitorder="little").view(np.uint32)
    found = cupy.asarray(np.array([NOWHERE]))
    n, columns = table.shape
    given = table.X, *strides(table.X), np.int64(n), columns, keys, cupy.asarray(names), cupy.asarray(rows), len(rows)
    kernels.over(n, "find_unequal", *given, cupy.asarray(sifted), BUCKET_BITS, found)
    row = cupy.asnumpy(found)[0]
    if row != NOWHERE:
        at = np.array([row], dtype=np.int64)
        drawn = rows[np.searchsorted(names, cupy.asnumpy(keys[int(row) : int(row) + 1]))]
        check_shared(table.take(at), table.take(drawn))
