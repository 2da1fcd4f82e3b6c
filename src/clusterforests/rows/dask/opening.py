"""Open a Dask array or frame for `fit`: on the workers if it has many rows, otherwise in this process."""

from dataclasses import replace
from functools import partial
from typing import Any

from clusterforests.rows.dask.reader import DaskTable, grow_trees, open_table
from clusterforests.rows.dask.results import DaskResults
from clusterforests.rows.dask.tasks import has_workers
from clusterforests.rows.in_memory import InMemoryRows, read_in_memory
from clusterforests.rows.protocol import Reading, Rows
from clusterforests.rows.sampled import SampledRows
from clusterforests.trees.settings import Setting


def open_rows(forest: Any, X: Any, sample_weight: Any) -> Rows:
    """Open the rows of a Dask table. Results are Dask arrays in the partitions of the table."""
    if forest.backend == "gpu":
        raise ValueError("backend='gpu' reads tables of one process: pass X.compute(), or leave backend at 'auto'.")
    table = open_table(forest, X, sample_weight)
    where = Setting("cpu", "given" if forest.backend == "cpu" else "X is not on a GPU")
    if forest._limits.is_large(table.n_rows):
        return _open_on_workers(forest, table, where)
    sample, reading = read_in_memory(forest, *table.gathered(), where)
    grower = grow_trees if forest.estimator is None and has_workers() else None
    published = replace(reading, weights=table.weights)
    return InMemoryRows(sample, published, forest._make_backend(), DaskResults(table.lengths), grower)


def _open_on_workers(forest: Any, table: DaskTable, where: Setting) -> Rows:
    if forest.estimator is not None or forest.max_samples is None or forest.n_landmarks is None:
        raise ValueError(
            "estimator, max_samples=None and n_landmarks=None need all rows in one place. Leave them at their "
            f"defaults for a Dask table of {table.n_rows} rows, or pass X.compute()."
        )
    reading = Reading(table.encoding(), None, table.weights, where)
    reader = table.reader(reading.encoding)
    grower = partial(grow_trees, labelled=False)
    return SampledRows.of(forest, reader, reading, forest._make_backend(), DaskResults(table.lengths), grower)
