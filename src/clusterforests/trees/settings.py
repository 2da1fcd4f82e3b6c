"""Automatic settings: one rule for each, from the shape of the table alone."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from clusterforests._utils.arrays import IndexArray, IntArray, column_blocks, count_values
from clusterforests._utils.random import Purpose, integers, stream, uniform
from clusterforests.table.feature_columns import EncodedTable
from clusterforests.trees.growth import GrowthSettings
from clusterforests.trees.kinds import FEW_FEATURES, MEASURED_ROWS, cluster_range

OF_GROWTH: tuple[str, ...] = ("features_per_draw", "n_candidates", "patience", "repeat_features", "quality")
NO_GROWTH: dict[str, Any] = {
    "features_per_draw": 1,
    "n_candidates": 1,
    "patience": 1,
    "repeat_features": False,
    "quality": "centroid",
}
# Rows that trees are made on where gaps are looked for.
GAP_ROWS = 1024
# Rows whose values are counted.
LOOKED_AT = 512
# Different rows that a draw of features should show for each cluster of a tree.
ROWS_PER_CLUSTER = 8
# A whole number of features must not become the next one by the last digit of a logarithm.
ROUNDING = 1e-9


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
    some, values = rows[:LOOKED_AT], encoded.values
    blocks = column_blocks(len(some), values.shape[1])
    counts = np.concatenate([count_values(values[:, block][some]) for block in blocks])
    bits = [math.log2(n) for n in np.where(encoded.widths == 1, counts[encoded.first], encoded.widths).tolist()]
    varying = [b for b in bits if b > 0]
    return Shape(len(rows), len(bits), math.fsum(varying) / len(varying) if varying else 0.0)


def n_base_clusters(shape: Shape, n_clusters: int) -> Setting:
    """Vary n_b from 2 to the root of n; the number of clusters only raises that limit if it is too low."""
    rows = min(shape.n_rows, MEASURED_ROWS)
    return Setting(
        cluster_range(n_clusters, shape.n_rows),
        f"varied from tree to tree, up to about the root of {rows} rows"
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


def kind_of_growth(given: Mapping[str, Any]) -> Setting:
    """Make trees of several kinds, unless something is set that only trees grown by Algorithm 1 have."""
    set_by_user = [name for name in OF_GROWTH if given[name] != "auto"]
    if given["compete"] != "start":
        set_by_user.append("compete")
    if given["estimator"] is not None:
        set_by_user.append("estimator")
    if given["trees"] in ("varied", "fine") and set_by_user:
        name = set_by_user[0]
        raise ValueError(
            f"{name}={given[name]!r} is for trees that grow, but trees={given['trees']!r}: set trees='grown', or leave "
            f"{name} at its default."
        )
    if given["trees"] != "auto":
        return Setting(given["trees"], "given")
    if set_by_user:
        return Setting("grown", f"{set_by_user[0]} was given, which is for trees that grow")
    return Setting("varied", "each kind of tree sees clusters that another misses")


def choose(given: Mapping[str, Any], shape: Shape, n_clusters: int) -> dict[str, Setting]:
    """Decide every setting that is "auto" and depends on the shape of the table alone."""
    growth = kind_of_growth(given)
    rules = {
        "trees": growth,
        "select_features": Setting(True, "features that tell nothing hide the clusters of the others"),
        "scale": Setting("mixed", "the right scale is unknown: some trees take z-scores, some ranks"),
        "features_per_draw": features_per_draw(shape, cluster_range(n_clusters, shape.n_rows)[1]),
        "n_candidates": Setting(1, "the first draw is taken: trees that differ are worth more than good ones"),
        "patience": Setting(1, "more trees are worth more than longer trials"),
        "repeat_features": Setting(False, "a feature counts once in a tree"),
        "quality": Setting("corrected", "kappa with the liking for few features taken out"),
        "n_base_clusters": n_base_clusters(shape, n_clusters),
        "n_init": Setting(1, "one start a tree: the forest averages over them"),
        "affinity_threshold": Setting("auto", "no share is cut off; rows that are never together have no link"),
    }
    if growth.value != "grown":
        rules |= dict.fromkeys(OF_GROWTH, Setting(None, "trees do not grow: see trees"))
    return {name: _asked(given, name, rule) for name, rule in rules.items()}


def choose_by_features(given: Mapping[str, Any], trees: Setting, n_features: int) -> dict[str, Setting]:
    """Decide what depends on the number of features that trees may use."""
    if given["trees"] == given["n_base_clusters"] == "auto" and trees.value == "varied" and n_features <= FEW_FEATURES:
        trees = Setting("fine", f"{n_features} features may show gaps, which fine trees see")
    fine = trees.value == "fine"
    rows = Setting(GAP_ROWS, "enough rows to show gaps") if fine else Setting(512, "enough rows to tell features apart")
    rules = {
        "max_samples": rows if given["estimator"] is None else Setting(None, "the clusterer may need all rows"),
        "consensus": Setting(automatic_consensus(trees.value), "all clusters are cut at once"),
    }
    return {"trees": trees} | {name: _asked(given, name, rule) for name, rule in rules.items()}


def automatic_consensus(trees: str) -> str:
    """Name the cut that "auto" means for trees of a kind."""
    return {"varied": "refined", "fine": "gaps-or-refined"}.get(trees, "kway")


def _asked(given: Mapping[str, Any], name: str, rule: Setting) -> Setting:
    """Take what the user gave, or the rule if that is "auto"."""
    asked = given[name]
    return rule if isinstance(asked, str) and asked == "auto" else Setting(asked, "given")


def growth_settings(
    chosen: Mapping[str, Setting], given: Mapping[str, Any], n_drawable: int, n_distinct: int, seed: int
) -> GrowthSettings:
    """Turn the settings of a forest into those of its growth.

    `given` are the user's, `chosen` what became of those that may be "auto".
    """
    n_base_clusters = chosen["n_base_clusters"].value
    if given["n_base_clusters"] not in (None, "auto") and n_distinct < np.min(n_base_clusters):
        raise ValueError(
            f"n_base_clusters={given['n_base_clusters']} is more than the number of distinct rows of X, {n_distinct}. "
            "Lower n_base_clusters."
        )
    growing = chosen["trees"].value == "grown"
    n_clusters, n_trees = chosen["n_clusters"].value, given["n_estimators"]
    sizes = clusters_of_trees(n_base_clusters, n_clusters, n_trees, n_distinct, seed, even=growing)
    rules = {name: chosen[name].value for name in OF_GROWTH} if growing else NO_GROWTH
    return GrowthSettings(
        n_base_clusters=sizes,
        fewer_clusters=isinstance(n_base_clusters, tuple),
        features_per_draw=min(int(rules["features_per_draw"]), n_drawable),
        n_candidates=int(rules["n_candidates"]),
        patience=None if rules["patience"] == "all" else int(rules["patience"]),
        repeat_features=bool(rules["repeat_features"]),
        compete_always=given["compete"] == "always",
        quality=rules["quality"],
        n_init=int(chosen["n_init"].value),
        max_iter=int(given["max_iter"]),
        grows=growing,
    )


def landmarks_used(asked: int | str | None, used: int | None) -> Setting:
    """Say how many landmarks were used, once the graph is cut."""
    if asked == used:
        return Setting(used, "given")
    if used is None:
        return Setting(None, "all different rows of labels are in the graph")
    return Setting(used, "too many rows to cut the graph of all: these stand for them")


def clusters_of_trees(
    n_base_clusters: Any, n_clusters: int, n_trees: int, n_distinct: int, seed: int, *, even: bool
) -> IntArray:
    """Choose n_b of each tree: one number for all, n_clusters for None, or a draw from a range.

    Draws are even or, the larger the number, the likelier: only trees of many clusters tell small groups apart.
    """
    if n_base_clusters is None:
        n_base_clusters = n_clusters
    if not isinstance(n_base_clusters, tuple):
        return np.full(n_trees, n_base_clusters, dtype=np.int32)
    low, high = n_base_clusters
    keys = stream(seed, Purpose.BASE_CLUSTERS, np.arange(n_trees))
    if even:
        drawn: IntArray = low + integers(keys, high - low + 1)
    else:
        squares = (low - 0.5) ** 2 + uniform(keys) * ((high + 0.5) ** 2 - (low - 0.5) ** 2)
        drawn = np.rint(np.sqrt(squares)).clip(low, high).astype(np.int32)
    return drawn.clip(max=n_distinct)
