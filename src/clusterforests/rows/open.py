"""Open a table for `fit`, wherever it is: in memory, on disk, in Dask or on a GPU."""

import importlib
from typing import Any

from clusterforests._base.parameters import check_weights
from clusterforests.backends import Backend
from clusterforests.rows.gpu.devices import choose_backend, to_host
from clusterforests.rows.in_memory import InMemoryRows, check_before_reading, encode_rows
from clusterforests.rows.local_blocks import LocalBlocks
from clusterforests.rows.protocol import Reading, Rows
from clusterforests.rows.results import results_for
from clusterforests.rows.sampled import ReadingProgress, SampledRows
from clusterforests.tables.encoding import open_large
from clusterforests.tables.frames import is_dask
from clusterforests.tables.row_blocks import of_encoded


def open_rows(forest: Any, X: Any, sample_weight: Any, backend: Backend, progress: ReadingProgress) -> Rows:
    """Open the rows of X, and set `n_features_in_` and `feature_names_in_` of the forest.

    Parameters
    ----------
    forest : ClusterForest
        Its settings say whether a sample may stand for many rows.
    X, sample_weight
        As in `ClusterForest.fit`.
    backend : Backend
    progress : callable
        Hears how many rows of a large table were read.

    Returns
    -------
    rows : Rows
    """
    if is_dask(X):
        return _elsewhere("dask", forest, X, sample_weight, backend, progress)
    samples = forest.estimator is None and forest.max_samples is not None
    sampled = samples and forest.landmarks is not None
    where = choose_backend(forest.backend, X, sampled=sampled, limits=forest._limits)
    weights, results = to_host(sample_weight), results_for(X)
    if where.value == "gpu":
        return _elsewhere("gpu", forest, X, weights, backend, where, results, progress)
    X = to_host(X)
    check_before_reading(forest, X, weights, backend.threads)
    opened = open_large(forest, X, backend.threads, forest._limits) if samples else None
    if opened is not None:
        large, encoding = opened
        reading = Reading(encoding, None, check_weights(weights, large.source.shape[0]), where)
    else:
        encoded, reading = encode_rows(forest, X, weights, backend.threads, where)
        if not (samples and forest._limits.is_large(len(encoded.values))):
            return InMemoryRows(encoded, reading.weights, reading, backend, results)
        large = of_encoded(encoded, backend.threads, forest._limits)
    reader = LocalBlocks(large, reading.weights, backend.threads, progress, forest._limits)
    return SampledRows.of(forest, reader, reading, backend, results)


def _elsewhere(place: str, *arguments: Any) -> Rows:
    """Open rows in Dask or on a GPU. What does it needs packages that are not always installed."""
    rows: Rows = importlib.import_module(f"clusterforests.rows.{place}.open").open_rows(*arguments)
    return rows
