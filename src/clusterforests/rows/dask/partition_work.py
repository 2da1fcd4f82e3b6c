"""What is done with one partition of a Dask table, on the worker that has it.

Only small things leave it, but for labels. One thread: the partitions run side by side.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from clusterforests._utils.arrays import AnyArray, FloatArray, IndexArray, IntArray, KeyArray
from clusterforests.backends import CpuBackend
from clusterforests.consensus.placement import Placement, Tally
from clusterforests.rows.lloyd_pass import LloydPass, ends_of
from clusterforests.table.checks import check_weights, unmasked
from clusterforests.table.frames import plain_block
from clusterforests.table.row_sampling import (
    WeightedKeys,
    check_sample,
    distinct_keys,
    frequent_keys,
    merge_keys,
    prune_counters,
    waiting_times,
)
from clusterforests.table.row_sources import ArraySource, RowSource, hash_rows, open_source, read_blocks, scan_table


class Digest(NamedTuple):
    """What a first reading of a partition tells."""

    low: FloatArray  # of each column; NaN if a cell is missing
    high: FloatArray
    ends: FloatArray  # the same over the rows that have a weight
    n_rows: int
    total: list[float]  # numbers whose sum is that of the weights, to more digits than one number has
    lowest: WeightedKeys  # those that wait least
    covered: float  # keys that wait less than this are all among them


class Seen(NamedTuple):
    """Digests of partitions, and what is left of their frequent keys."""

    digests: list[Digest]
    frequent: WeightedKeys


class Taken(NamedTuple):
    """Rows that were asked for by their keys: which of the keys, and the values."""

    positions: IndexArray
    values: FloatArray


def rows_of_piece(piece: Any) -> int:
    """Count the rows of a block of an array, or of a part of a frame."""
    return int(piece.shape[0])


def open_piece(piece: Any) -> RowSource:
    """Open a block of an array, or a part of a frame, of numbers."""
    source = open_source(unmasked(plain_block(piece)))
    if source is not None:
        return source
    return ArraySource(piece.to_numpy(dtype=np.float64, na_value=np.nan))  # a frame with nullable columns


def open_weights(weights: Any, n_rows: int) -> FloatArray | None:
    """Check the weights of a partition; all of them may be zero."""
    if weights is None:
        return None
    given = np.asarray(weights)
    if given.dtype.kind in "biuf" and not given.any():
        return given.astype(np.float64)
    return check_weights(given, n_rows, whole=False)


def survey_piece(piece: Any, weights: Any, size: int, seed: int, quota: int) -> Seen:
    """Read a partition for a sample of `size` rows of the whole table. `quota` is how many keys to tell."""
    source = open_piece(piece)
    weights = open_weights(weights, source.shape[0])
    seen = scan_table(source)
    keys, _ = distinct_keys(seen.keys, weights)
    waits = waiting_times(keys.names, seed)
    lowest, covered = keys, np.inf
    if len(waits) > quota:
        covered = float(np.partition(waits, quota)[quota])
        lowest = keys.take(waits < covered)
    ends = np.array([seen.low, seen.high])
    if weights is not None and not weights.all():
        ends = ends_of(source, weights)
    told = Digest(
        seen.low,
        seen.high,
        ends,
        source.shape[0],
        [float(source.shape[0])] if weights is None else exact_sum(weights),
        lowest,
        covered,
    )
    return Seen([told], frequent_keys(keys, size))


def merge_seen(parts: list[Seen], size: int) -> Seen:
    digests = [digest for part in parts for digest in part.digests]
    return Seen(digests, prune_counters(merge_keys([part.frequent for part in parts]), size))


def exact_sum(values: FloatArray) -> list[float]:
    """Return two numbers: the sum, and what rounding took from it."""
    listed = values.tolist()
    total = math.fsum(listed)
    return [total, math.fsum([*listed, -total])]


def count(piece: Any, weights: Any, names: KeyArray) -> FloatArray:
    """Add up the weight of the rows that have each key."""
    source = open_piece(piece)
    keys, _ = distinct_keys(hash_rows(source), open_weights(weights, source.shape[0]))
    position = np.searchsorted(keys.names, names)
    known = position < len(keys.names)
    known[known] = keys.names[position[known]] == names[known]
    totals = np.zeros(len(names))
    totals[known] = keys.weights[position[known]]
    return totals


def take(piece: Any, weights: Any, names: KeyArray) -> Taken:
    """Take a row for each key that the partition has among those of rows with a weight; `names` are in order."""
    source = open_piece(piece)
    hashed = hash_rows(source)
    keys, first = distinct_keys(hashed, open_weights(weights, source.shape[0]))
    _, here, positions = np.intersect1d(keys.names, names, assume_unique=True, return_indices=True)
    if len(here):
        check_sample(source.take, hashed, first[here])
    return Taken(positions, source.take(first[here]))


def label(piece: Any, trees: LloydPass) -> AnyArray:
    return trees.label(open_piece(piece))


def place(piece: Any, trees: LloydPass, placement: Placement) -> IntArray:
    """Find the group of each row. Its labels in the trees are forgotten block by block."""
    source, backend = open_piece(piece), CpuBackend()
    found = np.empty(source.shape[0], dtype=np.int32)
    for first, rows in read_blocks(source):
        found[first : first + len(rows)] = placement.clusters(backend, trees.label(ArraySource(rows)))
    return found


def tally(found: IntArray, weights: Any, n_groups: int, start: int) -> Tally:
    return Tally.of(found, n_groups, open_weights(weights, len(found)), start)
