"""Open a table for `fit`, wherever it is: in memory, on disk, in Dask or on a GPU.

Here, and only here, is asked whether a table is large. If so, a sample of its rows stands for all until the trees are
made, and all rows are read in blocks: on this machine, on a GPU or on the workers of Dask.
"""

import importlib
from dataclasses import replace
from typing import Any

import numpy as np

from clusterforests.rows.devices import choose_device, to_host
from clusterforests.rows.in_memory import InMemoryRows, check_before_reading, read_in_memory
from clusterforests.rows.protocol import FittedTable, Reading, ReadingSettings, Rows
from clusterforests.rows.results import Results, results_for
from clusterforests.rows.sampled import LocalBlocks, SampledRows
from clusterforests.table.checks import check_weights
from clusterforests.table.encoding import Encoding, open_large
from clusterforests.table.frames import is_dask
from clusterforests.table.row_sources import StoredTable, large_encoded_table
from clusterforests.table.sparse_reduction import find_reduction, is_reducible
from clusterforests.trees.settings import Setting


def open_rows(settings: ReadingSettings, X: Any, sample_weight: Any) -> Rows:
    """Open the rows of X.

    Parameters
    ----------
    settings : ReadingSettings
        They say whether a sample may stand for many rows, and where these are read.
    X, sample_weight
        As in `ClusterForest.fit`.

    Returns
    -------
    rows : Rows
    """
    n_rows = _count_rows(X)
    large = n_rows is not None and settings.limits.is_large(n_rows)
    if isinstance(X, StoredTable) and not large:
        X = X.read()
    if settings.scale == "auto" and not isinstance(X, np.ndarray) and is_reducible(X):
        return _open_reduced(settings, X, sample_weight)
    if is_dask(X):
        # Only Dask can say how many rows it has: its own room asks the same question.
        opened: Rows = importlib.import_module("clusterforests.rows.dask.reader").open_rows(settings, X, sample_weight)
        return opened
    sampled = settings.may_sample and settings.n_landmarks is not None
    device = choose_device(settings.device, X, small=n_rows is not None and not large, sampled=sampled)
    weights, results = to_host(sample_weight), results_for(X)
    if device.value == "gpu":  # what does it needs CuPy
        gpu = importlib.import_module("clusterforests.gpu.reader")
        on_device: Rows = gpu.open_rows(settings, X, weights, device, results)
        return on_device
    if large and settings.may_sample:
        return _open_blocks(settings, to_host(X), weights, device, results)
    sample, reading = read_in_memory(settings, to_host(X), weights, device)
    if settings.may_sample and settings.limits.is_large(len(sample.table.values)):  # a list of rows: now it is known
        return _sampled(settings, sample.table, reading, results)
    return InMemoryRows(sample, reading, settings.backend(), results)


def _count_rows(X: Any) -> int | None:
    """Count the rows of what says its shape."""
    if isinstance(X, StoredTable):
        return len(X)
    shape: tuple[Any, ...] = getattr(X, "shape", ())
    return int(shape[0]) if len(shape) == 2 and isinstance(shape[0], (int, np.integer)) else None


def _open_reduced(settings: ReadingSettings, X: Any, sample_weight: Any) -> Rows:
    """Open the components of a wide sparse table in its place."""
    n_rows, n_features = X.shape
    reduction = find_reduction(X, check_weights(sample_weight, n_rows))
    rows: Any = open_rows(settings, reduction.apply(X), sample_weight)
    table = FittedTable()
    table.n_features_in_ = n_features
    reading = replace(rows.reading, table=table, encoding=Encoding(None, n_features, {}), reduction=reduction)
    opened: Rows = replace(rows, reading=reading)
    return opened


def _open_blocks(settings: ReadingSettings, X: Any, weights: Any, device: Setting, results: Results) -> Rows:
    """Open a large table that this machine reads in blocks: as it is if it is numbers, otherwise encoded."""
    check_before_reading(settings, X, weights)
    backend, table = settings.backend(), FittedTable()
    opened = open_large(table, X, backend.threads, settings.limits)
    if opened is None:
        sample, reading = read_in_memory(settings, X, weights, device)
        return _sampled(settings, sample.table, reading, results)
    blocks, encoding = opened
    reading = Reading(table, encoding, None, check_weights(weights, blocks.source.shape[0]), device)
    reader = LocalBlocks(blocks, reading.weights, backend, limits=settings.limits)
    return SampledRows.of(settings, reader, reading, results)


def _sampled(settings: ReadingSettings, encoded: Any, reading: Reading, results: Results) -> Rows:
    """Let a sample stand for the rows of an encoded table in memory."""
    backend = settings.backend()
    blocks = large_encoded_table(encoded, backend.threads, settings.limits)
    reader = LocalBlocks(blocks, reading.weights, backend, limits=settings.limits)
    return SampledRows.of(settings, reader, reading, results)
