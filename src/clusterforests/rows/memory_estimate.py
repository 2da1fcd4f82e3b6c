"""Estimate the memory that a fit needs, before it starts."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from clusterforests._utils.arrays import BLOCK_CELLS, WIDE, is_wide
from clusterforests._utils.linear_algebra import axis_rows
from clusterforests._utils.memory import DEFAULT_LIMITS, SizeLimits, format_bytes, shortage
from clusterforests._utils.threads import count_threads
from clusterforests.consensus.affinity import LIMITS
from clusterforests.consensus.nodes import works_without_matrix
from clusterforests.feature_screening.dependence import BUNDLE
from clusterforests.feature_screening.out_of_bag_scores import SUMS_AT_ONCE
from clusterforests.feature_screening.probe_clusterings import PROBE_COMPONENTS, ROW_CELLS
from clusterforests.feature_screening.screening import PAIRED, PAIRED_ROWS, PROBED_ROWS, ROWS_OF_MANY
from clusterforests.table.scaling import SCALED_ROWS
from clusterforests.trees.kinds import most_projected
from clusterforests.trees.settings import GAP_ROWS, kind_of_growth

VECTORS = 64  # kept for a graph that is an operator
VOTING_ROWS = 4096  # compared with the landmarks at a time
PASS_ROWS = 512  # that a thread labels at a time
VIEWS = 2
TREE_COLUMNS = 16  # typical number of columns per tree
COLUMN_BYTES = 700  # of a wide table: steps, scores, and the rows that fill missing cells of others
BLOCKS = 12  # of columns that are at hand at a time
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
    n_samples: int,
    n_features: int,
    *,
    n_estimators: int = 200,
    max_samples: int | str | None = "auto",
    n_landmarks: int | str | None = "auto",
    consensus: str = "auto",
    threads: int = 1,
    copied: bool = False,
    wide_labels: bool = False,
    grown: bool = False,
    limits: SizeLimits = DEFAULT_LIMITS,
) -> MemoryEstimate:
    """Estimate the memory that a fit needs beyond its table.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of the table; each level of a category is a feature.
    n_estimators, max_samples, n_landmarks, consensus
        As in `ClusterForest`.
    threads : int, default=1
        Number of threads.
    copied : bool, default=False
        Whether the table has missing cells or categories, so that it is copied as float64 and filled.
    wide_labels : bool, default=False
        Whether trees have more than 128 clusters.
    grown : bool, default=False
        Whether trees grow, so that all rows of the sample are scaled at once.
    limits : SizeLimits
        What a large table is.

    Returns
    -------
    estimate : MemoryEstimate
    """
    large = max_samples is not None and limits.is_large(n_samples)
    rows = min(n_samples, limits.sample_size(n_features, max_samples, n_landmarks)) if large else n_samples
    made_on = rows if max_samples is None else min(rows, GAP_ROWS if max_samples == "auto" else int(max_samples))
    scaled_rows = rows if grown else max(made_on, min(rows, SCALED_ROWS))
    width = VIEWS * n_features + (0 if grown else most_projected(n_estimators, n_features))
    nodes = _nodes(n_samples, n_landmarks, consensus)
    label = (2 if wide_labels else 1) if large else 4
    wide = is_wide(n_features) and not large and not grown
    everything = 18 * n_samples * n_estimators if n_landmarks is None else 0  # to see which rows have equal labels
    row = 20 * width + 4 * n_estimators  # on its way through the trees
    copies = 8 * n_samples * n_features * (2 * copied or not (large or wide))
    kept = 8 * rows * n_features * (5 if large else 4)  # values and their ranks, in Python and in the core
    making = 16 * scaled_rows * width + 4 * rows * n_estimators + 24 * threads * made_on * TREE_COLUMNS
    search = _search(rows, n_features)
    if wide:  # of few columns that tell; `fit` asks again when it knows how many these are
        kept, making, search = COLUMN_BYTES * n_features, 24 * rows * WIDE, _wide_search(rows, n_features, threads)
    return MemoryEstimate(
        input=copies + (48 * n_samples if large else 0) + kept,
        sample=max(search, making),
        passes=2 * limits.block_bytes + threads * PASS_ROWS * row if large else 0,
        partitions=label * n_samples * n_estimators,
        consensus=_graph(nodes, n_estimators, consensus) + 8 * rows * n_estimators + everything,
        votes=8 * VOTING_ROWS * min(nodes, LIMITS.matrix_nodes) + 8 * n_samples,
    )


def memory_settings(forest: Any) -> dict[str, Any]:
    """Collect the settings of a forest that decide how much memory it needs."""
    settings = {name: getattr(forest, name) for name in ("n_estimators", "max_samples", "n_landmarks", "consensus")}
    settings["grown"] = kind_of_growth(vars(forest)).value == "grown"
    return settings if forest.estimator is None else settings | {"max_samples": None}


def check_fit_memory(forest: Any, shape: tuple[int, ...], **known: Any) -> None:
    """Refuse a fit that would be killed half-way, and say which setting would fit.

    `known` are arguments of `estimate_memory` beside the settings of the forest.
    """
    (n_samples, n_features), settings = shape, memory_settings(forest)
    known |= {"limits": forest._limits, "threads": count_threads(forest.n_jobs)}
    needed = estimate_memory(n_samples, n_features, **settings, **known).total
    free = shortage(needed)
    if free is None:
        return
    raise MemoryError(
        f"A fit of {n_samples} rows and {n_features} columns needs {format_bytes(needed)} beyond the table and "
        f"{format_bytes(free)} are left. {_advice(n_samples, n_features, settings, known, free)}"
    )


def _advice(n_samples: int, n_features: int, settings: dict[str, Any], known: dict[str, Any], free: int) -> str:
    for name, value in _smaller(n_samples, settings, known["limits"]):
        if estimate_memory(n_samples, n_features, **{**settings, name: value}, **known).total <= free:
            return f"{name}={value} would fit."
    return "Take fewer rows or columns."


def _smaller(n_samples: int, settings: dict[str, Any], limits: SizeLimits) -> Iterator[tuple[str, int]]:
    """Propose lower settings, those first that cost least."""
    if _nodes(n_samples, settings["n_landmarks"], settings["consensus"]) > LIMITS.landmarks:
        yield "n_landmarks", LIMITS.landmarks
    if limits.is_large(n_samples) and (settings["max_samples"] is None or settings["max_samples"] != "auto"):
        yield "max_samples", limits.sample_rows
    trees = settings["n_estimators"]
    while trees > 10:
        trees = 10 * math.ceil(trees / 20)
        yield "n_estimators", trees
        if trees == 10:
            return


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
    return 8 * max(BLOCKS * BLOCK_CELLS, threads * axes)


def _graph(nodes: int, n_estimators: int, consensus: str) -> int:
    """Estimate the graph: a matrix and what is done to it or, where possible, labels, match counts and some vectors."""
    if nodes <= LIMITS.matrix_nodes or not works_without_matrix(consensus):
        return 24 * nodes**2
    return nodes * (4 * n_estimators + 8 * VECTORS) + min(LIMITS.stored_bytes, nodes**2)


def _nodes(n_samples: int, n_landmarks: int | str | None, consensus: str) -> int:
    """Estimate the nodes: at most as many as rows, if their labels all differ."""
    if n_landmarks is None:
        return n_samples
    if isinstance(n_landmarks, (int, np.integer)):
        return min(n_samples, int(n_landmarks))
    if n_samples > LIMITS.collapsed:
        return LIMITS.landmarks
    return min(n_samples, LIMITS.exact_without_matrix if works_without_matrix(consensus) else LIMITS.exact)
