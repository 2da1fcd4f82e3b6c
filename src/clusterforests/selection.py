"""What to choose when the user does not: one rule for each setting, from the shape of the table alone."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from clusterforests.streams import integers, stream

IntArray = npt.NDArray[np.int32]

_BASE_CLUSTERS = 3  # what the stream of random numbers is for; the number is part of its key


class Choice(NamedTuple):
    """A setting as it was used, and why."""

    value: Any
    reason: str


def choose(given: Mapping[str, Any], n_rows: int, n_features: int, n_clusters: int) -> dict[str, Choice]:
    """Every setting that may be "auto", decided; no labels and no search are involved."""
    largest = max(n_clusters + 2, math.isqrt(n_rows))
    rules = {
        "scale": Choice("mixed", "the right scale is unknown: trees take z-scores, ranges and ranks in turn"),
        "features_per_draw": Choice(
            max(2, round(math.sqrt(n_features))), f"the square root of {n_features} features, at least 2"
        ),
        "n_candidates": Choice(1, "the first draw is taken: trees that differ are worth more than good ones"),
        "patience": Choice(1, "more trees are worth more than longer trials"),
        "repeat_features": Choice(False, "a feature counts once in a tree"),
        "quality": Choice("corrected", "kappa with the liking for few features taken out"),
        "base_clusters": Choice(
            (max(2, n_clusters), largest), f"varied from tree to tree between n_clusters and the root of {n_rows} rows"
        ),
        "n_init": Choice(1, "one start a tree: the forest averages over them"),
        "max_samples": Choice(512, "enough rows to tell features apart")
        if given["estimator"] is None
        else Choice(None, "the clusterer may need all rows"),
        "threshold": Choice("auto", "no share is cut off; rows that are never together have no link"),
        "consensus": Choice("medoid", "three cuts, of which the one that agrees best with the others is kept"),
    }
    chosen = {}
    for name, rule in rules.items():
        asked = given[name]
        if isinstance(asked, str) and asked == "auto":
            chosen[name] = rule
        else:
            chosen[name] = Choice(asked, "given")
    return chosen


def clusters_of_trees(base_clusters: Any, n_clusters: int, n_trees: int, n_distinct: int, seed: int) -> IntArray:
    """n_b of each tree: a number for all, None for n_clusters, or a range to draw from."""
    if base_clusters is None:
        base_clusters = n_clusters
    if not isinstance(base_clusters, tuple):
        return np.full(n_trees, base_clusters, dtype=np.int32)
    low, high = base_clusters
    drawn: IntArray = low + integers(stream(seed, _BASE_CLUSTERS, np.arange(n_trees)), high - low + 1)
    return drawn.clip(max=n_distinct)
