"""Open a table for `fit`, wherever it is: in memory, on disk, in Dask or on a GPU.

Here, and only here, is asked whether a table is large. If so, a sample of its rows stands for all until the trees are
made, and all rows are read in blocks: on this machine, on a GPU or on the workers of Dask. Otherwise the table is one
array of numbers in memory, and the sample is all of it.
"""

import importlib
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clusterforests._utils.devices import is_dask, need_cupy, on_gpu, to_host
from clusterforests._utils.threads import count_threads
from clusterforests.backends import Backend
from clusterforests.consensus.constraints import Constraints, RequestedConstraints
from clusterforests.consensus.enforcement import RowsInClusters, enforce
from clusterforests.consensus.nodes import CutSettings, Nodes, choose_nodes
from clusterforests.consensus.placement import Cut, Placement, place_rows
from clusterforests.rows.memory_estimate import check_fit_memory
from clusterforests.rows.protocol import (
    LabelledForest,
    Reading,
    ReadingProgress,
    ReadingSettings,
    Rows,
    TreeMaker,
)
from clusterforests.rows.results import HostResults, Results, results_for
from clusterforests.rows.sampled import LocalBlocks, SampledRows
from clusterforests.table.checks import FittedTable, check_weights
from clusterforests.table.encoding import Encoding, encode, open_large
from clusterforests.table.feature_columns import EncodedTable, distinct_rows
from clusterforests.table.imputation import complete
from clusterforests.table.row_sources import StoredTable, large_encoded_table
from clusterforests.table.scaling import Scaling
from clusterforests.table.sparse_reduction import find_reduction, is_reducible
from clusterforests.trees.forest import Forest, TreePlan
from clusterforests.trees.growth import GrowthProgress
from clusterforests.trees.planning import Sample
from clusterforests.trees.settings import Setting

# A table of so few rows and cells needs a few megabytes: nobody is asked whether they are there.
LITTLE_ROWS, LITTLE_CELLS = 400, 2**14


@dataclass(frozen=True)
class InMemoryRows:
    """All rows of a table that fits into memory as one array of numbers: the sample is all of them."""

    sample_of_all: Sample
    reading: Reading
    backend: Backend
    results: Results
    tree_maker: TreeMaker | None = None  # makes the trees elsewhere, such as on the workers of a cluster
    constraints: Constraints | None = None  # what the user asks of the clusters

    @property
    def n_rows(self) -> int:
        return len(self.sample_of_all.table.values)

    def report_to(self, progress: ReadingProgress) -> None:
        """Report nothing: the rows are read already."""

    def sample(self, seed: int) -> Sample:
        return self.sample_of_all

    def make_trees(self, plan: TreePlan, progress: GrowthProgress) -> Forest:
        return plan.make_trees(self.backend, progress) if self.tree_maker is None else self.tree_maker(plan, progress)

    def label(self, forest: Forest, scaling: Scaling, sample: Sample) -> LabelledForest:
        """Leave the labels as they are: trees that were grown on all rows have them. Rows may be linked."""
        if self.constraints is None:
            return LabelledForest(forest, None)
        return LabelledForest(replace(forest, partitions=self.constraints.link(forest.partitions)), None)

    def nodes(self, labelled: LabelledForest, sample: Sample, settings: CutSettings, seed: int) -> Nodes:
        return choose_nodes(self.backend, labelled.forest.partitions, sample.weights, settings, seed)

    def place(self, labelled: LabelledForest, nodes: Nodes, kept: Cut) -> tuple[Placement, Any]:
        partitions, weights = labelled.forest.partitions, self.sample_of_all.weights
        placement, labels = place_rows(self.backend, nodes, kept, partitions, weights)
        if self.constraints is None:
            return placement, labels
        return enforce(self.backend, RowsInClusters(partitions, weights, placement, labels), self.constraints)

    def send(self, values: Any) -> Any:
        return self.results.send(values)


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
    if isinstance(X, np.ndarray) and settings.device == "auto" and not large:  # the usual case
        sample, reading = read_in_memory(settings, X, sample_weight, Setting("cpu", "X is not on a GPU"))
        return InMemoryRows(sample, reading, settings.backend(), HostResults())
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
    shape = getattr(X, "shape", None)
    if not (isinstance(shape, tuple) and len(shape) == 2 and isinstance(shape[0], (int, np.integer))):
        return None
    return int(shape[0])


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


def _sampled(settings: ReadingSettings, encoded: EncodedTable, reading: Reading, results: Results) -> Rows:
    """Let a sample stand for the rows of an encoded table in memory."""
    backend = settings.backend()
    blocks = large_encoded_table(encoded, backend.threads, settings.limits)
    reader = LocalBlocks(blocks, reading.weights, backend, limits=settings.limits)
    return SampledRows.of(settings, reader, reading, results)


def read_in_memory(settings: ReadingSettings, X: Any, sample_weight: Any, device: Setting) -> tuple[Sample, Reading]:
    """Copy the table as numbers, fill its missing cells and find the rows that are distinct.

    A table too large for memory is refused before it is read, as far as its shape is known.
    """
    check_before_reading(settings, X, sample_weight)
    table = FittedTable()
    encoded, encoding = encode(table, X)
    weights = check_weights(sample_weight, len(encoded.values))

    # Categories and missing cells make a copy; where cells are missing they are filled from similar rows.
    donors = None
    if encoded.categorical.any() or not np.isfinite(encoded.values).all():
        check_fit_memory(settings, encoded.values.shape, copied=True)
        encoded, donors = complete(encoded, weights, count_threads(settings.n_jobs))
    elif not _needs_little(encoded.values.shape):
        check_fit_memory(settings, encoded.values.shape)
    sample = Sample(encoded, weights, distinct_rows(encoded.values, weights), every_row=True)
    return sample, Reading(table, encoding, donors, weights, device)


def check_before_reading(settings: ReadingSettings, X: Any, sample_weight: Any) -> None:
    """Refuse what can be refused before a long reading."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2 and all(shape) and not _needs_little(shape):
        check_weights(sample_weight, shape[0])
        check_fit_memory(settings, shape)


def _needs_little(shape: tuple[int, ...]) -> bool:
    return shape[0] <= LITTLE_ROWS and math.prod(shape) <= LITTLE_CELLS


def constrain(rows: Rows, asked: RequestedConstraints, large_rows: int) -> Rows:
    """Let rows keep what the user asks for; refuse it where trees see only a sample of them."""
    if all(value is None for value in asked):
        return rows
    if not isinstance(rows, InMemoryRows):
        given = asked.names[0]
        raise ValueError(
            f"{given} is offered where all rows are compared, but trees of {rows.n_rows} rows see a sample. Fit at "
            f"most {large_rows} rows and `predict` the others, or pass max_samples=None for a table in memory."
        )
    return replace(rows, constraints=asked.read(rows.n_rows, rows.sample_of_all.weights))


def choose_device(asked: str, X: Any, *, small: bool, sampled: bool) -> Setting:
    """Choose where a fit runs.

    `small` is whether X is known to have few rows, `sampled` whether its settings let a sample stand for many.
    """
    if asked == "cpu" or (asked == "auto" and not on_gpu(X)):
        return Setting("cpu", "given" if asked == "cpu" else "X is not on a GPU")
    need_cupy()
    if small:
        return Setting("cpu", "of few rows the CPU is faster")
    if not sampled:
        return Setting("cpu", "max_samples=None, n_landmarks=None and other clusterers are for the CPU")
    return Setting("gpu", "given" if asked == "gpu" else "X is on the GPU")
