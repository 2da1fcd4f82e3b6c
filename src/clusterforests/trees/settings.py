"""Settings that the forest chooses for itself: one rule for each, from the table alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from clusterforests._utils.arrays import IntArray
from clusterforests._utils.random import Purpose, integers, stream, uniform
from clusterforests._utils.validation import ascending, warn_caller
from clusterforests.table.checks import check_enough_rows
from clusterforests.trees.kinds import FEW_FEATURES, MEASURED_ROWS, cluster_range

# Distinct rows that trees are made on: enough to tell features apart.
MADE_ON = 512
# The same where gaps between clusters are looked for.
GAP_ROWS = 1024
# The most clusters that "auto" chooses.
MOST_CLUSTERS = 50


class Setting(NamedTuple):
    """A setting as it was used, and why.

    Attributes
    ----------
    value : object
        The value.
    reason : str
        "given" if the user gave it, otherwise why it was chosen.
    """

    value: Any
    reason: str


@dataclass(frozen=True)
class ForestSettings:
    """What the user sets of the trees: parameters of `ClusterForest`."""

    n_estimators: int
    trees: str
    select_features: bool
    scale: str
    n_base_clusters: Any
    consensus: str
    max_samples: int | str | None


def validate_n_clusters(n_clusters: Any, n_distinct: int, n_rows: int) -> tuple[Setting, list[int]]:
    """Check the number of clusters against the rows; or list the candidates, if it is to be chosen."""
    if isinstance(n_clusters, (int, np.integer)):
        check_enough_rows(n_rows, int(n_clusters))
        if n_clusters <= n_distinct:
            return Setting(int(n_clusters), "given"), []
        reason = f"X has {n_distinct} distinct rows, fewer than n_clusters={n_clusters}: each becomes a cluster."
        warn_caller(reason, ConvergenceWarning)
        return Setting(n_distinct, reason), []
    asked: Sequence[int] = range(1, MOST_CLUSTERS + 1) if isinstance(n_clusters, str) else n_clusters
    candidates = ascending(asked, n_distinct)
    if not candidates:
        raise ValueError(f"n_clusters={n_clusters!r}: X has only {n_distinct} distinct rows. Give lower numbers.")
    return Setting(candidates[0], "lowest candidate"), candidates


def check_n_base_clusters(given: Any, n_distinct: int) -> None:
    """Refuse more clusters in each tree than there are distinct rows."""
    if given not in (None, "auto") and n_distinct < np.min(given):
        raise ValueError(
            f"n_base_clusters={given} is more than the number of distinct rows of X, {n_distinct}. Lower "
            "n_base_clusters."
        )


def choose(given: ForestSettings, n_distinct: int, n_clusters: int) -> dict[str, Setting]:
    """Decide what depends on the number of distinct rows alone."""
    rows = min(n_distinct, MEASURED_ROWS)
    measured = ", the most for which this was measured" if rows < n_distinct else ""
    varied = f"varied from tree to tree, up to about the root of {rows} rows{measured}"
    return {
        "n_clusters": Setting(n_clusters, "given"),
        "trees": _given_or(given.trees, "varied", "each kind of tree sees clusters that another misses"),
        "select_features": Setting(given.select_features, "given"),
        "scale": _given_or(given.scale, "mixed", "the right scale is unknown: some trees take z-scores, some ranks"),
        "n_base_clusters": _given_or(given.n_base_clusters, cluster_range(n_clusters, n_distinct), varied),
    }


def choose_by_features(given: ForestSettings, trees: Setting, n_features: int) -> dict[str, Setting]:
    """Decide what depends on the number of features that trees may use."""
    if given.trees == given.n_base_clusters == "auto" and n_features <= FEW_FEATURES:
        trees = Setting("fine", f"{n_features} features may show gaps, which fine trees see")
    fine = trees.value == "fine"
    rows, reason = (GAP_ROWS, "enough rows to show gaps") if fine else (MADE_ON, "enough rows to tell features apart")
    return {
        "trees": trees,
        "max_samples": _given_or(given.max_samples, rows, reason),
        "consensus": _given_or(given.consensus, automatic_consensus(trees.value), "all clusters are cut at once"),
    }


def automatic_consensus(trees: str) -> str:
    """Name the cut that "auto" means for trees of a kind."""
    return "gaps-or-refined" if trees == "fine" else "refined"


def _given_or(given: Any, automatic: Any, reason: str) -> Setting:
    """Take what the user gave, or the automatic value if that is "auto"."""
    return Setting(automatic, reason) if isinstance(given, str) and given == "auto" else Setting(given, "given")


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
