"""Trees of several kinds, planned before any is made: each is one K-means on columns of the scaled table.

Each kind sees clusters that another misses. "whole" trees see all features, "ranks" and "whitened" ones random draws:
the former are not led by outliers, the latter see clusters that are long and thin. "fine" trees, of small clusters, see
gaps between clusters of any shape; they are for tables of few features, in which rows lie dense enough to show gaps.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from clusterforests._utils.arrays import FloatArray, IntArray
from clusterforests._utils.linear_algebra import axis_rows, principal_axes, whitened
from clusterforests._utils.random import Purpose, distinct_integers, integers, stream
from clusterforests.backends import Backend, Effort, KMeansJobs
from clusterforests.table.feature_columns import FeatureColumns
from clusterforests.table.scaling import Projections, ScaledRows
from clusterforests.trees.growth import GrowingTrees, fewer, kappa

# The kinds of trees, in turn; and those of tables of few features.
WHOLE, RANKS, WHITENED, FINE = "whole", "ranks", "whitened", "fine"
KINDS = (WHOLE, RANKS, WHITENED, WHOLE, RANKS, WHITENED, WHOLE, RANKS, WHITENED, WHOLE)
KINDS_OF_FEW = (WHOLE, FINE, RANKS, WHITENED, FINE, WHOLE, RANKS, WHITENED, FINE, WHOLE)
FEW_FEATURES = 4
# A tree of more columns than this sees so many of their leading components; a whitened draw, so many.
TREE_COMPONENTS, WHITENED_COMPONENTS = 20, 15
# Rows that an axis needs.
ROWS_PER_AXIS = 5
# Features of a draw, at most; and trees that share one, where draws are of many features, whose components take time.
MOST_DRAWN, TREES_PER_DRAW = 100, 3
# The most clusters of a fine tree, times the root of n; and the rows that each of its clusters needs.
FINER, FINE_ROWS = 2.5, 5
# Rows for each cluster of a tree that has more than the root of the rows.
ROWS_OF_SMALL_TABLES = 8
# Clusters that trees of fewer than 289 rows may have: enough to tell up to 15 clusters apart.
CLUSTERS_OF_SMALL_TABLES = 17
# Up to so many rows the number of clusters in a tree was seen to grow with the root of the rows.
MEASURED_ROWS = 5000
# Lloyd iterations of each K-means.
TREE_ITERATIONS = 200
# Of the largest variance: axes with less are not whitened.
THIN = 1e-3


class PlannedTrees(NamedTuple):
    """Of each tree the kind, the features, the columns of the scaled table that stand for them, and the clusters."""

    kinds: Sequence[str]
    features: list[IntArray]
    columns: list[IntArray]
    clusters: IntArray

    @property
    def all_features(self) -> IntArray:
        """The columns that stand for all features: those of a tree that sees all."""
        return self.columns[self.kinds.index(WHOLE)]

    def some(self, first: int, last: int | None) -> "PlannedTrees":
        """Take the trees first, ..., last - 1."""
        some = slice(first, last)
        return PlannedTrees(self.kinds[some], self.features[some], self.columns[some], self.clusters[some])


NO_TREES = PlannedTrees([], [], [], np.empty(0, dtype=np.int32))


def kinds_of_trees(n_trees: int, *, fine: bool) -> list[str]:
    """List the kinds of so many trees."""
    kinds = KINDS_OF_FEW if fine else KINDS
    return [kinds[t % len(kinds)] for t in range(n_trees)]


def cluster_range(n_clusters: int, n_rows: int) -> tuple[int, int]:
    """Limit the clusters of trees that are not fine: up to the root of the rows, or enough for `n_clusters`.

    The limit doubles until it is enough, so that forests for many numbers of clusters are one forest.
    """
    most = max(math.isqrt(min(n_rows, MEASURED_ROWS)), min(n_rows // ROWS_OF_SMALL_TABLES, CLUSTERS_OF_SMALL_TABLES))
    while most < n_clusters + 2:
        most = max(4, 2 * most)
    return 2, most


def with_fine_trees(clusters: IntArray, kinds: Sequence[str], n_rows: int, n_grown: int, seed: int) -> IntArray:
    """Give fine trees their numbers of clusters, from the root of the rows to a multiple of it.

    `n_rows` are the different rows of the table, `n_grown` those that trees are made on.
    """
    root = math.sqrt(min(n_rows, MEASURED_ROWS))
    finest = min(FINER * root, n_grown / FINE_ROWS)
    least = max(2, int(min(root, finest)))
    many = max(least + 2, int(finest)) - least + 1
    fine = least + integers(stream(seed, Purpose.TREE_CLUSTERS, np.arange(len(kinds))), many)
    return np.where(np.array(kinds) == FINE, fine.clip(max=n_grown), clusters).astype(np.int32)


def plan_trees(
    table: ScaledRows, weights: FloatArray, views: FeatureColumns, kinds: Sequence[str], clusters: IntArray, seed: int
) -> tuple[PlannedTrees, Projections]:
    """Plan the trees, and the projections that some of them see.

    Parameters
    ----------
    table : ScaledRows
        Rows of the scaled table, by which axes are found.
    weights : array of shape (n,)
        How often each counts.
    """
    sources: list[IntArray] = []
    coefficients: list[FloatArray] = []
    known: dict[tuple[str, bytes], IntArray] = {}
    per_draw = TREES_PER_DRAW if len(views.drawable) > TREE_COMPONENTS else 1
    made = dict.fromkeys(kinds, 0)
    features, columns = [], []
    for kind in kinds:
        # The features of the tree.
        whole = kind in (WHOLE, FINE)
        own = views.drawable if whole else _draw_features(kind, made[kind] // per_draw, views.drawable, seed)
        made[kind] += 1
        features.append(own)
        # The columns that stand for them: of the scaled table, or projections, which are made once.
        key = WHOLE if whole else kind, own.tobytes()
        if key not in known:
            seen = views.columns(min(1, len(views) - 1) if kind == RANKS else 0, own)
            axes = _axes(table, weights, seen, white=kind == WHITENED)
            if axes is not None:
                first = table.scaling.width + len(sources)
                sources += [seen] * axes.shape[1]
                coefficients += list(axes.T)
                seen = np.arange(first, first + axes.shape[1], dtype=np.int32)
            known[key] = seen
        columns.append(known[key])
    projections = Projections(
        np.cumsum([0, *map(len, sources)], dtype=np.int64),
        np.concatenate([np.empty(0, np.int32), *sources], dtype=np.int32),
        np.concatenate([np.empty(0), *coefficients]),
    )
    return PlannedTrees(kinds, features, columns, clusters), projections


def most_projected(n_trees: int, n_columns: int) -> int:
    """Bound the number of projected columns. Of either kind of draw, each third is the same: all features."""
    draws = 1 + math.ceil(2 / 3 * math.ceil(n_trees / len(KINDS)))
    return min(TREE_COMPONENTS, n_columns) * (draws if n_columns <= TREE_COMPONENTS else 1 + 2 * draws)


def _draw_features(kind: str, draw: int, drawable: IntArray, seed: int) -> IntArray:
    """Draw all features, from their root to a half of them, or to twice the root, in turn."""
    p = len(drawable)
    if draw % 3 == 0:
        return drawable
    root = math.sqrt(p)
    low, high = max(2, int(root)), max(3, p // 2 if draw % 3 == 1 else int(2 * root))
    key = stream(seed, Purpose.TREE_DRAWS, (RANKS, WHITENED).index(kind), draw)
    size = min(low + int(integers(stream(key, 0), max(1, high - low + 1))[0]), MOST_DRAWN, p)
    drawn = distinct_integers(stream(key, 1), p, size, [np.empty(0, np.int32)])[0]
    return np.sort(drawable[drawn])


def _axes(table: ScaledRows, weights: FloatArray, columns: IntArray, *, white: bool) -> FloatArray | None:
    """Find the axes that a tree sees instead of its columns: (columns, axes); None if it sees the columns."""
    most, enough_rows = TREE_COMPONENTS, len(table) // ROWS_PER_AXIS
    if white:
        most = WHITENED_COMPONENTS if len(columns) > min(TREE_COMPONENTS, enough_rows) else len(columns)
    elif len(columns) <= TREE_COMPONENTS:
        return None
    axes = principal_axes(table.take(columns, axis_rows(len(columns))), weights, max(1, min(most, enough_rows)))
    if not white:
        return axes.coefficients
    return whitened(axes)[:, axes.variances > THIN * axes.variances[0]]


def run_kmeans(
    backend: Backend, planned: PlannedTrees, seed: int, first: int = 0, *, fewer_clusters: bool
) -> GrowingTrees:
    """Run K-means once for each planned tree. One with too few different rows gets fewer clusters, or is left out."""
    trees = GrowingTrees.empty(first + np.arange(len(planned.features)), planned.clusters)
    trees.features = list(planned.features)
    waiting = np.arange(len(trees.features))
    while len(waiting):
        columns, clusters = [planned.columns[t] for t in waiting], trees.clusters[waiting]
        seeds = stream(seed, Purpose.TREE_KMEANS, trees.numbers[waiting])
        runs = backend.kmeans(KMeansJobs(columns, clusters, seeds, 1, TREE_ITERATIONS, Effort.QUICK))
        kappas = kappa(runs, "centroid")
        for i in np.flatnonzero(runs.solved).tolist():
            trees.centers[waiting[i]], trees.kappas[waiting[i]] = runs.centers[i], kappas[i]
        waiting = waiting[~runs.solved & fewer_clusters & (trees.clusters[waiting] > 2)]
        trees.clusters[waiting] = fewer(trees.clusters[waiting])
    return trees.solved()
