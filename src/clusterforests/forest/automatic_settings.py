"""Automatic settings: one rule for each, from the shape of the table alone."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from clusterforests._base.random import Purpose, integers, stream
from clusterforests._base.typing import IndexArray, IntArray
from clusterforests.forest.growth import GrowthSettings
from clusterforests.tables.feature_columns import EncodedTable

LOOKED_AT = 512  # rows whose values are counted
ROWS_PER_CLUSTER = 8
MEASURED_ROWS = 5000  # up to so many the number of clusters in a tree was seen to grow with the root of the rows
ROUNDING = 1e-9  # a whole number of features must not become the next one by the last digit of a logarithm
RARE_ROWS = 16384  # up to so many where small groups are looked for


class Setting(NamedTuple):
    """A setting as it was used, and why."""

    value: Any
    reason: str


class Shape(NamedTuple):
    """What the rules know of a table."""

    n_rows: int  # distinct ones
    n_features: int
    bits: float  # mean over the features that vary: the logarithm, to base 2, of the number of their values


def shape_of(encoded: EncodedTable, rows: IndexArray) -> Shape:
    """Describe a table to the rules. `rows` are the distinct ones, in random order."""
    some = encoded.values[rows[:LOOKED_AT]]
    bits = [
        math.log2(len(np.unique(some[:, first])) if width == 1 else width)
        for first, width in zip(encoded.first, encoded.widths, strict=True)
    ]
    varying = [b for b in bits if b > 0]
    return Shape(len(rows), len(bits), math.fsum(varying) / len(varying) if varying else 0.0)


def most_clusters(shape: Shape, n_clusters: int) -> int:
    """Limit the clusters of a tree."""
    return max(n_clusters + 2, math.isqrt(min(shape.n_rows, MEASURED_ROWS)))


def base_clusters(shape: Shape, n_clusters: int, consensus: str) -> Setting:
    """Vary n_b from n_clusters to the root of n, or about the root of n where small groups are looked for in many rows.

    Only a tree with many clusters tells a small group from the large one beside it, and only "kway" can then keep it
    apart: it cuts into all parts at once, the others halve the largest.
    """
    if consensus == "kway" and shape.n_rows > MEASURED_ROWS:
        rows = min(shape.n_rows, RARE_ROWS)
        root = math.isqrt(rows)
        return Setting(
            (max(n_clusters, root // 2), max(n_clusters + 2, root)),
            f"varied from tree to tree up to the root of {rows} rows, not below half of it: small groups need trees "
            "with many clusters",
        )
    rows = min(shape.n_rows, MEASURED_ROWS)
    return Setting(
        (max(2, n_clusters), most_clusters(shape, n_clusters)),
        f"varied from tree to tree between n_clusters and the root of {rows} rows"
        + (", the most for which this was measured" if rows < shape.n_rows else ""),
    )


def features_per_draw(shape: Shape, most_clusters: int) -> Setting:
    """Take the root of p, or more where features have few values: clusters would be combinations of values."""
    root = max(2, round(math.sqrt(shape.n_features)))
    needed = math.ceil(math.log2(ROWS_PER_CLUSTER * most_clusters) / shape.bits - ROUNDING) if shape.bits else 0
    if root >= min(needed, shape.n_features):
        return Setting(root, f"the square root of {shape.n_features} features, at least 2")
    return Setting(
        min(needed, shape.n_features),
        f"features have few values: so many show {ROWS_PER_CLUSTER} different rows for each of {most_clusters} groups",
    )


def choose(given: Mapping[str, Any], shape: Shape, n_clusters: int) -> dict[str, Setting]:
    """Decide every setting that is "auto", without labels and without a search."""
    rules = {
        "scale": Setting("mixed", "the right scale is unknown: trees take z-scores, ranges and ranks in turn"),
        "features_per_draw": features_per_draw(shape, most_clusters(shape, n_clusters)),
        "n_candidates": Setting(1, "the first draw is taken: trees that differ are worth more than good ones"),
        "patience": Setting(1, "more trees are worth more than longer trials"),
        "repeat_features": Setting(False, "a feature counts once in a tree"),
        "quality": Setting("corrected", "kappa with the liking for few features taken out"),
        "base_clusters": base_clusters(shape, n_clusters, given["consensus"]),
        "n_init": Setting(1, "one start a tree: the forest averages over them"),
        "max_samples": Setting(512, "enough rows to tell features apart")
        if given["estimator"] is None
        else Setting(None, "the clusterer may need all rows"),
        "threshold": Setting("auto", "no share is cut off; rows that are never together have no link"),
        "consensus": Setting("medoid", "three cuts, of which the one that agrees best with the others is kept"),
    }
    chosen = {}
    for name, rule in rules.items():
        asked = given[name]
        if isinstance(asked, str) and asked == "auto":
            chosen[name] = rule
        else:
            chosen[name] = Setting(asked, "given")
    return chosen


def growth_settings(
    chosen: Mapping[str, Setting], given: Mapping[str, Any], n_drawable: int, n_distinct: int, seed: int
) -> GrowthSettings:
    """Turn the settings of a forest into those of its growth.

    `given` are the user's, `chosen` what became of those that may be "auto".
    """
    base_clusters, patience = chosen["base_clusters"].value, chosen["patience"].value
    if given["base_clusters"] not in (None, "auto") and n_distinct < np.min(base_clusters):
        raise ValueError(
            f"base_clusters={given['base_clusters']} is more than the number of distinct rows of X, {n_distinct}. "
            "Lower base_clusters."
        )
    sizes = clusters_of_trees(base_clusters, chosen["n_clusters"].value, given["n_estimators"], n_distinct, seed)
    return GrowthSettings(
        base_clusters=sizes,
        fewer_clusters=isinstance(base_clusters, tuple),
        features_per_draw=min(int(chosen["features_per_draw"].value), n_drawable),
        n_candidates=int(chosen["n_candidates"].value),
        patience=None if isinstance(patience, str) else int(patience),
        repeat_features=bool(chosen["repeat_features"].value),
        compete_always=given["compete"] == "always",
        quality=chosen["quality"].value,
        n_init=int(chosen["n_init"].value),
        max_iter=int(given["max_iter"]),
    )


def landmarks_used(asked: int | str | None, used: int | None) -> Setting:
    """Say how many landmarks were used, once the graph is cut."""
    if asked == used:
        return Setting(used, "given")
    if used is None:
        return Setting(None, "all different rows of labels are in the graph")
    return Setting(used, "too many rows to cut the graph of all: these stand for them")


def clusters_of_trees(base_clusters: Any, n_clusters: int, n_trees: int, n_distinct: int, seed: int) -> IntArray:
    """Choose n_b of each tree: one number for all, n_clusters for None, or a draw from a range."""
    if base_clusters is None:
        base_clusters = n_clusters
    if not isinstance(base_clusters, tuple):
        return np.full(n_trees, base_clusters, dtype=np.int32)
    low, high = base_clusters
    drawn: IntArray = low + integers(stream(seed, Purpose.BASE_CLUSTERS, np.arange(n_trees)), high - low + 1)
    return drawn.clip(max=n_distinct)
