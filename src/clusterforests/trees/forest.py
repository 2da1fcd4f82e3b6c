"""The forest: many clusterings of one table, grown or planned (Algorithm 3, lines 1 to 3)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from clusterforests._utils.arrays import BLOCK_CELLS, AnyArray, FloatArray, IndexArray, IntArray, KeyArray
from clusterforests._utils.random import Purpose, stream
from clusterforests.backends import Backend, Coordinates
from clusterforests.feature_screening import draw_preferences
from clusterforests.table.feature_columns import DistinctRows, FeatureColumns
from clusterforests.table.scaling import NO_PROJECTIONS, RowOrder, ScaledRows, Scaling
from clusterforests.trees.growth import GrowingTrees, GrowthProgress, GrowthSettings, finish, grow
from clusterforests.trees.kinds import NO_TREES, PlannedTrees, kinds_of_trees, plan_trees, run_kmeans, with_fine_trees
from clusterforests.trees.settings import Setting


@dataclass(frozen=True)
class Forest:
    """T partitions of n rows and how they came about."""

    numbers: IndexArray  # of the trees, ascending; trees that could not be grown are left out
    features: list[IntArray]
    columns: list[IntArray]  # of the scaled table
    centers: list[FloatArray]
    kappas: FloatArray
    partitions: IntArray  # (T, n)
    rounds: int
    coordinates: Coordinates  # of the centres
    kappa_path: FloatArray  # (T, rounds of growth)


class FittedTrees(NamedTuple):
    """What new rows need of the forest: the columns and centres of each tree, and what the centres' numbers mean."""

    columns: list[IntArray]
    centers: list[FloatArray]
    coordinates: Coordinates


def grow_forest(
    backend: Backend,
    table: FloatArray,
    views: FeatureColumns,
    settings: GrowthSettings,
    seed: int,
    *,
    weights: FloatArray | None = None,
    part: DistinctRows | None = None,
    progress: GrowthProgress | None = None,
    first: int = 0,
) -> Forest:
    """Grow the trees, then give every row its nearest centre in each.

    With a part of the rows, the trees grow on these; K-means on the features they arrive at is then run on all rows.
    `first` is the number of the first tree, if these are some of a larger forest.
    """
    # Algorithm 3, lines 1 and 2: grow T clustering vectors.
    if part is None:
        loaded = backend.load(table, weights)
        trees = grow(backend, views, settings, seed, progress, first)
    else:
        backend.load(np.ascontiguousarray(table[part.rows]), part.weights)
        grown = grow(backend, views, settings, seed, progress, first)
        loaded = backend.load(table, weights)
        trees = finish(backend, views, grown, settings, seed)
    columns = [views.columns(t, features) for t, features in zip(trees.numbers, trees.features, strict=True)]
    # Line 3: the partition of the rows by each vector. Of a table that was sampled these are the sample's; `label` of
    # rows/sampled.py labels the others. Rows of weight 0 take no part, but have a nearest centre.
    partitions = backend.assign(columns, trees.centers) if columns else np.empty((0, len(table)), dtype=np.int32)
    if columns and weights is not None and not weights.all():
        outside = weights == 0
        partitions[:, outside] = backend.assign(columns, trees.centers, np.ascontiguousarray(table[outside]))
    return _forest(trees, columns, partitions, loaded.coordinates)


def _forest(trees: GrowingTrees, columns: list[IntArray], partitions: IntArray, coordinates: Coordinates) -> Forest:
    return Forest(
        trees.numbers,
        trees.features,
        columns,
        # Without the labels that a clusterer's centres may carry.
        [np.array(c) for c in trees.centers],
        trees.kappas,
        partitions,
        trees.rounds,
        coordinates,
        np.column_stack(trees.path or [trees.kappas]),
    )


class TreePlan(Protocol):
    """Everything that the trees of a forest depend on, so that any of them can be made anywhere."""

    @property
    def n_trees(self) -> int: ...

    def make_trees(
        self, backend: Backend, progress: GrowthProgress | None = None, first: int = 0, last: int | None = None
    ) -> Forest:
        """Make the trees with the numbers first, ..., last - 1, and label the rows by them."""


@dataclass(frozen=True)
class GrowthPlan:
    """The plan of trees that grow by Algorithms 1 and 2."""

    values: AnyArray  # encoded rows, in the columns that the scaling takes
    weights: FloatArray | None
    scaling: Scaling
    settings: GrowthSettings
    seed: int
    part: DistinctRows | None

    @property
    def n_trees(self) -> int:
        return len(self.settings.n_base_clusters)

    def make_trees(
        self, backend: Backend, progress: GrowthProgress | None = None, first: int = 0, last: int | None = None
    ) -> Forest:
        return grow_forest(
            backend,
            self.scaling.apply(self.values, backend.threads),
            self.scaling.views,
            replace(self.settings, n_base_clusters=self.settings.n_base_clusters[first:last]),
            self.seed,
            weights=self.weights,
            part=self.part,
            progress=progress,
            first=first,
        )


@dataclass(frozen=True)
class KMeansPlan:
    """The plan of trees each of which is one K-means, on columns that are chosen before any is made."""

    values: AnyArray  # encoded rows, in the columns that the scaling takes
    weights: FloatArray | None
    scaling: Scaling
    n_base_clusters: IntArray  # of each tree
    fewer_clusters: bool  # where a tree sees too few distinct rows: lower its number of clusters
    seed: int
    part: DistinctRows | None
    trees: PlannedTrees = NO_TREES  # until `plan_trees`
    sources: IntArray | None = None  # the columns of the encoded table that `values` has; None: all
    keys: KeyArray | None = None  # of the rows that trees are made on, if they are ordered by more than these columns
    order: RowOrder | None = None  # of all rows of the table then

    @property
    def n_trees(self) -> int:
        return len(self.n_base_clusters)

    def plan_trees(self, distinct: DistinctRows, *, fine: bool) -> "KMeansPlan":
        """Choose the kind, the columns and the number of clusters of each tree, anew if they were chosen before."""
        rows, weights = distinct if self.part is None else self.part
        plain = replace(self.scaling, projections=NO_PROJECTIONS)
        kinds = kinds_of_trees(self.n_trees, fine=fine)
        clusters = self.n_base_clusters.clip(max=len(rows))
        clusters = with_fine_trees(clusters, kinds, len(distinct.rows), len(rows), self.seed)
        table = ScaledRows(plain, self.values, rows)
        trees, projections = plan_trees(table, weights, self.scaling.views, kinds, clusters, self.seed)
        return replace(self, scaling=plain.project(projections), n_base_clusters=clusters, trees=trees)

    def scale_rows(self, rows: IndexArray) -> FloatArray:
        """Scale some rows, in the columns that stand for all features."""
        return self.scaling.take(self.values[rows], self.trees.all_features)

    def make_trees(
        self, backend: Backend, progress: GrowthProgress | None = None, first: int = 0, last: int | None = None
    ) -> Forest:
        planned = self.trees.some(first, last)
        rows, weights = (slice(None), self.weights) if self.part is None else self.part
        own = planned
        if self.keys is None:
            # More trees have more projections, and keep the first: rows are ordered by the other columns.
            table = self.scaling.apply(np.ascontiguousarray(self.values[rows]), backend.threads)
            coordinates = backend.load(table, weights, table.shape[1] - len(self.scaling.projections)).coordinates
        else:
            used = np.unique(np.concatenate(planned.columns))
            table = self.scaling.take(self.values[rows], used, backend.threads)
            loaded = backend.load(np.ascontiguousarray(table), weights, keys=self.keys)
            coordinates = loaded.coordinates.spread(used, self.scaling.width)
            own = planned._replace(columns=_places(planned.columns, used))
        trees = run_kmeans(backend, own, self.seed, first, fewer_clusters=self.fewer_clusters)
        if progress is not None:
            progress(len(planned.features), 1)
        columns = [planned.columns[number - first] for number in trees.numbers]
        fitted = FittedTrees(columns, [np.array(c) for c in trees.centers], coordinates)
        return _forest(trees, columns, label_rows(backend, fitted, self.scaling, self.values), coordinates)

    def why_dropped(self) -> str:
        """Explain why a tree could not be made, and what helps."""
        clusters = 2 if self.fewer_clusters else int(self.n_base_clusters.max())
        return (
            f"n_base_clusters={clusters} is more than the distinct rows of the features they drew. Lower "
            "n_base_clusters (or n_clusters), or drop constant and nearly constant columns."
        )


def label_rows(backend: Backend, trees: FittedTrees, scaling: Scaling, values: AnyArray) -> IntArray:
    """Find the nearest centre of encoded rows in each tree: (T, n); line 3. They are scaled a block at a time."""
    labels = np.empty((len(trees.columns), len(values)), dtype=np.int32)
    if not trees.columns:
        return labels
    columns, coordinates = trees.columns, trees.coordinates
    # Scale no more than the trees see, where that is worth the trouble.
    if len(values) * scaling.width > BLOCK_CELLS:
        scaling, kept = scaling.part(np.unique(np.concatenate(columns)))
        exponent, origin, reach = coordinates
        columns, coordinates = _places(columns, kept), Coordinates(exponent[kept], origin[kept], reach[kept])
    for where in scaling.row_blocks(len(values)):
        table = scaling.apply(np.ascontiguousarray(values[where]), backend.threads)
        labels[:, where] = backend.assign(columns, trees.centers, table, coordinates)
    return labels


def _places(columns: Sequence[IntArray], used: IntArray) -> list[IntArray]:
    """Number the columns of trees by their places among those that are used."""
    return [np.searchsorted(used, own).astype(np.int32) for own in columns]


def join_forests(forests: Sequence[Forest]) -> Forest:
    """Join trees of one table that were grown in several places."""
    rounds = max(forest.kappa_path.shape[1] for forest in forests)
    paths = [
        np.pad(f.kappa_path, ((0, 0), (0, rounds - f.kappa_path.shape[1])), constant_values=np.nan) for f in forests
    ]
    return Forest(
        np.concatenate([forest.numbers for forest in forests]),
        [features for forest in forests for features in forest.features],
        [columns for forest in forests for columns in forest.columns],
        [centers for forest in forests for centers in forest.centers],
        np.concatenate([forest.kappas for forest in forests]),
        np.concatenate([forest.partitions for forest in forests]),
        max(forest.rounds for forest in forests),
        forests[0].coordinates,
        np.concatenate(paths),
    )


def n_estimators_setting(n_trees: int, forest: Forest, why_dropped: str) -> Setting:
    """Say how many of the trees were made, and why there are fewer than asked for. ValueError if there are none."""
    dropped = n_trees - len(forest.features)
    if dropped == n_trees:
        raise ValueError(f"No tree could be grown: {why_dropped}")
    if not dropped:
        return Setting(n_trees, "given")
    return Setting(n_trees - dropped, f"{dropped} of {n_trees} trees were left out: {why_dropped}")


def sample_rows(every: DistinctRows, count: int, seed: int, rare_groups: Sequence[IndexArray] = ()) -> DistinctRows:
    """Choose `count` of the distinct rows, by their values and the seed alone, not by their order.

    Rows of rare_groups are drawn sooner, so that there are some of each.
    """
    keys = stream(seed, Purpose.GROWTH_ROWS, np.arange(len(every.rows)))
    chosen = np.argsort(keys // draw_preferences(every, rare_groups), kind="stable")[:count]
    return DistinctRows(every.rows[chosen], every.weights[chosen])
