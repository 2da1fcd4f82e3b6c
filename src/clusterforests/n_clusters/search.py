"""Choose the number of clusters: one forest is cut into every number, and the numbers are ranked by several measures.

1 is the answer if the table cannot be told from tables without clusters (see `structure`), and no valley of density
lies between clusters. Islands, small groups far from all others, are a cluster each, and the others are judged without
them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from clusterforests._base.column_blocks import as_floats
from clusterforests._base.random import Purpose, stream
from clusterforests._base.typing import AnyIntArray, BoolArray, FloatArray, IndexArray, IntArray
from clusterforests.backends import Backend
from clusterforests.combining.affinity import collapse
from clusterforests.combining.cut_numbers import cut_numbers
from clusterforests.combining.settings import CutSettings
from clusterforests.forest.forest import GrowthPlan
from clusterforests.n_clusters.density_valleys import find_valleys
from clusterforests.n_clusters.evidence import (
    EVIDENCE,
    LEVEL,
    NClustersEvidence,
    mean_ranks,
    ranked_measures,
    with_islands,
)
from clusterforests.n_clusters.judging import PickedRows, judge_rows, pick_rows
from clusterforests.n_clusters.measures import JudgedRows, measure_numbers, wide_gaps
from clusterforests.n_clusters.structure import Structure, find_structure, tidy_places
from clusterforests.signal import draw_by_weight
from clusterforests.tables.distinct_rows import DistinctRows
from clusterforests.tables.feature_columns import EncodedTable

TESTED_ROWS = 1000
VALLEY_ROWS = 16384  # so that a cluster of 0.1 % of the rows has enough
SMALLEST = 8  # rows of a cluster: fewer leave no valley that chance could not leave
EVERY = 15  # up to so many clusters, every number is judged; beyond, those beside wide gaps between eigenvalues
WIDE_GAP = 0.3  # of the widest
BESIDE = 2
NEARLY = 0.05  # difference of mean ranks


class Fitted(NamedTuple):
    """A forest whose number of clusters is to be chosen."""

    plan: GrowthPlan
    table: EncodedTable
    distinct: DistinctRows
    islands: list[IndexArray]
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
    n_islands = len(fitted.islands)
    others = [k - n_islands for k in candidates if k > n_islands]
    if not n_islands or not others:
        return _choose(backend, fitted, candidates, settings, seed)
    apart = np.isin(fitted.distinct.rows, np.concatenate(fitted.islands))
    rest = DistinctRows(fitted.distinct.rows[~apart], fitted.distinct.weights[~apart])
    return with_islands(_choose(backend, fitted._replace(distinct=rest), others, settings, seed), n_islands)


def _choose(
    backend: Backend, fitted: Fitted, candidates: Sequence[int], settings: CutSettings, seed: int
) -> NClustersEvidence:
    columns = fitted.plan.scaling.views.drawable.astype(np.intp)
    numbers = [k for k in candidates if k > 1]
    if not numbers:
        return _unjudged(candidates[0], columns)
    judged = pick_rows(backend, fitted.labels, fitted.distinct, seed)
    valleys = _find_valleys(backend, fitted, judged, numbers, settings, seed)
    if candidates[0] == 1 and all(p > LEVEL for p in valleys.values()):
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
    able = [k for k in numbers if k <= EVERY and k < len(signatures)]
    if not able or len(rows) < 2 * SMALLEST:
        return {}
    values, owners, categorical = _columns_of(fitted, rows)
    shown = ~categorical if not categorical.all() else categorical
    places = tidy_places(values[:, shown], owners[shown], categorical[shown], seed)
    nearest = signatures.inverse[judged.nearest_to(rows)]
    found = {}
    for k, groups in zip(able, cut_numbers(backend, signatures, settings, able), strict=True):
        if groups is not None and np.bincount(groups[nearest], minlength=k).min() >= SMALLEST:
            folds = int(stream(seed, Purpose.K_FOLDS, k)[0])
            found[k] = float(find_valleys(places, groups[nearest], folds).p_values.max())
    return found


def _worth_judging(backend: Backend, rows: JudgedRows, numbers: list[int]) -> list[int]:
    """Leave out large numbers that no gap speaks for, unless none would be left."""
    large = [k for k in numbers if k > EVERY]
    if not large:
        return numbers
    wide = wide_gaps(backend, rows, max(large), WIDE_GAP)
    return [k for k in numbers if k <= EVERY or any(abs(k - gap) <= BESIDE for gap in wide)] or numbers


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
    close = ranks[order[1]] - ranks[best] <= NEARLY
    return f"{k} clusters: {why}; {second} is {'nearly as good' if close else 'next'}."
