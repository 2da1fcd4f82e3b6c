"""Choose the number of clusters: one forest is cut into every number, and the numbers are ranked by several measures.

1 is the answer if the table cannot be told from tables without clusters (see `structure`), and no valley of density
lies between clusters. Rare groups, a few rows far from all others, are a cluster each, and the others are judged
without them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from clusterforests._utils.arrays import (
    AnyArray,
    AnyIntArray,
    BoolArray,
    FloatArray,
    IndexArray,
    IntArray,
    KeyArray,
    as_floats,
)
from clusterforests._utils.linear_algebra import principal_axes
from clusterforests._utils.random import Purpose, stream
from clusterforests.backends import Backend
from clusterforests.consensus.affinity import Signatures, collapse
from clusterforests.consensus.methods import cut_numbers
from clusterforests.consensus.nodes import CutSettings, pick_landmarks
from clusterforests.feature_screening import draw_by_weight
from clusterforests.judge.evidence import (
    APART_P_VALUE,
    EVIDENCE,
    JudgedRows,
    NClustersEvidence,
    mean_ranks,
    measure_numbers,
    ranked_measures,
    wide_gaps,
    with_rare_groups,
)
from clusterforests.judge.structure import Structure, find_structure, find_valleys, tidy_points
from clusterforests.table.feature_columns import DistinctRows, EncodedTable
from clusterforests.trees.forest import FittedTrees, KMeansPlan, label_rows

# Choose the rows by which numbers of clusters are judged, and make forests of two halves of them.

MAX_JUDGED_ROWS = 800  # nodes picked from more
NEW_TREES = 60  # of each half
HALVINGS = 3  # of the picked rows
MAX_JUDGED_COMPONENTS = 20  # principal components


class PickedRows(NamedTuple):
    """Rows that stand for all, by which rare groups are represented."""

    rows: IndexArray
    weights: FloatArray  # how many rows each stands for
    distinct: IndexArray  # all different rows
    nearest: IndexArray  # the position in `rows` of the one that stands for each of them

    def nearest_to(self, rows: IndexArray) -> IndexArray:
        """Find the positions of the rows that stand for the given ones."""
        order = np.argsort(self.distinct, kind="stable")
        return self.nearest[order[np.searchsorted(self.distinct, rows, sorter=order)]]


def pick_rows(backend: Backend, labels: AnyIntArray, distinct: DistinctRows, seed: int) -> PickedRows:
    """Pick the rows to judge by: all different ones, if they are few. `labels` (T, n) are those in the trees."""
    rows, weights = distinct
    if len(rows) <= MAX_JUDGED_ROWS:
        return PickedRows(rows, weights, rows, np.arange(len(rows)))
    signatures = Signatures(np.ascontiguousarray(labels[:, rows], dtype=np.int32), np.arange(len(rows)), weights)
    picked = pick_landmarks(backend, signatures, MAX_JUDGED_ROWS, seed)
    return PickedRows(rows[picked.chosen], picked.weights, rows, picked.nearest)


def judge_rows(
    backend: Backend, plan: KMeansPlan, labels: AnyIntArray, picked: PickedRows, *, fine: bool, seed: int
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
    points = _points(plan, values, weights)
    return JudgedRows(points, weights, np.ascontiguousarray(labels[:, rows], dtype=np.int32), new)


def _points(plan: KMeansPlan, values: AnyArray, weights: FloatArray) -> FloatArray:
    """Scale the rows as the first view does, in the features that trees use, or their principal components."""
    views = plan.scaling.views
    points = plan.scaling.apply(values)[:, views.columns(0, views.drawable)]
    if points.shape[1] <= MAX_JUDGED_COMPONENTS:
        return np.ascontiguousarray(points)
    return np.ascontiguousarray(points @ principal_axes(points, weights, MAX_JUDGED_COMPONENTS).coefficients)


def _halves(n_rows: int, number: int, seed: int) -> list[IndexArray]:
    """Draw two halves of the rows."""
    order = np.argsort(stream(seed, Purpose.K_ROWS, number, np.arange(n_rows)), kind="stable")
    return [np.sort(half) for half in np.array_split(order, 2)]


def _keys_of(plan: KMeansPlan, picked: PickedRows, halves: list[IndexArray], threads: int) -> Sequence[KeyArray | None]:
    """Compute what the rows of each half are ordered by, if that is more than the columns of the plan."""
    if plan.order is None:
        return [None] * len(halves)
    return plan.order.keys([(picked.rows[half], picked.weights[half]) for half in halves], threads)


def _trees_of_halves(
    backend: Backend,
    plan: KMeansPlan,
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
    plan: KMeansPlan,
    values: AnyArray,
    weights: FloatArray,
    half: IndexArray,
    keys: KeyArray | None,
    fine: bool,
    seed: int,
) -> IntArray:
    own = DistinctRows(np.arange(len(half)), weights[half])
    part = replace(
        plan,
        values=np.ascontiguousarray(values[half]),
        weights=own.weights,
        n_base_clusters=plan.n_base_clusters[:NEW_TREES].clip(max=len(half)),
        seed=seed,
        part=None,
        keys=keys,
    )
    part = part.plan_trees(own, fine=fine)
    forest = part.make_trees(backend)
    trees = FittedTrees(forest.columns, forest.centers, forest.coordinates)
    return label_rows(backend, trees, part.scaling, values)


TESTED_ROWS = 1000  # drawn for the test against tables without clusters
VALLEY_ROWS = 16384  # so that a cluster of 0.1 % of the rows has enough
MIN_VALLEY_ROWS = 8  # rows of a cluster: fewer leave no valley that chance could not leave
ALL_JUDGED_UP_TO = 15  # clusters; beyond, the numbers beside wide gaps between eigenvalues are judged
WIDE_GAP_SHARE = 0.3  # of the widest gap
NEAR_GAP = 2  # clusters more or fewer than a gap speaks for
NEARLY_AS_GOOD = 0.05  # difference of mean ranks up to which the runner-up is nearly as good


class Fitted(NamedTuple):
    """A forest whose number of clusters is to be chosen."""

    plan: KMeansPlan
    table: EncodedTable
    distinct: DistinctRows
    rare_groups: list[IndexArray]
    labels: AnyIntArray  # (T, n): of the table's rows
    fine: bool  # whether there are fine trees


def choose_n_clusters(
    backend: Backend, fitted: Fitted, candidates: Sequence[int], settings: CutSettings, seed: int
) -> NClustersEvidence:
    """Choose the number of clusters among candidates, which ascend.

    Parameters
    ----------
    backend : Backend
        Where the K-means problems run. Its table is replaced.
    fitted : Fitted
        The forest.
    candidates : sequence of int
        Numbers of clusters, each at least 1.
    settings : CutSettings
        How the graph is cut.
    seed : int
        Determines everything random.
    """
    n_rare_groups = len(fitted.rare_groups)
    others = [k - n_rare_groups for k in candidates if k > n_rare_groups]
    if not n_rare_groups or not others:
        return _choose(backend, fitted, candidates, settings, seed)
    apart = np.isin(fitted.distinct.rows, np.concatenate(fitted.rare_groups))
    rest = DistinctRows(fitted.distinct.rows[~apart], fitted.distinct.weights[~apart])
    return with_rare_groups(_choose(backend, fitted._replace(distinct=rest), others, settings, seed), n_rare_groups)


def _choose(
    backend: Backend, fitted: Fitted, candidates: Sequence[int], settings: CutSettings, seed: int
) -> NClustersEvidence:
    columns = fitted.plan.scaling.views.drawable.astype(np.intp)
    numbers = [k for k in candidates if k > 1]
    if not numbers:
        return _unjudged(candidates[0], columns)
    judged = pick_rows(backend, fitted.labels, fitted.distinct, seed)
    valleys = _find_valleys(backend, fitted, judged, numbers, settings, seed)
    if candidates[0] == 1 and all(p > APART_P_VALUE for p in valleys.values()):
        structure = find_structure(*_columns_of(fitted, draw_by_weight(fitted.distinct, TESTED_ROWS, seed)), seed)
        if not structure.found:
            return _one(structure, columns)
    rows = judge_rows(backend, fitted.plan, fitted.labels, judged, fine=fitted.fine, seed=seed)
    numbers = _worth_judging(backend, rows, [k for k in numbers if k < len(rows.weights)])
    if not numbers:
        return _unjudged(candidates[0], columns)
    measures = measure_numbers(backend, rows, numbers, settings)
    measures["valley_p_value"] = np.array([valleys.get(k, 1.0) for k in numbers])
    ranks = mean_ranks(numbers, measures)
    evidence = {name: (measures | {"mean_rank": ranks})[name] for name in EVIDENCE}
    best = int(np.argmin(ranks))
    return NClustersEvidence(numbers[best], tuple(numbers), evidence, _reason(numbers, measures, ranks), columns)


def _columns_of(fitted: Fitted, rows: IndexArray) -> tuple[FloatArray, IntArray, BoolArray]:
    """Take rows in the features that trees use; of each column its feature, and whether it is a category."""
    table = fitted.table
    owners = np.repeat(np.arange(len(table.widths), dtype=np.int32), table.widths)
    used = np.isin(owners, fitted.plan.scaling.views.drawable)
    return as_floats(table.values, np.flatnonzero(used), rows), owners[used], table.categorical[owners[used]]


def _find_valleys(
    backend: Backend, fitted: Fitted, judged: PickedRows, numbers: list[int], settings: CutSettings, seed: int
) -> dict[int, float]:
    """Find the p-value of the least clear valley of density between two clusters, for each number.

    Clusters are those of the picked rows, by which rare ones are represented; the valleys are between all rows, each
    in the cluster of the picked one nearest to it, so that rare clusters have enough. Levels of a category always lie
    apart, so only numbers count where there are some.
    """
    rows = draw_by_weight(fitted.distinct, VALLEY_ROWS, seed)
    signatures = collapse(np.ascontiguousarray(fitted.labels[:, judged.rows], dtype=np.int32), judged.weights)
    able = [k for k in numbers if k <= ALL_JUDGED_UP_TO and k < len(signatures)]
    if not able or len(rows) < 2 * MIN_VALLEY_ROWS:
        return {}
    values, owners, categorical = _columns_of(fitted, rows)
    shown = ~categorical if not categorical.all() else categorical
    points = tidy_points(values[:, shown], owners[shown], categorical[shown], seed)
    nearest = signatures.inverse[judged.nearest_to(rows)]
    found = {}
    for k, groups in zip(able, cut_numbers(backend, signatures, settings, able), strict=True):
        if groups is not None and np.bincount(groups[nearest], minlength=k).min() >= MIN_VALLEY_ROWS:
            folds = int(stream(seed, Purpose.K_FOLDS, k)[0])
            found[k] = float(find_valleys(points, groups[nearest], folds).p_values.max())
    return found


def _worth_judging(backend: Backend, rows: JudgedRows, numbers: list[int]) -> list[int]:
    """Leave out large numbers that no gap speaks for, unless none would be left."""
    large = [k for k in numbers if k > ALL_JUDGED_UP_TO]
    if not large:
        return numbers
    wide = wide_gaps(backend, rows, max(large), WIDE_GAP_SHARE)
    return [k for k in numbers if k <= ALL_JUDGED_UP_TO or any(abs(k - gap) <= NEAR_GAP for gap in wide)] or numbers


def _one(structure: Structure, columns: IndexArray) -> NClustersEvidence:
    reason = (
        f"1 cluster: the table cannot be told from tables without clusters (it is like {structure.like}). Clusters of "
        "a few rows, or that differ in a single feature without a gap, do not show in this test: to see groups all the "
        "same, pass a number, or range(2, 9)."
    )
    return _without_evidence(1, reason, columns)


def _unjudged(k: int, columns: IndexArray) -> NClustersEvidence:
    return _without_evidence(k, f"{k} cluster{'s' * (k > 1)}: no other number could be judged.", columns)


def _without_evidence(k: int, reason: str, columns: IndexArray) -> NClustersEvidence:
    return NClustersEvidence(k, (k,), dict.fromkeys(EVIDENCE, np.full(1, np.nan)), reason, columns)


def _reason(numbers: list[int], measures: dict[str, FloatArray], ranks: FloatArray) -> str:
    order = np.argsort(ranks, kind="stable")
    best = int(order[0])
    k = numbers[best]
    if len(numbers) == 1:
        return f"{k} clusters: the only number that was judged."
    judged = ranked_measures(numbers, measures)
    first = sum(int(np.argmax(values) == best) for values in judged)
    measured = f"{len(judged)} measures"
    why = f"clearest by {first} of {measured}" if first else f"best on average over {measured}"
    second = numbers[int(order[1])]
    close = ranks[order[1]] - ranks[best] <= NEARLY_AS_GOOD
    return f"{k} clusters: {why}; {second} is {'nearly as good' if close else 'next'}."
