"""Feature screening: find the informative features of a table, in rounds.

A round clusters the rows by draws of features, many times, and scores every feature by the clusterings that did not use
it. The next round draws the features by their scores. Correlated noise would win such an election, because its
features agree with each other; so the first round is held among features that depend on each other as only clusters
make them, where there are some.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from clusterforests._utils.arrays import AnyArray, BoolArray, FloatArray, IndexArray, IntArray, count_values
from clusterforests._utils.random import Purpose, stream, uniform
from clusterforests._utils.threads import blas_threads
from clusterforests.feature_screening.dependence import ENOUGH_DEPENDENT, keep_dependent, near_copies
from clusterforests.feature_screening.modes import FALSE_MODES, several_modes, split_shares
from clusterforests.feature_screening.out_of_bag_scores import OutOfBagScores, score_features, significant
from clusterforests.feature_screening.probe_clusterings import ProbedRows
from clusterforests.feature_screening.screened_rows import ScreenedRows
from clusterforests.table.feature_columns import DistinctRows, EncodedTable, FeatureColumns
from clusterforests.table.scaling import Scaling

SCREENING_ROUNDS = 2
# Fewer rows show nothing.
LEAST_SCREENED_ROWS = 12
# Rows that probes cluster; those by which pairs of features are tested; rows of tables with many features.
PROBED_ROWS, PAIRED_ROWS, ROWS_OF_MANY = 1024, 2048, 512
# Features up to which pairs are tested before the first round; beyond, among those that it finds.
PAIRED = 2000
# The share of noise among the informative features, and the same where the round before found next to nothing.
DISCOVERY_LEVEL = 0.01
CHANCE_LEVEL = 0.001
# If more features than this share are informative, all are.
NEARLY_ALL = 0.9
# Numbers with no more values are treated as categories are.
FEW_VALUES = 5
# Of the highest score: features of few values that score less are left out.
WEAK_SCORE = 0.05
# Fewer informative features are too few to draw the next round by.
ENOUGH_TO_DRAW = 3


@dataclass(frozen=True)
class ScreeningResult:
    """Which features are informative, and how that was found."""

    informative: BoolArray  # what trees may use: all features if nearly all or none are informative
    scores: FloatArray
    p_values: FloatArray
    reason: str


def screen_features(
    values: AnyArray, scaling: Scaling, distinct: DistinctRows, n_clusters: int, seed: int, threads: int
) -> ScreeningResult:
    """Find the informative features of a table.

    Parameters
    ----------
    values : array of shape (n, C)
        Encoded rows.
    scaling : Scaling
        How they are scaled; features are screened in the first view.
    distinct : DistinctRows
        The different rows and how often each counts.
    n_clusters : int
        The most clusters that are looked for.
    seed : int
        Determines everything random.
    threads : int
        Does not change the result.
    """
    views = scaling.views
    able = np.zeros(views.n_features, dtype=bool)
    able[views.drawable] = True
    rows = draw_by_weight(distinct, ROWS_OF_MANY if len(views.drawable) > PAIRED else PAIRED_ROWS, seed)
    if len(views.drawable) < 2 or len(rows) < LEAST_SCREENED_ROWS:
        reason = "there are too few features or rows to compare features: all are kept"
        return ScreeningResult(able, np.zeros(len(able)), np.ones(len(able)), reason)
    table = ScreenedRows.of(values, scaling, rows, threads).in_order(views.columns(0, views.drawable))
    # One thread of BLAS, so that the last digit does not depend on the threads asked for.
    with blas_threads(1):
        probed = ProbedRows(table.centred(PROBED_ROWS), views, n_clusters, threads)
        found, informative = _hold_rounds(probed, table, able, seed)
        return _conclude(found, informative, able, table, probed)


def screen_by_trees(
    table: EncodedTable, distinct: DistinctRows, partitions: IntArray, features: Sequence[IntArray], seed: int
) -> ScreeningResult:
    """Score features by trees that are there already, without probe clusterings; every feature is kept.

    `features` are those of each tree. A row that a tree left out, with a label below zero, is in a cluster of its own
    kind.
    """
    views = FeatureColumns(table.first[None, :], table.widths, np.arange(len(table.widths), dtype=np.int32))
    rows = draw_by_weight(distinct, ROWS_OF_MANY, seed)
    labels = partitions[:, rows].astype(np.int32)
    labels = np.where(labels < 0, labels.max(axis=1, keepdims=True) + 1, labels)
    used = np.zeros((len(labels), len(table.widths)), dtype=bool)
    for tree, own in enumerate(features):
        used[tree, own] = True
    found = score_features(replace(ScreenedRows.plain(table.values), rows=rows), views, labels, used)
    informative = significant(found.p_values, DISCOVERY_LEVEL)
    every = np.ones(len(informative), dtype=bool)
    return ScreeningResult(every, np.where(informative, found.scores, 0.0), found.p_values, "every feature is kept")


def draw_by_weight(distinct: DistinctRows, most: int, seed: int) -> IndexArray:
    """Draw rows by weight, in random order: all of them, each as often as it counts, if that is not too many.

    So a row that counts twice is the same as the row twice.
    """
    weights = distinct.weights
    whole = bool((weights == np.rint(weights)).all())
    count = min(float(most), weights.sum() if whole else float(len(weights)))
    numbers = np.arange(len(weights))
    times = np.floor(count * weights / weights.sum() + uniform(stream(seed, Purpose.SEARCH_ROWS, numbers)))
    if whole and weights.sum() <= most:
        times = weights
    rows = np.repeat(numbers, times.astype(np.intp))
    order = np.argsort(stream(seed, Purpose.SEARCH_ROWS, rows, 1), kind="stable")
    return distinct.rows[rows[order]][:most]


def _hold_rounds(
    probed: ProbedRows, table: ScreenedRows, able: BoolArray, seed: int
) -> tuple[OutOfBagScores, BoolArray]:
    """Hold the rounds; return the scores that count, and which features the last round found informative."""
    everything = able.astype(np.float64)
    many = int(able.sum()) > PAIRED
    weights = everything if many else keep_dependent(everything, table, probed.views, seed)
    from_pairs = weights is not everything
    before: OutOfBagScores | None = None
    done, level = 0, DISCOVERY_LEVEL
    while True:
        found = _hold_round(probed, weights, seed, done + SCREENING_ROUNDS * from_pairs)
        informative = significant(np.where(able, found.p_values, 1.0), level) & able
        # What the pairs said leads nowhere: begin again without them.
        if from_pairs and informative.sum() < ENOUGH_DEPENDENT:
            weights, from_pairs, done = everything, False, 0
            continue
        done += 1
        if done == SCREENING_ROUNDS or informative.sum() > NEARLY_ALL * able.sum():
            return found if informative.sum() > 1 or before is None else before, informative
        # With so few, what is drawn next may be drawn by chance.
        if informative.sum() < ENOUGH_TO_DRAW and not from_pairs:
            informative, level, before = able, CHANCE_LEVEL, found
        # The best quarter of the features count fully, the others by their scores.
        scores = np.where(informative, found.scores, 0.0)
        top = np.sort(scores)[-max(1, -(-int((scores > 0).sum()) // 4))]
        weights = np.minimum(scores / top, 1.0) if top > 0 else everything
        if many and informative.sum() <= PAIRED:
            weights = keep_dependent(weights, table, probed.views, seed)


def _hold_round(probed: ProbedRows, weights: FloatArray, seed: int, round_number: int) -> OutOfBagScores:
    """Hold one round. A probe that used a near-copy of a feature used the feature."""
    labels, used = probed.cluster(weights, seed, round_number)
    if not len(labels):
        return OutOfBagScores(np.zeros(len(weights)), np.ones(len(weights)))
    found = score_features(probed.rows, probed.views, labels, used)
    likely = np.flatnonzero(found.p_values <= DISCOVERY_LEVEL)
    copies = near_copies(probed.rows, probed.views, likely) if len(likely) <= PAIRED else np.eye(0)
    if copies.sum() <= len(copies):
        return found
    used[:, likely] = used[:, likely].astype(np.float64) @ copies > 0
    return score_features(probed.rows, probed.views, labels, used)


def _conclude(
    found: OutOfBagScores, informative: BoolArray, able: BoolArray, table: ScreenedRows, probed: ProbedRows
) -> ScreeningResult:
    """Keep the informative features, or all if nearly all or next to none are."""
    views = probed.views
    scores, p_values = np.where(informative, found.scores, 0.0), found.p_values
    # Features with several modes are informative as well. If none of these goes with others, what these say is no
    # clusters.
    single = able & (views.widths == 1)
    modes = np.zeros(len(able), dtype=bool)
    modes[single] = several_modes(table, views.first[0, single])
    if modes.any():
        informative = informative | modes if (informative & modes).any() else modes
        own = np.zeros(len(able))
        own[modes] = split_shares(table.take(views.first[0, modes]))
        scores = np.where(informative, np.maximum(scores, own), 0.0)
        p_values = np.where(modes, np.minimum(p_values, FALSE_MODES), p_values)
    # A feature of few values that says next to nothing, although that may be more than chance, is left out: each of its
    # values is a tight group.
    values = np.concatenate([count_values(probed.rows.take(some)) for some in probed.rows.blocks(views.first[0])])
    few_valued = (views.widths > 1) | (values <= FEW_VALUES)
    weak = few_valued & (scores < WEAK_SCORE * scores.max(initial=0.0))
    informative, scores = informative & ~weak, np.where(weak, 0.0, scores)
    count = int(informative.sum())
    said = f"{count} of {able.sum()} features go with the others" + (" or have several modes" if modes.any() else "")
    nearly_all = count > NEARLY_ALL * able.sum()
    if (count >= 2 or modes.any()) and not nearly_all:
        return ScreeningResult(informative, scores, p_values, f"{said} and are kept")
    # Where all are kept, features of few values go unless there is no other: their values would become the clusters.
    said += "" if nearly_all else ", too few to go by"
    kept = able & ~(few_valued & ~informative)
    if kept.sum() < 2 or kept.sum() == able.sum():
        return ScreeningResult(able, scores, p_values, f"{said}: all are kept")
    left_out = f"all are kept but {able.sum() - kept.sum()} of few values"
    return ScreeningResult(kept, scores, p_values, f"{said}: {left_out}")
