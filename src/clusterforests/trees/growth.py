"""Grow clustering vectors: Algorithm 1 (growth) and Algorithm 2 (feature competition) of the paper.

All trees grow in lock step. One round is: every live tree proposes features, all proposals are solved as one batch of
K-means problems, every tree accepts its proposal or counts a failure. Comments name the lines of the algorithms.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from clusterforests._utils.arrays import BoolArray, FloatArray, IndexArray, IntArray, KeyArray
from clusterforests._utils.portable_math import power
from clusterforests._utils.random import Purpose, distinct_integers, integers, permutations, stream
from clusterforests.backends import Backend, Effort, KMeansJobs, KMeansRuns
from clusterforests.table.feature_columns import FeatureColumns

# First features are drawn again where they have fewer distinct rows than clusters; then the tree is left out.
MAX_REDRAWS = 1000
# Kappas closer than this, relatively, are equal up to rounding.
NOT_BETTER = 1e-9

# What is told of progress: trees that stopped growing, rounds so far.
GrowthProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class GrowthSettings:
    """How trees grow. In the paper's symbols: n_b, b, q, tau_m (None: until every feature was tried)."""

    n_base_clusters: IntArray  # of each tree
    fewer_clusters: bool  # where a draw has too few distinct rows: lower the tree's n_b with the next draw
    features_per_draw: int
    n_candidates: int
    patience: int | None
    repeat_features: bool
    compete_always: bool
    quality: str
    n_init: int
    max_iter: int

    @property
    def effort(self) -> Effort:
        """One start is quick; of several, the best is polished."""
        return Effort.QUICK if self.n_init == 1 else Effort.POLISHED


@dataclass
class GrowingTrees:
    """One clustering vector per tree, with the K-means centres and the kappa it reached.

    Centres are in the columns of the tree's features, and empty where there is no solution. Trees that cannot be grown
    are left out; the others keep their numbers, which their random streams and views go by.
    """

    numbers: IndexArray
    features: list[IntArray]
    centers: list[FloatArray]
    kappas: FloatArray
    clusters: IntArray
    rounds: int = 1
    path: list[FloatArray] = field(default_factory=list)  # kappas after each round, NaN where a tree had stopped

    @classmethod
    def empty(cls, numbers: IndexArray, clusters: IntArray) -> "GrowingTrees":
        n = len(numbers)
        no_features, no_centers = np.empty(0, np.int32), np.empty((0, 0))
        return cls(numbers, [no_features] * n, [no_centers] * n, np.full(n, np.inf), clusters.copy())

    def replace(self, which: IndexArray, other: "GrowingTrees", accepted: BoolArray) -> None:
        """Replace those of the trees `which` whose counterpart in `other` was accepted."""
        for i in np.flatnonzero(accepted):
            t = which[i]
            self.features[t], self.centers[t] = other.features[i], other.centers[i]
            self.kappas[t] = other.kappas[i]

    def solved(self) -> "GrowingTrees":
        """Keep the trees that have centres."""
        which = [t for t, centers in enumerate(self.centers) if len(centers)]
        return GrowingTrees(
            self.numbers[which],
            [self.features[t] for t in which],
            [self.centers[t] for t in which],
            self.kappas[which],
            self.clusters[which],
            self.rounds,
            [kappas[which] for kappas in self.path],
        )

    def record(self, live: IndexArray) -> None:
        """Add a round to the path."""
        self.path.append(np.full(len(self.kappas), np.nan))
        self.path[-1][live] = self.kappas[live]


def kappa(runs: KMeansRuns, quality: str) -> FloatArray:
    """Compute SS_W / SS_B (Definition 1); infinite where there is nothing between clusters, or no solution.

    "centroid" takes the usual sums of squares about centroids, "pairwise" the sums over pairs of rows that the
    paper's appendix writes. "corrected" is SS_W / SS_T * n_b^(2/d): d different columns without structure have SS_W of
    the order of n_b^(-2/d) SS_T, so that the factor takes away kappa's liking for few features. Between vectors of
    equal length and n_b it orders as kappa does.
    """
    pairs = quality == "pairwise"
    within = runs.within_pairs if pairs else runs.within
    between = runs.between_pairs if pairs else runs.between
    usable = runs.solved & (between > 0)
    if quality == "corrected":
        between = between + within
        clusters = np.array([len(centers) for centers in runs.centers], dtype=np.float64)
        # A column that is listed twice is one: if it were two, listing it again and again would never end.
        columns = np.array([len(set(listed.tolist())) for listed in runs.features])
        within = within * power(clusters, 2.0 / columns)
    return np.where(usable, within / np.where(usable, between, 1.0), np.inf)


def grow(
    backend: Backend,
    views: FeatureColumns,
    settings: GrowthSettings,
    seed: int,
    progress: GrowthProgress | None = None,
    first: int = 0,
) -> GrowingTrees:
    """Run Algorithm 1 for all trees at once. `first` is the first tree's number, if there are others elsewhere."""
    # Lines 1 and 2: the first features, by feature competition.
    trees = compete(backend, views, settings, seed, first)
    n_trees = len(trees.features)
    trees.record(live := np.arange(n_trees))
    failures = np.zeros(n_trees, dtype=np.int64)
    orders = None if settings.patience is not None else _feature_orders(views, settings, seed, trees)
    # Lines 3 to 11: try more features until tau_m draws in a row have failed.
    rounds = 0
    while True:
        rounds += 1
        # Line 4: sample b features.
        live, draws = _propose(views, settings, seed, trees, live, rounds, orders)
        if progress is not None:
            progress(n_trees - len(live), rounds)
        if not len(live):
            trees.rounds = rounds
            return trees
        # Line 5: K-means on the tree's features and these.
        vectors = [
            [np.concatenate([trees.features[t], draw]) for draw in tree_draws]
            for t, tree_draws in zip(live, draws, strict=True)
        ]
        keys = stream(seed, Purpose.MORE_FEATURES, trees.numbers[live], rounds)
        tried = _cluster(backend, views, trees.numbers[live], vectors, trees.clusters[live], settings, keys)
        # Lines 6 and 7: expand the vector if kappa falls.
        better = tried.kappas < trees.kappas[live] * (1 - NOT_BETTER)
        trees.replace(live, tried, better)
        trees.record(live)
        # Lines 7 and 9: tau is 0 again, or one more.
        failures[live] = np.where(better, 0, failures[live] + 1)
        # Line 11.
        if settings.patience is not None:
            live = live[failures[live] < settings.patience]


def compete(backend: Backend, views: FeatureColumns, settings: GrowthSettings, seed: int, first: int) -> GrowingTrees:
    """Run Algorithm 2: choose the first features of every tree by competition.

    Redraw where there are fewer distinct rows than clusters, and drop a tree for which that does not help.
    """
    trees = GrowingTrees.empty(first + np.arange(len(settings.n_base_clusters)), settings.n_base_clusters)
    candidates = np.arange(settings.n_candidates)
    open_trees = np.arange(len(trees.numbers))
    for redraw in range(MAX_REDRAWS):
        # Lines 1 and 2: q times, sample b features.
        numbers = trees.numbers[open_trees]
        keys = stream(seed, Purpose.FIRST_FEATURES, numbers[:, None], redraw, candidates[None, :])
        nothing = None if settings.repeat_features else [np.empty(0, np.int32)] * keys.size
        drawn = _draw(keys.ravel(), views, settings.features_per_draw, nothing)
        vectors = [list(row) for row in drawn.reshape(*keys.shape, -1)]
        # Lines 3 and 5: K-means on each draw; the smallest kappa wins.
        won = _cluster(backend, views, numbers, vectors, trees.clusters[open_trees], settings, keys[:, 0])
        solved = np.array([len(c) > 0 for c in won.centers])
        trees.replace(open_trees, won, solved)
        open_trees = open_trees[~solved]
        if not len(open_trees):
            break
        if settings.fewer_clusters:
            trees.clusters[open_trees] = fewer(trees.clusters[open_trees])
    return trees.solved()


def finish(
    backend: Backend, views: FeatureColumns, trees: GrowingTrees, settings: GrowthSettings, seed: int
) -> GrowingTrees:
    """Run the trees' K-means once more, on the rows that the back end holds now."""
    if not trees.features:
        return trees
    vectors = [[features] for features in trees.features]
    keys = stream(seed, Purpose.FINAL_KMEANS, trees.numbers)
    done = _cluster(backend, views, trees.numbers, vectors, trees.clusters, settings, keys)
    done.rounds, done.path = trees.rounds + 1, trees.path
    return done.solved()


def fewer(clusters: IntArray) -> IntArray:
    """Lower numbers of clusters by a third, to two at least."""
    lowered: IntArray = np.maximum(2, 2 * clusters // 3)
    return lowered


def why_dropped(settings: GrowthSettings) -> str:
    """Explain why a tree could not be grown, and what helps."""
    clusters = 2 if settings.fewer_clusters else int(settings.n_base_clusters.max())
    return (
        f"features_per_draw={settings.features_per_draw} is too small for n_base_clusters={clusters} on this table: "
        f"{MAX_REDRAWS} random draws of features had fewer distinct rows than clusters, or the clusterer failed. Raise "
        "features_per_draw, lower n_base_clusters (or n_clusters), or drop constant and nearly constant columns."
    )


def _cluster(
    backend: Backend,
    views: FeatureColumns,
    numbers: IndexArray,
    vectors: Sequence[Sequence[IntArray]],
    clusters: IntArray,
    settings: GrowthSettings,
    keys: KeyArray,
) -> GrowingTrees:
    """Run K-means on each tree's candidates and keep the one with the smallest kappa, the first on ties.

    A tree none of whose candidates could be solved gets empty centres.
    """
    per_tree = len(vectors[0])
    flat = [np.asarray(vector, dtype=np.int32) for candidates in vectors for vector in candidates]
    columns = [views.columns(t, vector) for t, vector in zip(np.repeat(numbers, per_tree), flat, strict=True)]
    seeds = stream(keys[:, None], Purpose.TREE_KMEANS, np.arange(per_tree)[None, :]).ravel()
    counts = np.repeat(clusters, per_tree)
    runs = backend.kmeans(KMeansJobs(columns, counts, seeds, settings.n_init, settings.max_iter, settings.effort))
    kappas = kappa(runs, settings.quality).reshape(-1, per_tree)
    # A solution without anything between its clusters still beats no solution.
    order = np.where(runs.solved.reshape(kappas.shape), np.minimum(kappas, np.finfo(float).max), np.inf)
    best = order.argmin(axis=1)
    winner = best + per_tree * np.arange(len(best))
    return GrowingTrees(
        numbers=numbers,
        features=[flat[w] for w in winner],
        centers=[runs.centers[w] if runs.solved[w] else np.empty((0, 0)) for w in winner],
        kappas=kappas[np.arange(len(best)), best],
        clusters=clusters,
    )


def _feature_orders(views: FeatureColumns, settings: GrowthSettings, seed: int, trees: GrowingTrees) -> list[IntArray]:
    """Choose the order in which each tree tries every feature once."""
    keys = stream(seed, Purpose.FEATURE_ORDER, trees.numbers)
    orders = views.drawable[permutations(keys, len(views.drawable))]
    if settings.repeat_features:
        return list(orders)
    return [order[~np.isin(order, own)] for order, own in zip(orders, trees.features, strict=True)]


def _propose(
    views: FeatureColumns,
    settings: GrowthSettings,
    seed: int,
    trees: GrowingTrees,
    live: IndexArray,
    rounds: int,
    orders: list[IntArray] | None,
) -> tuple[IndexArray, list[list[IntArray]]]:
    """Draw candidates for the trees that still have something to try; return these trees and their draws."""
    if not len(live):
        return live, []
    b, q = settings.features_per_draw, settings.n_candidates if settings.compete_always else 1
    if orders is None:
        keys = stream(seed, Purpose.MORE_FEATURES, trees.numbers[live][:, None], rounds, np.arange(q)[None, :])
        excluded = None
        if not settings.repeat_features:
            excluded = [own for t in live for own in [np.unique(trees.features[t])] * q]
        drawn = _draw(keys.ravel(), views, b, excluded)
        draws = [[d[d >= 0] for d in tree] for tree in drawn.reshape(*keys.shape, -1)]
    else:
        steps = [slice(i * b, (i + 1) * b) for i in range((rounds - 1) * q, rounds * q)]
        draws = [[orders[t][step] for step in steps] for t in live]
        # Every tree must bring the same number of candidates: a short last step repeats its first one.
        draws = [[draw if len(draw) else tree[0] for draw in tree] for tree in draws]
    able = np.array([len(tree[0]) > 0 for tree in draws])
    return live[able], [tree for tree, ok in zip(draws, able, strict=True) if ok]


def _draw(keys: KeyArray, views: FeatureColumns, count: int, excluded: Sequence[IntArray] | None) -> IntArray:
    """Draw `count` features for each key: independently, or distinct and not excluded (-1 where none are left)."""
    drawable = views.drawable
    if excluded is None:
        return drawable[integers(stream(keys[:, None], np.arange(count)), len(drawable))]
    taken = [np.searchsorted(drawable, e) for e in excluded]
    chosen = distinct_integers(keys, len(drawable), count, taken)
    return np.where(chosen < 0, chosen, drawable[chosen])
