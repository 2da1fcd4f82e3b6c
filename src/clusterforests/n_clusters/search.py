"""Search for the number of clusters, 1 included, with one forest, one dendrogram and tests of valleys.

The trees have varied numbers of clusters, so that P does not depend on the number that is looked for. Average linkage
on P is cut at every number at once. A number stands if all of its groups are apart, which is tested in the table: see
`density_valleys`. Columns that show nothing beside others that do are left out first: see `informative_columns`.
Tables without clusters, but with the covariance and the tails of the columns that are left, are then taken through the
same steps: what they show is no evidence.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clusterforests._base.adjusted_rand import adjusted_rand
from clusterforests._base.parameters import integer
from clusterforests._base.random import Purpose, integers, permutations, stream
from clusterforests._base.typing import FloatArray, IndexArray, IntArray
from clusterforests.backends import Backend, KMeansJobs
from clusterforests.combining.affinity import coassociate
from clusterforests.n_clusters.dendrogram_splits import SMALLEST, split_groups
from clusterforests.n_clusters.density_valleys import find_valleys
from clusterforests.n_clusters.informative_columns import informative_columns
from clusterforests.n_clusters.null_tables import MAX_AXES, prepare, principal_axes, without_clusters

MAX_ROWS = 2000  # the time and memory of P and its dendrogram grow with the square of the rows
LEVEL = 0.05
DOUBTFUL = 0.6  # largest p-value that counts, however long the clusters last in the dendrogram
HALVINGS, HALF_ROWS = 4, 200
AMBIGUOUS = (0.1, 0.9)
EVIDENCE = (
    "p_value",
    "depth",
    "null_mean",
    "null_sd",
    "null_p_value",
    "lifetime",
    "null_lifetime",
    "eigengap",
    "stability",
    "pac",
    "cdf_area",
    "delta_area",
)


@dataclass(frozen=True)
class NClustersEvidence:
    """The number of clusters that was chosen, and why.

    Attributes
    ----------
    n_clusters : int
        The candidate that was chosen.
    candidates : tuple of int
        Ascending.
    evidence : dict of str to ndarray of shape (n_candidates,)
        NaN where there is none, as for 1. "p_value" of the least clear valley between two of the clusters and its
        "depth" (1: no row is in it), with "null_mean" and "null_sd" of the depth and the smallest "null_p_value" in
        tables without clusters. "lifetime", the height in the dendrogram over which the candidate lasts, and
        "null_lifetime", the longest without clusters. "eigengap" of P. From clusterings by random halves of the forest
        "stability" (their mean adjusted Rand index), "pac" (the share of pairs of rows that more than a tenth and less
        than nine tenths of them put together), "cdf_area" and "delta_area" (Monti et al. 2003).
    reason : str
        One sentence.
    columns : ndarray of int
        Columns of X that the forest was grown on.
    """

    n_clusters: int
    candidates: tuple[int, ...]
    evidence: dict[str, FloatArray]
    reason: str
    columns: IndexArray


class Examined(NamedTuple):
    """What the table shows for 1, 2, ..., most clusters."""

    lifetimes: FloatArray
    p_values: FloatArray
    depths: FloatArray


def choose_n_clusters(
    backend: Backend,
    X: FloatArray,
    candidates: Sequence[int],
    seed: int,
    *,
    n_trees: int = 100,
    n_null: int = 3,
    level: float = LEVEL,
) -> NClustersEvidence:
    """Choose the number of clusters of a table among candidates.

    The largest candidate wins whose clusters are all apart at `level`, and more clearly than in any table without
    clusters. A larger one that lasts r times as long in the dendrogram as any does without clusters wins over it if
    its clusters are apart at r^2 times the level. Without any, the answer is 1, or the lowest candidate.

    Tables of more than 2000 rows are judged by a random 2000 of them. Groups of less than 8 rows or a hundredth of the
    rows are taken as outlying rows, not as clusters.

    Parameters
    ----------
    backend : CpuBackend
        Where the K-means problems run. Its table is replaced.
    X : array of shape (n_samples, n_features)
        Numbers, NaN where missing, none infinite. Neither the unit of a column nor a few extreme values matter.
    candidates : sequence of int
        Numbers of clusters, each at least 1.
    seed : int
        Determines everything random.
    n_trees : int, default=100
        Clusterings in the forest.
    n_null : int, default=3
        Tables without clusters that are compared; 0 for none.
    level : float, default=0.05
        Largest p-value of a valley that counts.

    Returns
    -------
    evidence : NClustersEvidence

    Examples
    --------
    >>> import numpy as np
    >>> from clusterforests.backends import CpuBackend
    >>> from clusterforests.n_clusters.search import choose_n_clusters
    >>> X = np.random.default_rng(0).normal(size=(200, 3)) + np.repeat([[0], [6]], 100, axis=0)
    >>> choose_n_clusters(CpuBackend(), X, range(1, 6), seed=0).n_clusters
    2
    """
    numbers = _check_candidates(candidates)
    most = max(numbers)
    if len(X) > MAX_ROWS:
        X = X[np.sort(permutations(stream(seed, Purpose.K_ROWS), len(X))[0, :MAX_ROWS])]
    table, varying = prepare(X, seed)
    if len(X) < 2 * SMALLEST or not len(varying):
        nothing = np.full(len(numbers), np.nan)
        text = f"X has fewer than {2 * SMALLEST} rows" if len(varying) else "All columns of X are constant"
        return NClustersEvidence(numbers[0], numbers, dict.fromkeys(EVIDENCE, nothing), f"{text}.", varying)
    columns = informative_columns(table, int(stream(seed, Purpose.K_COLUMNS)[0]))
    table = np.ascontiguousarray(table[:, columns])
    partitions = grow_for_all_k(backend, table, most, n_trees, seed)
    shown = examine(backend, table, partitions, most, seed)
    nulls = []
    for i in range(n_null):
        null = without_clusters(table, seed, i)
        nulls.append(examine(backend, null, grow_for_all_k(backend, null, most, n_trees, seed), most, seed))
    found = {"p_value": shown.p_values, "depth": shown.depths, "lifetime": shown.lifetimes}
    found |= _compare(nulls, most) | forest_evidence(backend, partitions, most, seed)
    evidence = {name: found[name][np.array(numbers) - 1] for name in EVIDENCE}
    chosen, reason = _decide(np.array(numbers, dtype=np.int32), evidence, level)
    return NClustersEvidence(chosen, numbers, evidence, reason, varying[columns])


def _check_candidates(candidates: Sequence[int]) -> tuple[int, ...]:
    """Sort the candidates, each once."""
    wrong = [c for c in candidates if not integer(1).test(c)]
    if wrong or not len(candidates):
        raise ValueError(
            f"candidates={candidates!r} must be numbers of clusters, each an integer of at least 1, such as "
            "range(1, 11)."
        )
    return tuple(sorted({int(c) for c in candidates}))


def examine(backend: Backend, table: FloatArray, partitions: IntArray, most: int, seed: int) -> Examined:
    """Split the rows into every number of groups and test whether they are apart."""
    if table.shape[1] > MAX_AXES:
        left, spread, _ = principal_axes(table)
        table = left * spread
    splits = split_groups(backend, partitions, most + 1)
    heights = np.concatenate([[1.0], splits.heights, np.zeros(most + 1)])[: most + 1]
    p_values, depths = np.full((2, most), np.nan)
    for k, labels in enumerate(splits.labels[1:most], start=2):
        valleys = find_valleys(table, labels, int(stream(seed, Purpose.K_FOLDS, k)[0]))
        least = np.unravel_index(np.argmax(valleys.p_values), valleys.p_values.shape)
        p_values[k - 1], depths[k - 1] = valleys.p_values[least], valleys.depths[least]
    return Examined(heights[:-1] - heights[1:], p_values, depths)


def grow_for_all_k(backend: Backend, table: FloatArray, most: int, n_trees: int, seed: int) -> IntArray:
    """Grow partitions by K-means on random columns with random numbers of clusters, from 2 to the root of n or beyond.

    A tree has from sqrt(p) to 2 sqrt(p) of the columns. Trees with fewer distinct rows than clusters are left out.
    """
    n, p = table.shape
    backend.load(table)
    trees = np.arange(n_trees)
    few = math.isqrt(max(0, p - 1)) + 1
    sizes = few + integers(stream(seed, Purpose.K_FEATURE_COUNTS, trees), min(p, 2 * few) - few + 1)
    clusters = 2 + integers(stream(seed, Purpose.K_BASE_CLUSTERS, trees), max(most + 2, math.isqrt(n)) - 1)
    orders = permutations(stream(seed, Purpose.K_FEATURES, trees), p)
    features = [np.sort(order[:size]) for order, size in zip(orders, sizes, strict=True)]
    runs = backend.kmeans(KMeansJobs(features, clusters, stream(seed, Purpose.K_TREES, trees), n_init=1, max_iter=30))
    solved = np.flatnonzero(runs.solved)
    if not len(solved):
        return np.zeros((1, n), dtype=np.int32)
    return backend.assign([features[t] for t in solved], [runs.centers[int(t)] for t in solved])


def _compare(nulls: Sequence[Examined], most: int) -> dict[str, FloatArray]:
    """Summarise what tables without clusters show; numbers of groups that they do not split into have depth 0."""
    depths = np.nan_to_num(np.array([null.depths for null in nulls]).reshape(-1, most))
    p_values = np.nan_to_num(np.array([null.p_values for null in nulls]).reshape(-1, most), nan=1.0)
    none = np.full(most, np.nan)
    mean, sd = (depths.mean(axis=0), depths.std(axis=0)) if len(nulls) else (none, none)
    smallest = p_values.min(axis=0, initial=1.0)
    longest = np.array([null.lifetimes for null in nulls]).reshape(-1, most).max(axis=0, initial=0.0)
    for array in (mean, sd, smallest):
        array[0] = np.nan
    return {"null_mean": mean, "null_sd": sd, "null_p_value": smallest, "null_lifetime": longest}


def forest_evidence(backend: Backend, partitions: IntArray, most: int, seed: int) -> dict[str, FloatArray]:
    """Compute consensus statistics for 1, ..., most clusters from halves of the forest, on at most 200 rows."""
    n_trees, n = partitions.shape
    rows = np.sort(permutations(stream(seed, Purpose.K_HALVES), n)[0, :HALF_ROWS])
    labels = np.ascontiguousarray(partitions[:, rows])
    cuts = []  # for each half of each halving, the labels for every number
    for order in permutations(stream(seed, Purpose.K_HALVES, np.arange(1, HALVINGS + 1)), n_trees):
        for half in np.array_split(order, 2):
            found = split_groups(backend, labels[np.sort(half)], most).labels if len(half) else [labels[0] * 0]
            cuts.append(found + found[-1:] * (most - len(found)))
    shares = np.array([_consensus_shares(backend, np.array([cut[k] for cut in cuts])) for k in range(most)])
    low, high = AMBIGUOUS
    # The area under the distribution function of numbers in [0, 1] is 1 minus their mean.
    area = 1 - shares.mean(axis=1)
    growth = np.diff(area[1:]) / np.maximum(area[1:-1], np.finfo(float).tiny)
    halves = list(zip(cuts[::2], cuts[1::2], strict=True))
    agreement = [np.mean([adjusted_rand(a[k], b[k]) for a, b in halves]) for k in range(most)]
    found_evidence = {
        "stability": np.array(agreement),
        "pac": ((shares > low) & (shares < high)).mean(axis=1),
        "cdf_area": area,
        "delta_area": np.concatenate([[np.nan], area[1:2], growth]),
    }
    for values in found_evidence.values():
        values[0] = np.nan
    return found_evidence | {"eigengap": _eigengaps(coassociate(backend, labels, labels), most)}


def _consensus_shares(backend: Backend, cuts: IntArray) -> FloatArray:
    """Compute P over pairs of distinct rows."""
    shares: FloatArray = coassociate(backend, cuts, cuts)[np.triu_indices(cuts.shape[1], 1)]
    return shares


def _eigengaps(P: FloatArray, most: int) -> FloatArray:
    """Subtract from each leading eigenvalue of the normalised graph P the next one."""
    root = np.sqrt(P.sum(axis=0))
    values = np.linalg.eigvalsh(P / np.outer(root, root))[::-1]
    gaps: FloatArray = -np.diff(np.concatenate([values, np.zeros(most + 1)])[: most + 1])
    return gaps


def _decide(numbers: IntArray, evidence: dict[str, FloatArray], level: float) -> tuple[int, str]:
    """Choose a candidate and say why: see `choose_n_clusters`."""
    p = np.nan_to_num(evidence["p_value"], nan=1.0)
    limit = min(level, float(np.nan_to_num(evidence["null_p_value"], nan=1.0).min()))
    several = numbers > 1
    apart = several & (p <= limit)
    best = int(np.flatnonzero(apart)[-1]) if apart.any() else 0
    lasting = int(np.argmax(np.where(several, evidence["lifetime"], -np.inf)))
    usual = float(np.where(several, evidence["null_lifetime"], 0.0).max())
    longer = float(evidence["lifetime"][lasting]) / usual if usual > 0 else 0.0
    if lasting > best and p[lasting] <= min(DOUBTFUL, limit * longer**2):
        return int(numbers[lasting]), (
            f"{numbers[lasting]} clusters are likely to be apart (p-value {p[lasting]:.2g}) and last {longer:.1f} "
            "times as long in the dendrogram as any number does without clusters."
        )
    if apart.any():
        return int(numbers[best]), (
            f"{numbers[best]} is the largest candidate whose clusters are all apart (p-value {p[best]:.2g})."
        )
    if numbers[0] > 1:
        return int(numbers[0]), "No candidate has all its clusters apart: the lowest one is taken."
    return 1, f"No candidate above 1 has all its clusters apart (smallest p-value {p.min():.2g})."
