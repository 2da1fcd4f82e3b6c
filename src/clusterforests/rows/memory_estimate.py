"""Estimate the memory that a fit needs, before it starts."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from clusterforests._utils.arrays import BLOCK_CELLS, WIDE, is_wide
from clusterforests._utils.linear_algebra import axis_rows
from clusterforests._utils.memory import format_bytes, shortage
from clusterforests._utils.threads import count_threads
from clusterforests.consensus.affinity import LIMITS
from clusterforests.consensus.nodes import works_without_matrix
from clusterforests.feature_screening.dependence import BUNDLE
from clusterforests.feature_screening.out_of_bag_scores import SUMS_AT_ONCE
from clusterforests.feature_screening.probe_clusterings import PROBE_COMPONENTS, ROW_CELLS
from clusterforests.feature_screening.screening import PAIRED, PAIRED_ROWS, PROBED_ROWS, ROWS_OF_MANY
from clusterforests.rows.protocol import ReadingSettings
from clusterforests.table.scaling import SCALED_ROWS
from clusterforests.trees.kinds import most_projected
from clusterforests.trees.settings import GAP_ROWS

EIGENSOLVER_VECTORS = 64  # kept for a graph that is an operator
VOTING_ROWS = 4096  # compared with the landmarks at a time
PASS_ROWS = 512  # that a thread labels at a time
TYPICAL_VIEWS = 2  # of each feature
TREE_COLUMNS = 16  # typical number of columns per tree
COLUMN_BYTES = 700  # of a wide table: steps, scores, and the rows that fill missing cells of others
COLUMN_BLOCKS = 12  # of columns that are at hand at a time
PROBE_CLUSTERS = 700  # typical number in a round of the search for features


class MemoryEstimate(NamedTuple):
    """Bytes beyond the table that was given, by stage."""

    input: int  # a copy of the table where one is needed; hashes of the rows; the sample, and the ranks of its values
    sample: int  # the search for features, then the rows that trees are made on: scaled, and as K-means sees them
    passes: int  # blocks of rows on their way to a label
    partitions: int  # `partitions_`, which stays
    consensus: int  # the graph of rows or landmarks
    votes: int  # rows on their way to a cluster

    @property
    def total(self) -> int:
        """The most that is needed at a time: growth and passes are over when the graph is cut."""
        return self.input + self.partitions + max(self.sample + self.passes, self.consensus + self.votes)


def estimate_memory(
    settings: ReadingSettings, n_samples: int, n_features: int, *, copied: bool = False
) -> MemoryEstimate:
    """Estimate the memory that a fit needs beyond its table.

    Parameters
    ----------
    settings : ReadingSettings
        The settings of the forest.
    n_samples, n_features : int
        Shape of the table; each level of a category is a feature.
    copied : bool, default=False
        Whether the table has missing cells or categories, so that it is copied as float64 and filled.

    Returns
    -------
    estimate : MemoryEstimate
    """
    limits, n_estimators, grown = settings.limits, settings.n_estimators, settings.grows
    threads = count_threads(settings.n_jobs)
    max_samples = settings.max_samples if settings.may_sample else None
    large = max_samples is not None and limits.is_large(n_samples)
    wide = is_wide(n_features) and not large and not grown

    # The rows of the sample, those that trees are made on, and the columns that they see.
    rows = min(n_samples, limits.sample_size(n_features, max_samples, settings.n_landmarks)) if large else n_samples
    made_on = rows if max_samples is None else min(rows, GAP_ROWS if max_samples == "auto" else int(max_samples))
    scaled_rows = rows if grown else max(made_on, min(rows, SCALED_ROWS))
    width = TYPICAL_VIEWS * n_features + (0 if grown else most_projected(n_estimators, n_features))

    # The table as numbers; the values of the sample and their ranks, in Python and in the core.
    copies = 8 * n_samples * n_features * (2 * copied or not (large or wide))
    kept = 8 * rows * n_features * (5 if large else 4)
    making = 16 * scaled_rows * width + 4 * rows * n_estimators + 24 * threads * made_on * TREE_COLUMNS
    search = _search(rows, n_features)
    if wide:  # of few informative columns; `fit` asks again when it knows how many these are
        kept, making, search = COLUMN_BYTES * n_features, 24 * rows * WIDE, _wide_search(rows, n_features, threads)

    # The graph, and to see which rows have equal labels.
    nodes = _nodes(n_samples, settings)
    equal = 18 * n_samples * n_estimators if settings.n_landmarks is None else 0
    row = 20 * width + 4 * n_estimators  # on its way through the trees
    return MemoryEstimate(
        input=copies + (48 * n_samples if large else 0) + kept,
        sample=max(search, making),
        passes=2 * limits.block_bytes + threads * PASS_ROWS * row if large else 0,
        partitions=(1 if large else 4) * n_samples * n_estimators,
        consensus=_graph(nodes, n_estimators, settings.consensus) + 8 * rows * n_estimators + equal,
        votes=8 * VOTING_ROWS * min(nodes, LIMITS.matrix_nodes) + 8 * n_samples,
    )


def check_fit_memory(settings: ReadingSettings, shape: tuple[int, ...], *, copied: bool = False) -> None:
    """Refuse a fit that would be killed half-way, and say which setting would fit."""
    n_samples, n_features = shape
    needed = estimate_memory(settings, n_samples, n_features, copied=copied).total
    free = shortage(needed)
    if free is None:
        return
    fits = "Take fewer rows or columns."
    for name, value in _smaller(n_samples, settings):
        lower = replace(settings, **{name: value})  # type: ignore[arg-type]
        if estimate_memory(lower, n_samples, n_features, copied=copied).total <= free:
            fits = f"{name}={value} would fit."
            break
    raise MemoryError(
        f"A fit of {n_samples} rows and {n_features} columns needs {format_bytes(needed)} beyond the table and "
        f"{format_bytes(free)} are left. {fits}"
    )


def _smaller(n_samples: int, settings: ReadingSettings) -> Iterator[tuple[str, int]]:
    """Propose lower settings, those first that cost least."""
    limits, trees = settings.limits, settings.n_estimators
    if _nodes(n_samples, settings) > LIMITS.landmarks:
        yield "n_landmarks", LIMITS.landmarks
    if limits.is_large(n_samples) and settings.clusterer is None and settings.max_samples != "auto":
        yield "max_samples", limits.sample_rows
    while trees > 10:
        trees = 10 * math.ceil(trees / 20)
        yield "n_estimators", trees


def _search(rows: int, n_features: int) -> int:
    """Estimate the search for features: rows, scaled and centred; then pairs of columns, or scores by cluster."""
    rows = min(rows, ROWS_OF_MANY if n_features > PAIRED else PAIRED_ROWS)
    paired = min(n_features, BUNDLE)
    pairs = 56 * rows * paired + 720 * paired**2  # 5 tables of 36 cells for each pair
    scores = 24 * min(rows, PROBED_ROWS) * n_features + 16 * min(SUMS_AT_ONCE, PROBE_CLUSTERS * n_features)
    return 32 * rows * n_features + max(pairs, scores)


def _wide_search(rows: int, n_features: int, threads: int) -> int:
    """Estimate the search of a wide table: blocks of columns, then half of all columns of some rows in each thread."""
    half = n_features // 2
    some = min(rows, axis_rows(half))
    axes = max(some * half, min(rows * half, ROW_CELLS)) + some * half + 4 * PROBE_COMPONENTS * half
    return 8 * max(COLUMN_BLOCKS * BLOCK_CELLS, threads * axes)


def _graph(nodes: int, n_estimators: int, consensus: str) -> int:
    """Estimate the graph: a matrix and what is done to it or, where possible, labels, match counts and some vectors."""
    if nodes <= LIMITS.matrix_nodes or not works_without_matrix(consensus):
        return 24 * nodes**2
    return nodes * (4 * n_estimators + 8 * EIGENSOLVER_VECTORS) + min(LIMITS.stored_bytes, nodes**2)


def _nodes(n_samples: int, settings: ReadingSettings) -> int:
    """Estimate the nodes: at most as many as rows, if their labels all differ."""
    n_landmarks = settings.n_landmarks
    if n_landmarks is None:
        return n_samples
    if isinstance(n_landmarks, (int, np.integer)):
        return min(n_samples, int(n_landmarks))
    if n_samples > LIMITS.collapsed:
        return LIMITS.landmarks
    return min(n_samples, LIMITS.exact_without_matrix if works_without_matrix(settings.consensus) else LIMITS.exact)
