"""Choose the rows by which numbers of clusters are judged, and make forests of two halves of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from clusterforests._base.random import Purpose, stream
from clusterforests._base.typing import AnyArray, AnyIntArray, FloatArray, IndexArray, IntArray, KeyArray
from clusterforests.backends import Backend
from clusterforests.combining.affinity import Signatures
from clusterforests.combining.landmarks import pick_landmarks
from clusterforests.forest.forest import FittedTrees, GrowthPlan, label_rows
from clusterforests.n_clusters.measures import JudgedRows
from clusterforests.signal.components import principal_axes
from clusterforests.tables.distinct_rows import DistinctRows

MAX_ROWS = 800
NEW_TREES = 60
HALVINGS = 3
COMPONENTS = 20


class PickedRows(NamedTuple):
    """Rows that stand for all, by which rare groups are represented."""

    rows: IndexArray
    weights: FloatArray  # how many rows each stands for
    distinct: IndexArray  # all different rows
    nearest: IndexArray  # the place in `rows` of the one that stands for each of them

    def nearest_to(self, rows: IndexArray) -> IndexArray:
        """Find the places of the rows that stand for the given ones."""
        order = np.argsort(self.distinct, kind="stable")
        return self.nearest[order[np.searchsorted(self.distinct, rows, sorter=order)]]


def pick_rows(backend: Backend, labels: AnyIntArray, distinct: DistinctRows, seed: int) -> PickedRows:
    """Pick the rows to judge by: all different ones, if they are few. `labels` (T, n) are those in the trees."""
    rows, weights = distinct
    if len(rows) <= MAX_ROWS:
        return PickedRows(rows, weights, rows, np.arange(len(rows)))
    signatures = Signatures(np.ascontiguousarray(labels[:, rows], dtype=np.int32), np.arange(len(rows)), weights)
    picked = pick_landmarks(backend, signatures, MAX_ROWS, seed)
    return PickedRows(rows[picked.chosen], picked.weights, rows, picked.nearest)


def judge_rows(
    backend: Backend, plan: GrowthPlan, labels: AnyIntArray, picked: PickedRows, *, fine: bool, seed: int
) -> JudgedRows:
    """Label the picked rows by trees of other rows.

    `labels` (T, n) are those of the plan's rows in the trees of the forest.
    """
    rows, weights = picked.rows, picked.weights
    values = np.ascontiguousarray(plan.values[rows])
    halves = [_halves(len(rows), number, seed) for number in range(HALVINGS)]
    keys = _keys_of(plan, picked, [half for pair in halves for half in pair], backend.threads)
    new = [
        _trees_of_halves(backend, plan, values, weights, pair, keys[2 * i : 2 * i + 2], i, fine=fine, seed=seed)
        for i, pair in enumerate(halves)
    ]
    places = _places(plan, values, weights)
    return JudgedRows(places, weights, np.ascontiguousarray(labels[:, rows], dtype=np.int32), new)


def _places(plan: GrowthPlan, values: AnyArray, weights: FloatArray) -> FloatArray:
    """Scale the rows as the first view does, in the features that trees use, or their principal components."""
    views = plan.scaling.views
    places = plan.scaling.apply(values)[:, views.columns(0, views.drawable)]
    if places.shape[1] <= COMPONENTS:
        return np.ascontiguousarray(places)
    return np.ascontiguousarray(places @ principal_axes(places, weights, COMPONENTS).coefficients)


def _halves(n_rows: int, number: int, seed: int) -> list[IndexArray]:
    """Draw two halves of the rows."""
    order = np.argsort(stream(seed, Purpose.K_ROWS, number, np.arange(n_rows)), kind="stable")
    return [np.sort(half) for half in np.array_split(order, 2)]


def _keys_of(plan: GrowthPlan, picked: PickedRows, halves: list[IndexArray], threads: int) -> Sequence[KeyArray | None]:
    """Compute what the rows of each half are ordered by, if that is more than the columns of the plan."""
    if plan.keyed_by is None:
        return [None] * len(halves)
    return plan.keyed_by.of([(picked.rows[half], picked.weights[half]) for half in halves], threads)


def _trees_of_halves(
    backend: Backend,
    plan: GrowthPlan,
    values: AnyArray,
    weights: FloatArray,
    halves: list[IndexArray],
    keys: Sequence[KeyArray | None],
    number: int,
    *,
    fine: bool,
    seed: int,
) -> tuple[IntArray, IntArray]:
    """Make trees of each half of the rows, and label all rows by them."""
    seeds = stream(seed, Purpose.K_TREES, number, np.arange(2))
    first, second = (
        _trees_of(backend, plan, values, weights, half, own_keys, fine, int(own))
        for half, own_keys, own in zip(halves, keys, seeds, strict=True)
    )
    return first, second


def _trees_of(
    backend: Backend,
    plan: GrowthPlan,
    values: AnyArray,
    weights: FloatArray,
    half: IndexArray,
    keys: KeyArray | None,
    fine: bool,
    seed: int,
) -> IntArray:
    own = DistinctRows(np.arange(len(half)), weights[half])
    settings = replace(plan.settings, base_clusters=plan.settings.base_clusters[:NEW_TREES].clip(max=len(half)))
    part = replace(
        plan,
        values=np.ascontiguousarray(values[half]),
        weights=own.weights,
        settings=settings,
        seed=seed,
        part=None,
        keys=keys,
    )
    if plan.varied is not None:
        part = part.vary(own, fine=fine)
    forest = part.grow(backend)
    trees = FittedTrees(forest.columns, forest.centers, forest.coordinates)
    return label_rows(backend, trees, part.scaling, values)
