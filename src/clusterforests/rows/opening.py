"""Open a table for `fit`, wherever it is: in memory, on disk, in Dask or on a GPU."""

import importlib
from dataclasses import replace
from typing import Any

import numpy as np

from clusterforests.rows.devices import choose_backend, to_host
from clusterforests.rows.in_memory import InMemoryRows, check_before_reading, read_in_memory
from clusterforests.rows.protocol import Reading, Rows
from clusterforests.rows.results import HostResults, Results, results_for
from clusterforests.rows.sampled import LocalBlocks, SampledRows
from clusterforests.table.checks import check_weights
from clusterforests.table.encoding import Encoding, open_large
from clusterforests.table.frames import is_dask
from clusterforests.table.row_sources import StoredTable, large_encoded_table
from clusterforests.table.sparse_reduction import find_reduction, is_reducible
from clusterforests.trees.settings import Setting

NOT_ON_GPU = Setting("cpu", "X is not on a GPU")


def open_rows(forest: Any, X: Any, sample_weight: Any) -> Rows:
    """Open the rows of X, and set `n_features_in_` and `feature_names_in_` of the forest.

    Parameters
    ----------
    forest : ClusterForest
        Its settings say whether a sample may stand for many rows, and where these are read.
    X, sample_weight
        As in `ClusterForest.fit`.

    Returns
    -------
    rows : Rows
    """
    if forest.backend == "auto" and isinstance(X, np.ndarray):
        return _open_here(forest, X, sample_weight, NOT_ON_GPU, HostResults())
    if isinstance(X, StoredTable) and not forest._limits.is_large(len(X)):
        return open_rows(forest, X.read(), sample_weight)
    if forest.scale == "auto" and is_reducible(X):
        return _open_reduced(forest, X, sample_weight)
    if is_dask(X):
        return _open_elsewhere("rows.dask.opening", forest, X, sample_weight)
    samples = forest.estimator is None and forest.max_samples is not None and forest.n_landmarks is not None
    where = choose_backend(forest.backend, X, sampled=samples, limits=forest._limits)
    weights, results = to_host(sample_weight), results_for(X)
    if where.value == "gpu":
        return _open_elsewhere("gpu.reader", forest, X, weights, where, results)
    return _open_here(forest, to_host(X), weights, where, results)


def _open_reduced(forest: Any, X: Any, sample_weight: Any) -> Rows:
    """Open the components of a wide sparse table in its place."""
    n_rows, n_features = X.shape
    reduction = find_reduction(X, check_weights(sample_weight, n_rows))
    rows: Any = open_rows(forest, reduction.apply(X), sample_weight)
    forest.n_features_in_ = n_features
    reading = replace(rows.reading, encoding=Encoding(None, n_features, {}), reduction=reduction)
    opened: Rows = replace(rows, reading=reading)
    return opened


def _open_here(forest: Any, X: Any, sample_weight: Any, where: Setting, results: Results) -> Rows:
    """Open a table that this machine reads: as one array, or in blocks if it has many rows."""
    may_sample = forest.estimator is None and forest.max_samples is not None
    many = len(getattr(X, "shape", ())) == 2 and X.shape[0] > forest._limits.large_rows
    if many and may_sample:
        check_before_reading(forest, X, sample_weight)
        backend = forest._make_backend()
        opened = open_large(forest, X, backend.threads, forest._limits)
        if opened is not None:
            large, encoding = opened
            reading = Reading(encoding, None, check_weights(sample_weight, large.source.shape[0]), where)
            reader = LocalBlocks(large, reading.weights, backend, limits=forest._limits)
            return SampledRows.of(forest, reader, reading, backend, results)
    sample, reading = read_in_memory(forest, X, sample_weight, where)
    backend = forest._make_backend()
    if not (may_sample and forest._limits.is_large(len(sample.table.values))):
        return InMemoryRows(sample, reading, backend, results)
    large = large_encoded_table(sample.table, backend.threads, forest._limits)
    reader = LocalBlocks(large, reading.weights, backend, limits=forest._limits)
    return SampledRows.of(forest, reader, reading, backend, results)


def _open_elsewhere(place: str, *arguments: Any) -> Rows:
    """Open rows in Dask or on a GPU. What does it needs packages that are not always installed."""
    rows: Rows = importlib.import_module(f"clusterforests.{place}").open_rows(*arguments)
    return rows
