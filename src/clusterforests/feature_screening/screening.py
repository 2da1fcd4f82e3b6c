"""Search for the features that tell, in rounds.

A round clusters the rows by draws of features, many times, and scores every feature by the clusterings that did not use
it. The next round draws the features by their scores. Correlated noise would win such an election, because its
features agree with each other; so the first round is held among features that depend on each other as only clusters
make them, where there are some.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from clusterforests._utils.arrays import AnyArray, BoolArray, FloatArray, IndexArray, IntArray
from clusterforests._utils.memory import count_values
from clusterforests._utils.random import Purpose, permutations, stream, uniform
from clusterforests._utils.threads import blas_threads
from clusterforests.feature_screening.dependence import company, excess_dependence, strong_dependence
from clusterforests.feature_screening.modes import FALSE_MODES, several_modes, split_shares
from clusterforests.feature_screening.out_of_bag_scores import HonestScores, score_features, significant
from clusterforests.feature_screening.probe_clusterings import ScoutedRows, SearchedRows
from clusterforests.table.feature_columns import DistinctRows, EncodedTable, FeatureColumns
from clusterforests.table.scaling import Scaling

ROUNDS = 2
LEAST_ROWS = 12
MOST_ROWS = 1024
MOST_ROWS_WIDE = 512  # of tables with more than so many features as PAIRED
PAIRED = 2000  # features up to which pairs are tested before the first round; beyond, among those that it finds
PAIRED_ROWS = 2048
BUNDLE = 300  # columns whose pairs are tested at a time
TIE = 1e-7  # of a standard deviation: so much apart are equal values put, at random
LEVEL = 0.01  # the share of noise among the features that are said to tell
LEVEL_OF_CHANCE = 0.001  # the same where the round before found next to nothing
NEARLY_ALL = 0.9
FEW_VALUES = 5
WEAK = 0.05  # of the score of the feature that tells most
COPY = 0.95  # features correlated more than this may be one
RANKED_COPY = 0.9  # and are, if their ranks are so too: those of groups far apart, which only clusters make, are not
SHARE = 0.15  # of the score of the feature that depends most on others
ENOUGH_SURE = 2  # features to begin with
COMPANY = 3  # fewer features are too few to draw the next round by


@dataclass(frozen=True)
class FeatureSignal:
    """Which features tell, and how that was found."""

    telling: BoolArray  # what trees may use: all features if nearly all or none tell
    scores: FloatArray
    p_values: FloatArray
    reason: str


def find_signal(
    values: AnyArray, scaling: Scaling, distinct: DistinctRows, n_clusters: int, seed: int, threads: int
) -> FeatureSignal:
    """Find the features of a table that tell.

    Parameters
    ----------
    values : array of shape (n, C)
        Encoded rows.
    scaling : Scaling
        How they are scaled; the search takes the first view.
    distinct : DistinctRows
        The different rows and how often each counts.
    """
    views = scaling.views
    able = np.zeros(views.n_features, dtype=bool)
    able[views.drawable] = True
    wide = len(views.drawable) > PAIRED
    rows = draw_by_weight(distinct, MOST_ROWS_WIDE if wide else PAIRED_ROWS, seed)
    if len(views.drawable) < 2 or len(rows) < LEAST_ROWS:
        reason = "there are too few features or rows to compare features: all are kept"
        return FeatureSignal(able, np.zeros(len(able)), np.ones(len(able)), reason)
    table = SearchedRows.of(values, scaling, rows, threads).in_order(views.columns(0, views.drawable))
    with blas_threads(1):  # so that the last digit does not depend on the threads asked for
        scouted = ScoutedRows(table.centred(MOST_ROWS), views, n_clusters, threads)
        return _search(scouted, table, able, seed)


def signal_of_trees(
    table: EncodedTable, distinct: DistinctRows, partitions: IntArray, features: Sequence[IntArray], seed: int
) -> FeatureSignal:
    """Score features by trees that are there already, without a search; every feature is kept.

    `features` are those of each tree. A row that a tree left out, with a label below zero, is in a cluster of its own
    kind.
    """
    views = FeatureColumns(table.first[None, :], table.widths, np.arange(len(table.widths), dtype=np.int32))
    rows = draw_by_weight(distinct, MOST_ROWS_WIDE, seed)
    labels = partitions[:, rows].astype(np.int32)
    labels = np.where(labels < 0, labels.max(axis=1, keepdims=True) + 1, labels)
    used = np.zeros((len(labels), len(table.widths)), dtype=bool)
    for tree, own in enumerate(features):
        used[tree, own] = True
    found = score_features(replace(SearchedRows.plain(table.values), rows=rows), views, labels, used)
    tells = significant(found.p_values, LEVEL)
    return FeatureSignal(
        np.ones(len(tells), dtype=bool), np.where(tells, found.scores, 0.0), found.p_values, "every feature is kept"
    )


def draw_by_weight(distinct: DistinctRows, most: int, seed: int) -> IndexArray:
    """Draw rows by weight, in random order: all of them, each as often as it counts, if that is not too many.

    So a row that counts twice is the same as the row twice.
    """
    weights = distinct.weights
    whole = bool((weights == np.rint(weights)).all())
    count = min(float(most), weights.sum() if whole else float(len(weights)))
    places = np.arange(len(weights))
    times = np.floor(count * weights / weights.sum() + uniform(stream(seed, Purpose.SEARCH_ROWS, places)))
    if whole and weights.sum() <= most:
        times = weights
    rows = np.repeat(places, times.astype(np.intp))
    order = np.argsort(stream(seed, Purpose.SEARCH_ROWS, rows, 1), kind="stable")
    return distinct.rows[rows[order]][:most]


def _search(scouted: ScoutedRows, table: SearchedRows, able: BoolArray, seed: int) -> FeatureSignal:
    """Hold the rounds."""
    everything = able.astype(np.float64)
    wide = int(able.sum()) > PAIRED
    weights = everything if wide else _only_sure(everything, table, scouted.views, seed)
    begun_sure = weights is not everything
    before: HonestScores | None = None
    done, level = 0, LEVEL
    while True:
        found = _score(scouted, weights, seed, done + ROUNDS * begun_sure)
        tells = significant(np.where(able, found.p_values, 1.0), level) & able
        if begun_sure and tells.sum() < ENOUGH_SURE:  # what the pairs said leads nowhere: begin again without them
            weights, begun_sure, done = everything, False, 0
            continue
        done += 1
        if done == ROUNDS or tells.sum() > NEARLY_ALL * able.sum():
            chosen = found if tells.sum() > 1 or before is None else before
            return _conclude(_with_modes(chosen, tells, able, table, scouted.views), able, _few_valued(scouted))
        if tells.sum() < COMPANY and not begun_sure:  # what is drawn next may be drawn by chance
            tells, level, before = able, LEVEL_OF_CHANCE, found
        scores = np.where(tells, found.scores, 0.0)
        top = np.sort(scores)[-max(1, -(-int((scores > 0).sum()) // 4))]
        weights = np.minimum(scores / top, 1.0) if top > 0 else everything
        if wide and tells.sum() <= PAIRED:
            weights = _only_sure(weights, table, scouted.views, seed)


class _Telling(NamedTuple):
    """The features that tell, their scores and p-values, and how many of them have several modes."""

    tells: BoolArray
    scores: FloatArray
    p_values: FloatArray
    n_modes: int


def _with_modes(
    found: HonestScores, tells: BoolArray, able: BoolArray, table: SearchedRows, views: FeatureColumns
) -> _Telling:
    """Add the features with several modes. If none of these goes with others, what these say is no clusters."""
    single = able & (views.widths == 1)
    modes = np.zeros(len(able), dtype=bool)
    modes[single] = several_modes(table, views.first[0, single])
    scores, p_values = np.where(tells, found.scores, 0.0), found.p_values
    if not modes.any():
        return _Telling(tells, scores, p_values, 0)
    told = tells | modes if (tells & modes).any() else modes
    own = np.zeros(len(able))
    own[modes] = split_shares(table.take(views.first[0, modes]))
    scores = np.where(told, np.maximum(scores, own), 0.0)
    return _Telling(told, scores, np.where(modes, np.minimum(p_values, FALSE_MODES), p_values), int(modes.sum()))


def _conclude(telling: _Telling, able: BoolArray, few_valued: BoolArray) -> FeatureSignal:
    """Keep the features that tell, or all if nearly all do or next to none.

    A feature of few values that tells next to nothing, although that may be more than chance, is left out: each of its
    values is a tight group. Even where all are kept it is, unless there is no other: its values would become the
    clusters.
    """
    tells, scores, p_values, n_modes = telling
    weak = few_valued & (scores < WEAK * scores.max(initial=0.0))
    tells, scores = tells & ~weak, np.where(weak, 0.0, scores)
    count = int(tells.sum())
    said = f"{count} of {able.sum()} features go with the others" + (" or have several modes" if n_modes else "")
    nearly_all = count > NEARLY_ALL * able.sum()
    if (count >= 2 or n_modes) and not nearly_all:
        return FeatureSignal(tells, scores, p_values, f"{said} and are kept")
    said += "" if nearly_all else ", too few to go by"
    kept = able & ~(few_valued & ~tells)
    if kept.sum() < 2 or kept.sum() == able.sum():
        return FeatureSignal(able, scores, p_values, f"{said}: all are kept")
    left_out = f"all are kept but {able.sum() - kept.sum()} of few values"
    return FeatureSignal(kept, scores, p_values, f"{said}: {left_out}")


def _few_valued(scouted: ScoutedRows) -> BoolArray:
    """Find categories, and numbers that have no more values than these."""
    views = scouted.views
    values = np.concatenate([count_values(scouted.rows.take(some)) for some in scouted.rows.blocks(views.first[0])])
    few: BoolArray = (views.widths > 1) | (values <= FEW_VALUES)
    return few


def _score(scouted: ScoutedRows, weights: FloatArray, seed: int, round_number: int) -> HonestScores:
    """Hold one round. A scout that used a near-copy of a feature used the feature."""
    labels, used = scouted.scout(weights, seed, round_number)
    if not len(labels):
        return HonestScores(np.zeros(len(weights)), np.ones(len(weights)))
    found = score_features(scouted.rows, scouted.views, labels, used)
    likely = np.flatnonzero(found.p_values <= LEVEL)
    copies = _near_copies(scouted, likely) if len(likely) <= PAIRED else np.eye(0)
    if copies.sum() <= len(copies):
        return found
    used[:, likely] = used[:, likely].astype(np.float64) @ copies > 0
    return score_features(scouted.rows, scouted.views, labels, used)


def _near_copies(scouted: ScoutedRows, features: IndexArray) -> FloatArray:
    """Mark pairs of features that are nearly one: a matrix of zeros and ones."""
    values = scouted.rows.take(scouted.views.first[0, features])
    single = scouted.views.widths[features] == 1
    alike = (_correlations(values) > COPY) & single[:, None] & single & ~np.eye(len(features), dtype=bool)
    paired = np.flatnonzero(alike.any(axis=0))
    if len(paired):
        alike[np.ix_(paired, paired)] &= _correlations(np.apply_along_axis(_ranks, 0, values[:, paired])) > RANKED_COPY
    copies: FloatArray = (alike | np.eye(len(features), dtype=bool)).astype(np.float64)
    return copies


def _correlations(columns: FloatArray) -> FloatArray:
    """Compute the sizes of the correlations between centred columns."""
    unit = columns / np.maximum(np.sqrt(np.square(columns).sum(axis=0)), np.finfo(float).tiny)
    sizes: FloatArray = np.abs(unit.T @ unit)
    return sizes


def _ranks(values: FloatArray) -> FloatArray:
    """Rank values about a mean of 0; equal ones share the mean of their ranks."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: FloatArray = (np.cumsum(counts) - (counts - 1) / 2.0)[places] - (len(values) + 1) / 2.0
    return ranks


def _only_sure(weights: FloatArray, table: SearchedRows, views: FeatureColumns, seed: int) -> FloatArray:
    """Keep the weights of the features that depend on each other as only clusters make them, if these are enough.

    Otherwise those of all.
    """
    features = np.flatnonzero(weights).astype(np.int32)
    columns = views.columns(0, features)
    owner = np.repeat(features, views.widths[features])
    scores = np.zeros(len(columns))
    order = permutations(stream(seed, Purpose.PAIRED_COLUMNS), len(columns))[0]
    limit = strong_dependence(len(columns) * min(len(columns), BUNDLE) // 2)
    for some in np.array_split(order, -(-len(columns) // BUNDLE)):
        X = _without_ties(table.take(columns[some]), columns[some], seed)
        excess = excess_dependence(X)
        excess[owner[some][:, None] == owner[some][None, :]] = 0.0
        scores[some] = company(excess, limit)
    sure = np.zeros(len(weights), dtype=bool)
    sure[owner[scores > SHARE * scores.max()]] = True
    return np.where(sure, weights, 0.0) if sure.sum() >= ENOUGH_SURE else weights


def _without_ties(X: FloatArray, columns: IndexArray, seed: int) -> FloatArray:
    """Put equal values of a column apart, at random."""
    ordered = np.sort(X, axis=0)
    tied = np.flatnonzero((ordered[1:] == ordered[:-1]).any(axis=0))
    apart = X.copy()
    keys = stream(seed, Purpose.PAIRED_TIES, columns[tied][None, :], np.arange(len(X))[:, None])
    apart[:, tied] += TIE * np.maximum(X[:, tied].std(axis=0), np.finfo(float).tiny) * (uniform(keys) - 0.5)
    return apart
