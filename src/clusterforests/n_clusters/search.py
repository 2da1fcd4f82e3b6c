"""Choose the number of clusters: one forest is cut into every number, and the numbers are ranked by five measures.

1 is the answer if the table cannot be told from tables without clusters (see `structure`), and no valley of density
lies between clusters.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from clusterforests._base.random import Purpose, stream
from clusterforests._base.typing import AnyIntArray, FloatArray, IndexArray, IntArray
from clusterforests.backends import Backend
from clusterforests.combining.affinity import collapse
from clusterforests.combining.cut_numbers import cut_numbers
from clusterforests.combining.settings import CutSettings
from clusterforests.forest.forest import GrowthPlan
from clusterforests.n_clusters.density_valleys import find_valleys
from clusterforests.n_clusters.evidence import EVIDENCE, MEASURES, NClustersEvidence, mean_ranks
from clusterforests.n_clusters.judging import judge_rows
from clusterforests.n_clusters.measures import JudgedRows, measure_numbers, wide_gaps
from clusterforests.n_clusters.structure import Structure, find_structure, tidy_places
from clusterforests.signal import draw_by_weight
from clusterforests.tables.distinct_rows import DistinctRows
from clusterforests.tables.feature_columns import EncodedTable

TESTED_ROWS = 1000
PARTED = range(2, 11)  # numbers of clusters between which valleys are looked for
SMALLEST = 8  # rows of a cluster: fewer leave no valley that chance could not leave
LEVEL = 0.01  # of a valley
EVERY = 15  # up to so many clusters, every number is judged; beyond, those beside wide gaps between eigenvalues
WIDE_GAP = 0.3  # of the widest
BESIDE = 2
NEARLY = 0.05  # difference of mean ranks


class Fitted(NamedTuple):
    """A forest whose number of clusters is to be chosen."""

    plan: GrowthPlan
    table: EncodedTable
    distinct: DistinctRows
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
    views = fitted.plan.scaling.views
    columns = views.drawable.astype(np.intp)
    numbers = [k for k in candidates if k > 1]
    structure = None
    if candidates[0] == 1:
        structure = _test(backend, fitted, columns, settings, seed)
    if not numbers or (structure is not None and not structure.found):
        return _one(structure, columns)
    rows = judge_rows(backend, fitted.plan, fitted.labels, fitted.distinct, fine=fitted.fine, seed=seed)
    numbers = [k for k in _worth_judging(backend, rows, numbers) if k < len(rows.weights)]
    if not numbers:
        return _one(structure, columns)
    measures = measure_numbers(backend, rows, numbers, settings, seed)
    ranks = mean_ranks(measures)
    best = int(np.argmin(ranks))
    evidence = {name: (measures | {"mean_rank": ranks})[name] for name in EVIDENCE}
    return NClustersEvidence(numbers[best], tuple(numbers), evidence, _reason(numbers, measures, ranks), columns)


def _test(backend: Backend, fitted: Fitted, features: IndexArray, settings: CutSettings, seed: int) -> Structure:
    """Test rows drawn by weight for structure, in the features that trees use, or for valleys between clusters."""
    table = fitted.table
    rows = draw_by_weight(fitted.distinct, TESTED_ROWS, seed)
    owners = np.repeat(np.arange(len(table.widths), dtype=np.int32), table.widths)
    used = np.isin(owners, features)
    values, owners = table.values[rows][:, used], owners[used]
    categorical = table.categorical[owners]
    found = find_structure(values, owners, categorical, seed)
    if found.found or len(rows) < 2 * SMALLEST:
        return found
    signatures = collapse(np.ascontiguousarray(fitted.labels[:, rows], dtype=np.int32), None)
    groups = cut_numbers(backend, signatures, settings, [k for k in PARTED if k < len(signatures)])
    labels = [one[signatures.inverse] for one in groups if one is not None]
    places = tidy_places(values, owners, categorical, seed)
    return found._replace(found=any(_all_apart(places, one, seed) for one in labels))


def _all_apart(places: FloatArray, labels: IntArray, seed: int) -> bool:
    """Test whether there is a valley of density between any two clusters."""
    if np.bincount(labels).min() < SMALLEST:
        return False
    folds = int(stream(seed, Purpose.K_FOLDS, int(labels.max()))[0])
    return bool(find_valleys(places, labels, folds).p_values.max() <= LEVEL)


def _worth_judging(backend: Backend, rows: JudgedRows, numbers: list[int]) -> list[int]:
    """Leave out large numbers that no gap speaks for."""
    large = [k for k in numbers if k > EVERY]
    if not large:
        return numbers
    wide = wide_gaps(backend, rows, max(large), WIDE_GAP)
    return [k for k in numbers if k <= EVERY or any(abs(k - gap) <= BESIDE for gap in wide)]


def _one(structure: Structure | None, columns: IndexArray) -> NClustersEvidence:
    if structure is None:
        reason = "1 cluster: there are too few different rows for more."
    else:
        reason = (
            f"1 cluster: the table cannot be told from tables without clusters (it is like {structure.like}). Clusters "
            "of a few rows, or that differ in a single feature without a gap, do not show in this test: to see groups "
            "all the same, pass a number, or range(2, 9)."
        )
    nothing = dict.fromkeys(EVIDENCE, np.full(1, np.nan))
    return NClustersEvidence(1, (1,), nothing, reason, columns)


def _reason(numbers: list[int], measures: dict[str, FloatArray], ranks: FloatArray) -> str:
    order = np.argsort(ranks, kind="stable")
    best = int(order[0])
    k = numbers[best]
    if len(numbers) == 1:
        return f"{k} clusters: the only number that was judged."
    first = sum(int(np.nanargmax(measures[name]) == best) for name in MEASURES if np.isfinite(measures[name]).any())
    why = (
        f"clearest by {first} of {len(MEASURES)} measures"
        if first
        else f"best on average over {len(MEASURES)} measures"
    )
    second = numbers[int(order[1])]
    close = ranks[order[1]] - ranks[best] <= NEARLY
    return f"{k} clusters: {why}; {second} is {'nearly as good' if close else 'next'}."
