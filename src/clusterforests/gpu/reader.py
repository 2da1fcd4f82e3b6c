"""All rows of a large table on a GPU: a `RowReader`. What is small, the sample and its graph, is left to the CPU.

The table, its hashes and the labels in all trees are kept on the GPU if they fit; otherwise rows and labels come and go
in blocks.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clusterforests._utils.arrays import AnyArray, BoolArray, FloatArray, IndexArray, IntArray, KeyArray
from clusterforests._utils.devices import as_cupy, need_cupy, on_gpu, to_host
from clusterforests._utils.memory import DeviceLimits, format_bytes
from clusterforests.backends import Backend, CpuBackend
from clusterforests.consensus.placement import NO_ROW, Placement, Tally, place_everywhere
from clusterforests.gpu.kernels import PLAIN_SHARED_BYTES, THREADS, Kernels, strides
from clusterforests.gpu.labelling import CopiedResults, DeviceLadders, DeviceTrees
from clusterforests.gpu.placement import DeviceRule
from clusterforests.rows.lloyd_pass import Labelling
from clusterforests.rows.opening import read_in_memory
from clusterforests.rows.protocol import Reading, ReadingProgress, ReadingSettings
from clusterforests.rows.results import Results
from clusterforests.rows.sampled import DrawnRows, SampledRows
from clusterforests.table.checks import FittedTable, check_weights
from clusterforests.table.encoding import Encoding, infinity_message
from clusterforests.table.feature_columns import DistinctRows, EncodedTable
from clusterforests.table.frames import check_feature_names, column_names, known_frame
from clusterforests.table.row_sampling import (
    BUCKET_BITS,
    CANDIDATES,
    WeightedKeys,
    check_sample,
    check_shared,
    draw_known,
    draw_rows,
    sampling_key,
    sifted_buckets,
)
from clusterforests.table.row_sources import ArraySource, RowSource, TableScan, open_source
from clusterforests.table.scaling import Scaling
from clusterforests.trees.settings import Setting

# The sample of a table whose keys are on a GPU: that of `tables.row_sampling`.

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


OLDEST_CHIP = 80  # compute capability, times ten, of the first GPUs that copy to a block's memory meanwhile
ROW_BYTES = 48  # keys and their order, while they are sorted
TALLY_BLOCKS = 1056  # eight for each multiprocessor of a large GPU
TALLY_BYTES = 12  # of a block's memory, for each cluster


class DeviceTable:
    """Rows that are on the GPU."""

    def __init__(self, X: Any, limits: DeviceLimits) -> None:
        self.X, self.limits = X, limits
        self.shape: tuple[int, int] = X.shape
        self.real = X.dtype

    def read_blocks(self) -> Iterator[tuple[int, Any]]:
        step = max(1, self.limits.block_bytes // (self.X.itemsize * self.shape[1]))
        for start in range(0, self.shape[0], step):
            yield start, self.X[start : start + step]

    def take(self, rows: IndexArray) -> FloatArray:
        cupy, columns = need_cupy(), self.shape[1]
        chosen, out = np.ascontiguousarray(rows, dtype=np.int64), cupy.empty((len(rows), columns), np.float64)
        given = self.X, *strides(self.X), columns, cupy.asarray(chosen), np.int64(len(chosen)), out
        Kernels(self.real).over(out.size, "take_rows", *given)
        values: FloatArray = cupy.asnumpy(out)
        return values


class StreamedTable:
    """Rows of this machine's memory or disk, which go to the GPU a block at a time."""

    def __init__(self, source: RowSource, limits: DeviceLimits) -> None:
        self.source, self.limits = source, limits
        self.shape = source.shape
        self.real = _real(source)

    @property
    def block_rows(self) -> int:
        return max(1, self.limits.block_bytes // (self.real.itemsize * self.shape[1]))

    def read_blocks(self) -> Iterator[tuple[int, Any]]:
        n = self.shape[0]
        for start in range(0, n, self.block_rows):
            yield start, need_cupy().asarray(self.host_block(start, min(n, start + self.block_rows)))

    def host_block(self, start: int, stop: int) -> AnyArray:
        if isinstance(self.source, ArraySource) and self.source.X.dtype == self.real:
            return np.ascontiguousarray(self.source.X[start:stop])
        return self.source.block(start, stop)

    def take(self, rows: IndexArray) -> FloatArray:
        return self.source.take(rows)


AnyTable = DeviceTable | StreamedTable


def _real(source: RowSource) -> np.dtype[Any]:
    """Keep float32 as it is, and take anything else as float64."""
    single = isinstance(source, ArraySource) and source.X.dtype == np.float32
    return np.dtype(np.float32 if single else np.float64)


def open_source_on_gpu(source: RowSource, label_bytes: int, limits: DeviceLimits) -> AnyTable:
    """Copy a table to the GPU if there is room for it and for the labels, otherwise read it in blocks."""
    cupy = need_cupy()
    streamed = StreamedTable(source, limits)
    n, columns = source.shape
    if n * columns * streamed.real.itemsize + label_bytes > limits.spare * cupy.cuda.Device().mem_info[0]:
        return streamed
    X = cupy.empty((n, columns), streamed.real)
    step = streamed.block_rows
    for start in range(0, n, step):
        X[start : start + step].set(streamed.host_block(start, min(n, start + step)))
    return DeviceTable(X, limits)


def check_device(n_rows: int, limits: DeviceLimits) -> None:
    """Refuse a fit that the GPU cannot run or has no room for, before it starts."""
    cupy = need_cupy()
    capability: str = cupy.cuda.Device().compute_capability
    if int(capability) < OLDEST_CHIP:
        raise RuntimeError(
            f"device='gpu' needs a GPU of compute capability {OLDEST_CHIP / 10} or later; this one has "
            f"{int(capability) / 10}. Use device='cpu' with X in this machine's memory."
        )
    needed = ROW_BYTES * n_rows + limits.scratch_bytes + limits.vote_bytes
    free = cupy.cuda.Device().mem_info[0] + cupy.get_default_memory_pool().free_bytes()
    if needed > free:
        raise MemoryError(
            f"A fit of {n_rows} rows needs {format_bytes(needed)} on the GPU beside the table, but only "
            f"{format_bytes(free)} are free there. Free other arrays, or use device='cpu' with X in this machine's "
            "memory."
        )


def survey_on_gpu(table: AnyTable) -> TableScan:
    """Do what `row_blocks.survey` does, with the keys on the GPU."""
    cupy = need_cupy()
    kernels, (n, columns) = Kernels(table.real), table.shape
    keys, low = cupy.empty(n, np.uint64), cupy.asarray(np.full(columns, ~np.uint64(0)))
    high = cupy.zeros(columns, np.uint64)
    missing = cupy.zeros(columns, np.int32)
    for start, rows in table.read_blocks():
        own, size = keys[start : start + len(rows)], (np.int64(len(rows)), columns)
        kernels.over(len(rows), "survey_rows", rows, *strides(rows), *size, own, low, high, missing)
    ends = (np.where(cupy.asnumpy(missing), np.nan, _doubles(cupy.asnumpy(end))) for end in (low, high))
    return TableScan(keys, *ends)


def _doubles(ordered: KeyArray) -> FloatArray:
    """Turn integers of the same order back into doubles: see `ordered` in rows.cu."""
    sign = np.uint64(1) << np.uint64(63)
    return np.where(ordered & sign, ordered ^ sign, ~ordered).view(np.float64)


@dataclass
class DeviceReader:
    """Reads rows on a GPU. Arrays with an entry for each row stay there if they fit."""

    table: AnyTable
    seen: TableScan  # the keys are on the GPU
    first: IntArray
    widths: IntArray
    categorical: BoolArray
    weights: FloatArray | None = None
    backend: Backend = field(default_factory=CpuBackend)
    progress: ReadingProgress | None = None
    read: int = 0
    trees: Labelling | None = None
    ladders: DeviceLadders | None = None
    float64_labels: Any = None  # their number, on the GPU
    on_labels: Callable[[Any], None] | None = None  # is told of the labels of all rows that stay on the GPU

    @property
    def unsure(self) -> int:
        """The number of labels that float64 decided."""
        return 0 if self.float64_labels is None else int(self.float64_labels[0])

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.shape

    @property
    def limits(self) -> DeviceLimits:
        return self.table.limits

    def draw(self, size: int, seed: int) -> DrawnRows:
        """Draw the sample; on the CPU where rows have weights, so that their sums are its sums."""
        if self.weights is None:
            pool = draw_on_gpu(self.seen.keys, size, seed)
        else:
            pool = draw_rows(need_cupy().asnumpy(self.seen.keys), self.weights, size, seed)
        if isinstance(self.table, DeviceTable):
            check_on_gpu(self.table, self.seen.keys, pool.rows)
        else:
            check_sample(self.table.take, need_cupy().asnumpy(self.seen.keys), pool.rows)
        rows = EncodedTable(self.table.take(pool.rows), self.first, self.widths, self.categorical)
        return DrawnRows(rows, pool.weights)

    def ends(self) -> FloatArray:
        if self.weights is not None and not self.weights.all():
            return self._ends(self.weights > 0)
        return np.array([self.seen.low, self.seen.high])

    def label(self, trees: Labelling) -> Any:
        """Label all rows, (T, n), on the GPU if that has room."""
        cupy = need_cupy()
        self.trees = trees
        shape = len(trees.centers), self.shape[0]
        fits = (
            math.prod(shape) * np.dtype(trees.label_type).itemsize <= self.limits.spare * cupy.cuda.Device().mem_info[0]
        )
        labels = (cupy if fits else np).empty(shape, trees.label_type)
        device = DeviceTrees(trees, self.table.real, self._ladders(trees.scaling), self.limits)
        for start, rows in self.table.read_blocks():
            own = slice(start, start + len(rows))
            out = labels[:, own] if fits else cupy.empty((shape[0], len(rows)), trees.label_type)
            device.label(rows, out)
            if not fits:
                labels[:, own] = cupy.asnumpy(out)
            self._tell(len(rows))
        self.float64_labels = device.unsure  # the GPU may still be at work: nobody waits for it here
        if fits and self.on_labels is not None:
            self.on_labels(labels)
        return labels

    def place(self, partitions: Any, placement: Placement) -> tuple[Placement, Any]:
        placement, found = place_everywhere(placement, lambda now: self._place(partitions, now))
        kernels, names = Kernels(), need_cupy().asarray(placement.group_to_cluster)
        kernels.over(len(found), "name_rows", found, np.int64(len(found)), names, found)
        return placement, found

    def _place(self, partitions: Any, placement: Placement) -> tuple[Any, Tally]:
        cupy = need_cupy()
        assert self.trees is not None
        found = cupy.empty(self.shape[0], np.int32)
        rule = None
        if DeviceRule.knows(placement):
            rule = DeviceRule(placement, list(map(len, self.trees.centers)), self.trees.label_type, self.limits)
        step = max(1, self.limits.block_bytes // len(partitions))
        for start in range(0, self.shape[0], step):
            own = slice(start, start + step)
            if rule is not None:
                rule.clusters(cupy.asarray(partitions[:, own]), found[own])
            else:
                labels = cupy.asnumpy(partitions[:, own])
                found[own].set(placement.clusters(self.backend, labels))
        return found, self._tally(found, len(placement.group_to_cluster))

    def _tally(self, found: Any, n_clusters: int) -> Tally:
        """Tally the clusters. The CPU adds up weights, in the order of the rows."""
        cupy = need_cupy()
        if self.weights is not None:
            return Tally.of(cupy.asnumpy(found), n_clusters, self.weights)
        counts, first = cupy.zeros(n_clusters, np.uint64), cupy.asarray(np.full(n_clusters, NO_ROW, np.uint64))
        local = n_clusters if TALLY_BYTES * n_clusters <= PLAIN_SHARED_BYTES else 0
        given = found, np.int64(len(found)), local, counts, first
        Kernels().launch("tally_rows", (TALLY_BLOCKS,), THREADS, *given, shared=TALLY_BYTES * local)
        return Tally(cupy.asnumpy(counts).astype(np.float64), cupy.asnumpy(first).astype(np.int64))

    def _ladders(self, scaling: Scaling) -> DeviceLadders:
        """Make the ladders once: all passes have the same scaling."""
        if self.ladders is None or self.ladders.scaling is not scaling:
            self.ladders = DeviceLadders(scaling)
        return self.ladders

    def _ends(self, counted: BoolArray) -> FloatArray:
        cupy = need_cupy()
        low, high = cupy.full(self.shape[1], np.inf), cupy.full(self.shape[1], -np.inf)
        for start, rows in self.table.read_blocks():
            some = rows[cupy.asarray(counted[start : start + len(rows)])]
            if len(some):
                low, high = cupy.minimum(low, some.min(axis=0)), cupy.maximum(high, some.max(axis=0))
        return np.array([cupy.asnumpy(low), cupy.asnumpy(high)])

    def _tell(self, rows: int) -> None:
        self.read += rows
        if self.progress is not None:
            self.progress(self.read, self.shape[0])


# Open a table that a GPU reads.


def open_rows(settings: ReadingSettings, X: Any, sample_weight: Any, device: Setting, results: Results) -> SampledRows:
    """Open a large table that a GPU reads. This machine encodes categories and fills missing cells."""
    check_device(len(X), settings.limits.device)
    opened = _open_numbers(settings, X, sample_weight, device) or _open_encoded(settings, X, sample_weight, device)
    reader, reading = opened
    reader.backend = settings.backend()
    if not on_gpu(X):
        results = copied = CopiedResults()
        reader.on_labels = copied.begin
    return SampledRows.of(settings, reader, reading, results)


def _open_encoded(
    settings: ReadingSettings, X: Any, sample_weight: Any, device: Setting
) -> tuple[DeviceReader, Reading]:
    sample, reading = read_in_memory(settings, to_host(X), sample_weight, device)
    encoded = sample.table
    label_bytes = len(encoded.values) * settings.n_estimators
    table = open_source_on_gpu(ArraySource(encoded.values), label_bytes, settings.limits.device)
    layout = encoded.first, encoded.widths, encoded.categorical
    return DeviceReader(table, survey_on_gpu(table), *layout, reading.weights), reading


def _open_numbers(
    settings: ReadingSettings, X: Any, sample_weight: Any, device: Setting
) -> tuple[DeviceReader, Reading] | None:
    """Do what `table.encoding.open_large` does. None where X has categories or missing cells."""
    weights = check_weights(sample_weight, len(X))
    table = _open(X, settings.n_estimators, settings.limits.device)
    if table is None:
        return None
    seen = survey_on_gpu(table)
    if np.isnan(seen.low).any():
        return None
    p = table.shape[1]
    X = np.empty((0, p)) if on_gpu(X) else known_frame(X)
    columns = FittedTable()
    check_feature_names(columns, X, reset=True)
    names = column_names(X)
    encoding = Encoding(None if names is None else tuple(map(str, names)), p, {})
    if not (np.isfinite(seen.low).all() and np.isfinite(seen.high).all()):
        _refuse_infinity(table, encoding)
    first, widths = np.arange(p, dtype=np.int32), np.ones(p, np.int32)
    reader = DeviceReader(table, seen, first, widths, np.zeros(p, bool), weights)
    return reader, Reading(columns, encoding, None, weights, device)


def _open(X: Any, n_estimators: int, limits: DeviceLimits) -> AnyTable | None:
    if not on_gpu(X):
        source = open_source(X)
        return None if source is None else open_source_on_gpu(source, source.shape[0] * n_estimators, limits)
    array = as_cupy(X)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"X holds {array.dtype}: an array on the GPU must hold real numbers.")
    return DeviceTable(array if array.dtype in (np.float32, np.float64) else array.astype(np.float64), limits)


def _refuse_infinity(table: AnyTable, encoding: Encoding) -> None:
    cupy = need_cupy()
    for start, rows in table.read_blocks():
        found = cupy.asnumpy(cupy.argwhere(cupy.isinf(rows))[:1])
        if len(found):
            raise ValueError(infinity_message(start + int(found[0][0]), encoding.describe(found[0][1])))
