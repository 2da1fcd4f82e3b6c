"""Trees of several kinds, planned before any is made: each is one K-means on columns of the scaled table.

Each kind sees clusters that another misses. "whole" trees see all features, "ranks" and "whitened" ones random draws:
the former are not led by outliers, the latter see clusters that are long and thin. "fine" trees, of small clusters, see
gaps between clusters of any shape; they are for tables of few features, in which rows lie dense enough to show gaps.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from clusterforests._utils.arrays import FloatArray, IntArray, KeyArray
from clusterforests._utils.linear_algebra import axis_rows, principal_axes, whitened
from clusterforests._utils.random import Purpose, distinct_integers, integers, stream
from clusterforests.table.feature_columns import FeatureColumns
from clusterforests.table.scaling import Projections
from clusterforests.table.wide_scaling import ScaledRows

WHOLE, RANKS, WHITENED, FINE = "whole", "ranks", "whitened", "fine"
KINDS = (WHOLE, RANKS, WHITENED, WHOLE, RANKS, WHITENED, WHOLE, RANKS, WHITENED, WHOLE)  # in turn
KINDS_OF_FEW = (WHOLE, FINE, RANKS, WHITENED, FINE, WHOLE, RANKS, WHITENED, FINE, WHOLE)
FEW = 4  # features
WIDE = 20  # columns beyond which a tree sees their leading components
WHITE_WIDE = 15  # components of whitened draws
ROWS_PER_AXIS = 5
MOST_DRAWN = 100  # features of a draw
TREES_PER_DRAW = 3  # where draws are of many features, whose components take time
FINER = 2.5  # times the root of n: the most clusters of a fine tree
FINE_ROWS = 5  # for each of its clusters
FEWEST_ROWS = 8  # for each cluster of a tree that has more than the root of the rows
LEAST_RANGE = 17  # clusters up to which trees of fewer than 289 rows may have: enough for up to 15 clusters
MEASURED_ROWS = 5000  # up to so many the number of clusters in a tree was seen to grow with the root of the rows
THIN = 1e-3  # of the largest variance: axes with less are not whitened


class PlannedTrees(NamedTuple):
    """The features of each tree, the columns of the scaled table that stand for them, and the number of clusters."""

    features: list[IntArray]
    columns: list[IntArray]
    clusters: IntArray

    @property
    def whole(self) -> IntArray:
        """The columns that stand for all features: those of the first tree."""
        return self.columns[0]

    def some(self, first: int, last: int | None) -> "PlannedTrees":
        """Take the trees first, ..., last - 1."""
        return PlannedTrees(self.features[first:last], self.columns[first:last], self.clusters[first:last])


def kinds_of_trees(n_trees: int, *, fine: bool) -> list[str]:
    """List the kinds of so many trees."""
    kinds = KINDS_OF_FEW if fine else KINDS
    return [kinds[t % len(kinds)] for t in range(n_trees)]


def cluster_range(n_clusters: int, n_rows: int) -> tuple[int, int]:
    """Limit the clusters of trees that are not fine: up to the root of the rows, or enough for `n_clusters`.

    The limit doubles until it is enough, so that forests for many numbers of clusters are one forest.
    """
    most = max(math.isqrt(min(n_rows, MEASURED_ROWS)), min(n_rows // FEWEST_ROWS, LEAST_RANGE))
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
    planner = _Planner(table, weights, views, seed)
    per_draw = TREES_PER_DRAW if len(views.drawable) > WIDE else 1
    made = dict.fromkeys(kinds, 0)
    features, columns = [], []
    for kind in kinds:
        drawn, seen = planner.tree(kind, made[kind] // per_draw)
        made[kind] += 1
        features.append(drawn)
        columns.append(seen)
    return PlannedTrees(features, columns, clusters), planner.projections()


def most_projected(n_trees: int, n_columns: int) -> int:
    """Bound the number of projected columns. Of either kind of draw, each third is the same: all features."""
    draws = 1 + math.ceil(2 / 3 * math.ceil(n_trees / len(KINDS)))
    return min(WIDE, n_columns) * (draws if n_columns <= WIDE else 1 + 2 * draws)


class _Planner:
    """Draws features, and collects projections."""

    def __init__(self, table: ScaledRows, weights: FloatArray, views: FeatureColumns, seed: int) -> None:
        self.table, self.weights, self.views, self.seed = table, weights, views, seed
        self.sources: list[IntArray] = []
        self.coefficients: list[FloatArray] = []
        self.known: dict[tuple[str, bytes], IntArray] = {}

    def tree(self, kind: str, draw: int) -> tuple[IntArray, IntArray]:
        """Choose the features and the columns of a tree."""
        whole = kind in (WHOLE, FINE)
        kind = WHOLE if whole else kind
        features = self.views.drawable if whole else self._draw(kind, draw)
        key = kind, features.tobytes()
        if key not in self.known:
            self.known[key] = self._columns(kind, features)
        return features, self.known[key]

    def _draw(self, kind: str, draw: int) -> IntArray:
        """Draw all features, from their root to a half of them, or to twice the root, in turn."""
        drawable = self.views.drawable
        p = len(drawable)
        if draw % 3 == 0:
            return drawable
        root = math.sqrt(p)
        low, high = max(2, int(root)), max(3, p // 2 if draw % 3 == 1 else int(2 * root))
        key = stream(self.seed, Purpose.TREE_DRAWS, (RANKS, WHITENED).index(kind), draw)
        size = min(low + int(integers(stream(key, 0), max(1, high - low + 1))[0]), MOST_DRAWN, p)
        return np.sort(drawable[_distinct(stream(key, 1), p, size)])

    def _columns(self, kind: str, features: IntArray) -> IntArray:
        view = min(1, len(self.views) - 1) if kind == RANKS else 0
        columns = self.views.columns(view, features)
        few_rows = len(self.table) // ROWS_PER_AXIS
        if kind != WHITENED:
            return columns if len(columns) <= WIDE else self._project(columns, WIDE, white=False)
        return self._project(columns, WHITE_WIDE if len(columns) > min(WIDE, few_rows) else len(columns), white=True)

    def _project(self, columns: IntArray, most: int, *, white: bool) -> IntArray:
        """Add the leading axes of the columns to the projections."""
        rows = self.table.take(columns, axis_rows(len(columns)))
        axes = principal_axes(rows, self.weights, max(1, min(most, len(self.table) // ROWS_PER_AXIS)))
        coefficients = axes.coefficients
        if white:
            thick = axes.variances > THIN * axes.variances[0]
            coefficients = whitened(axes)[:, thick]
        first = self.table.width + len(self.sources)
        for column in coefficients.T:
            self.sources.append(columns)
            self.coefficients.append(column)
        return np.arange(first, first + coefficients.shape[1], dtype=np.int32)

    def projections(self) -> Projections:
        """Put all projections side by side."""
        starts = np.cumsum([0, *map(len, self.sources)], dtype=np.int64)
        empty: tuple[IntArray, FloatArray] = np.empty(0, np.int32), np.empty(0)
        return Projections(
            starts,
            np.concatenate([empty[0], *self.sources], dtype=np.int32),
            np.concatenate([empty[1], *self.coefficients]),
        )


def _distinct(key: KeyArray, upper: int, count: int) -> IntArray:
    drawn: IntArray = distinct_integers(key, upper, count, [np.empty(0, np.int32)])[0]
    return drawn
