"""The forest: many grown clusterings of one table (Algorithm 3, lines 1 to 3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from clusterforests._utils.arrays import WIDE, AnyArray, FloatArray, IndexArray, IntArray, KeyArray, is_wide
from clusterforests._utils.random import Purpose, stream
from clusterforests.backends import Backend, Coordinates
from clusterforests.feature_screening import draw_preferences
from clusterforests.table.feature_columns import DistinctRows, FeatureColumns
from clusterforests.table.scaling import NO_PROJECTIONS, Scaling
from clusterforests.table.wide_scaling import ScaledRows, TableKeys, scaled_columns
from clusterforests.trees.growth import GrowthProgress, GrowthSettings, finish, grow, make_trees, why_dropped
from clusterforests.trees.kinds import PlannedTrees, kinds_of_trees, plan_trees, with_fine_trees
from clusterforests.trees.settings import Setting

SCALED_ROWS = 8192  # scaled at a time, because scaled rows can be much wider,
SCALED_CELLS = 2**25  # or so many cells of them


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
    if part is None:
        loaded = backend.load(table, weights)
        trees = grow(backend, views, settings, seed, progress, first)  # lines 1, 2
    else:
        backend.load(np.ascontiguousarray(table[part.rows]), part.weights)
        grown = grow(backend, views, settings, seed, progress, first)
        loaded = backend.load(table, weights)
        trees = finish(backend, views, grown, settings, seed)
    columns = [views.columns(t, features) for t, features in zip(trees.numbers, trees.features, strict=True)]
    # Line 3. The n x n indicator matrix of line 4 is never formed: `combining` counts matches of labels instead.
    partitions = backend.assign(columns, trees.centers) if columns else np.empty((0, len(table)), dtype=np.int32)
    if columns and weights is not None and not weights.all():
        outside = weights == 0  # takes no part, but has a nearest centre
        partitions[:, outside] = backend.assign(columns, trees.centers, np.ascontiguousarray(table[outside]))
    centers = [np.array(c) for c in trees.centers]  # without the labels that a clusterer's may carry
    return Forest(
        trees.numbers,
        trees.features,
        columns,
        centers,
        trees.kappas,
        partitions,
        trees.rounds,
        loaded.coordinates,
        np.column_stack(trees.path),
    )


@dataclass(frozen=True)
class GrowthPlan:
    """Everything that the growth of a forest depends on, so that any of its trees can be grown anywhere."""

    values: AnyArray  # encoded rows, in the columns that the scaling takes
    weights: FloatArray | None
    scaling: Scaling
    settings: GrowthSettings
    seed: int
    part: DistinctRows | None
    varied: PlannedTrees | None = None  # None: trees grow by Algorithms 1 and 2
    sources: IntArray | None = None  # the columns of the encoded table that `values` has; None: all
    keys: KeyArray | None = None  # of the rows that trees are made on, if they are ordered by more than these columns
    keyed_by: TableKeys | None = None  # what other rows of the table are ordered by then

    def vary(self, distinct: DistinctRows, *, fine: bool) -> "GrowthPlan":
        """Plan trees of several kinds in place of growth, or of those that were planned before."""
        rows, weights = distinct if self.part is None else self.part
        plain = replace(self.scaling, projections=NO_PROJECTIONS)
        table = ScaledRows.of(plain, self.values, rows)
        kinds = kinds_of_trees(len(self.settings.n_base_clusters), fine=fine)
        clusters = self.settings.n_base_clusters.clip(max=len(rows))
        clusters = with_fine_trees(clusters, kinds, len(distinct.rows), len(rows), self.seed)
        trees, projections = plan_trees(table, weights, self.scaling.views, kinds, clusters, self.seed)
        settings = replace(self.settings, n_base_clusters=clusters)
        return replace(self, scaling=plain.project(projections), settings=settings, varied=trees)

    def whole_rows(self, rows: IndexArray) -> FloatArray:
        """Scale some rows, as trees that see all features see them; only for trees of several kinds."""
        assert self.varied is not None
        seen = np.empty((len(rows), len(self.varied.whole)))
        for where in row_blocks(len(rows), self.scaling):
            seen[where] = scaled_columns(self.scaling, self.values[rows[where]], self.varied.whole)
        return seen

    def grow(
        self, backend: Backend, progress: GrowthProgress | None = None, first: int = 0, last: int | None = None
    ) -> Forest:
        """Grow the trees with the numbers first, ..., last - 1."""
        if self.varied is not None:
            return self._make(backend, self.varied.some(first, last), progress, first)
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

    def _make(self, backend: Backend, planned: PlannedTrees, progress: GrowthProgress | None, first: int) -> Forest:
        """Make planned trees, then give every row its nearest centre in each."""
        rows, weights = (slice(None), self.weights) if self.part is None else self.part
        if self.keys is None:
            table = self.scaling.apply(np.ascontiguousarray(self.values[rows]), backend.threads)
            keyed = table.shape[1] - len(self.scaling.projections)  # more trees have more of them, and keep the first
            coordinates = backend.load(table, weights, keyed).coordinates
            trees = make_trees(backend, planned, self.settings, self.seed, first)
        else:
            used = _used(planned.columns)
            table = scaled_columns(self.scaling, self.values[rows], used, backend.threads)
            loaded = backend.load(np.ascontiguousarray(table), weights, keys=self.keys)
            coordinates = loaded.coordinates.spread(used, self.scaling.width)
            own = planned._replace(columns=_places(planned.columns, used))
            trees = make_trees(backend, own, self.settings, self.seed, first)
        if progress is not None:
            progress(len(planned.features), 1)
        columns = [planned.columns[number - first] for number in trees.numbers]
        fitted = FittedTrees(columns, [np.array(c) for c in trees.centers], coordinates)
        partitions = label_rows(backend, fitted, self.scaling, self.values)
        path = trees.kappas[:, None]
        return Forest(
            trees.numbers, trees.features, columns, fitted.centers, trees.kappas, partitions, 1, coordinates, path
        )


def label_rows(backend: Backend, trees: FittedTrees, scaling: Scaling, values: AnyArray) -> IntArray:
    """Find the nearest centre of encoded rows in each tree: (T, n). They are scaled a block at a time."""
    labels = np.empty((len(trees.columns), len(values)), dtype=np.int32)
    if not trees.columns:
        return labels
    wide = is_wide(scaling.exponent.shape[1])
    used, columns, coordinates = _used(trees.columns), trees.columns, trees.coordinates
    if wide:
        exponent, origin, reach = coordinates
        columns, coordinates = _places(columns, used), Coordinates(exponent[used], origin[used], reach[used])
    for where in row_blocks(len(values), scaling):
        if wide:
            table = np.ascontiguousarray(scaled_columns(scaling, values[where], used, backend.threads))
        else:
            table = scaling.apply(np.ascontiguousarray(values[where]), backend.threads)
        labels[:, where] = backend.assign(columns, trees.centers, table, coordinates)
    return labels


def _used(columns: Sequence[IntArray]) -> IntArray:
    """List the columns that trees have, ascending."""
    return np.unique(np.concatenate(columns))


def _places(columns: Sequence[IntArray], used: IntArray) -> list[IntArray]:
    """Number the columns of trees by their places among those that are used."""
    return [np.searchsorted(used, own).astype(np.int32) for own in columns]


def row_blocks(n_rows: int, scaling: Scaling) -> Iterator[slice]:
    """Go through rows in blocks that are scaled at a time."""
    at_once = scaling.width if not is_wide(scaling.exponent.shape[1]) else WIDE  # the core sees no more columns
    step = min(SCALED_ROWS, max(1, SCALED_CELLS // max(1, at_once)))
    for start in range(0, n_rows, step):
        yield slice(start, start + step)


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


def trees_grown(forest: Forest, settings: GrowthSettings) -> Setting:
    """Count the trees, and say why there are fewer than asked for. ValueError if there are none."""
    n_trees, dropped = len(settings.n_base_clusters), len(settings.n_base_clusters) - len(forest.features)
    if dropped == n_trees:
        raise ValueError(f"No tree could be grown: {why_dropped(settings)}")
    if not dropped:
        return Setting(n_trees, "given")
    return Setting(n_trees - dropped, f"{dropped} of {n_trees} trees were left out: {why_dropped(settings)}")


def sample_rows(every: DistinctRows, count: int, seed: int, rare_groups: Sequence[IndexArray] = ()) -> DistinctRows:
    """Choose `count` of the distinct rows, by their values and the seed alone, not by their order.

    Rows of rare_groups are drawn sooner, so that there are some of each.
    """
    keys = stream(seed, Purpose.GROWTH_ROWS, np.arange(len(every.rows)))
    chosen = np.argsort(keys // draw_preferences(every, rare_groups), kind="stable")[:count]
    return DistinctRows(every.rows[chosen], every.weights[chosen])
