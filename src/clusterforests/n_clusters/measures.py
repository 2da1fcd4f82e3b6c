"""How well each number of clusters suits the rows: measures that need no labels.

All numbers are cut from one forest. What depends on chance is compared with halves of the forest, and with forests that
were made of two halves of the rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clusterforests._base.adjusted_rand import adjusted_rand
from clusterforests._base.random import Purpose, permutations, stream
from clusterforests._base.typing import FloatArray, IntArray
from clusterforests.backends import Backend
from clusterforests.combining.affinity import coassociate, collapse
from clusterforests.combining.cut_numbers import cut_numbers
from clusterforests.combining.settings import CutSettings
from clusterforests.diagnostics.shares import cluster_shares

HALVINGS = 4
AMBIGUOUS = (0.1, 0.9)


@dataclass(frozen=True)
class JudgedRows:
    """The rows by which numbers of clusters are judged."""

    places: FloatArray  # (m, d): scaled features or their principal components
    weights: FloatArray  # (m,)
    labels: IntArray  # (T, m): in the trees of the forest
    new: tuple[IntArray, IntArray]  # in the trees of two forests, each made of one half of the rows


def measure_numbers(
    backend: Backend, rows: JudgedRows, numbers: Sequence[int], settings: CutSettings, seed: int
) -> dict[str, FloatArray]:
    """Compute the evidence for each number, which are 2 or more: arrays of shape (n_numbers,), NaN where unknown."""

    def cut(labels: IntArray) -> list[IntArray | None]:
        signatures = collapse(np.ascontiguousarray(labels), rows.weights)
        groups = cut_numbers(backend, signatures, settings, numbers)
        return [None if found is None else found[signatures.inverse] for found in groups]

    every = cut(rows.labels)
    orders = permutations(stream(seed, Purpose.K_HALVES, np.arange(HALVINGS)), len(rows.labels))
    halves = [tuple(cut(rows.labels[np.sort(part)]) for part in np.array_split(order, 2)) for order in orders]
    new = tuple(cut(labels) for labels in rows.new)
    distances = _distances(rows.places)
    found = [
        _measure(rows, labels, distances, [(a[i], b[i]) for a, b in halves], (new[0][i], new[1][i]))
        for i, labels in enumerate(every)
    ]
    measures = {name: np.array([one[name] for one in found]) for name in found[0]}
    measures["eigengap"] = _eigengaps(backend, rows, max(numbers))[np.array(numbers) - 1]
    measures["delta_area"] = _growth(numbers, measures["cdf_area"])
    return measures


def _measure(
    rows: JudgedRows,
    labels: IntArray | None,
    distances: FloatArray,
    halves: list[tuple[IntArray | None, IntArray | None]],
    new: tuple[IntArray | None, IntArray | None],
) -> dict[str, float]:
    names = (
        "shares_silhouette",
        "silhouette",
        "calinski_harabasz",
        "stability",
        "new_rows",
        "pac",
        "cdf_area",
    )
    if labels is None:
        return dict.fromkeys(names, np.nan)
    w = rows.weights
    shares = cluster_shares(rows.labels, labels)
    known = [(a, b) for a, b in halves if a is not None and b is not None]
    consensus = _consensus(known)
    low, high = AMBIGUOUS
    values = (
        float(np.average(_closeness(shares, labels), weights=w)),
        float(np.average(_silhouette(distances, labels, w), weights=w)),
        _variance_ratio(rows.places, labels, w),
        float(np.mean([adjusted_rand(a, b, w, replacement=True) for a, b in known])) if known else np.nan,
        np.nan if new[0] is None or new[1] is None else adjusted_rand(new[0], new[1], w, replacement=True),
        float(((consensus > low) & (consensus < high)).mean()) if known else np.nan,
        float(1 - consensus.mean()) if known else np.nan,
    )
    return dict(zip(names, values, strict=True))


def _closeness(shares: FloatArray, labels: IntArray) -> FloatArray:
    """Compare each row's share of trees with its own cluster to that with the next: 1 if it shares no other's."""
    rows = np.arange(len(labels))
    own = shares[rows, labels]
    others = shares.copy()
    others[rows, labels] = 0.0
    next_best = others.max(axis=1)
    larger = np.maximum(own, next_best)
    closeness: FloatArray = np.divide(own - next_best, larger, out=np.zeros(len(rows)), where=larger > 0)
    return closeness


def _distances(places: FloatArray) -> FloatArray:
    squares = np.square(places).sum(axis=1)
    distances: FloatArray = np.sqrt(np.maximum(squares[:, None] + squares - 2 * places @ places.T, 0.0))
    np.fill_diagonal(distances, 0.0)
    return distances


def _silhouette(distances: FloatArray, labels: IntArray, weights: FloatArray) -> FloatArray:
    """Compute the silhouette of each row, where a row of weight 2 is two rows; 0 for a row alone."""
    rows, k = np.arange(len(labels)), int(labels.max()) + 1
    member = np.zeros((len(labels), k))
    member[rows, labels] = weights
    sizes = member.sum(axis=0)
    sums = distances @ member
    means = sums / sizes
    others = sizes[labels] - np.minimum(weights, 1.0)
    own = np.divide(sums[rows, labels], others, out=np.zeros(len(rows)), where=others > 0)
    means[rows, labels] = np.inf
    nearest = means.min(axis=1)
    larger = np.maximum(own, nearest)
    silhouette: FloatArray = np.divide(
        nearest - own, larger, out=np.zeros(len(rows)), where=(others > 0) & (larger > 0)
    )
    return silhouette


def _variance_ratio(places: FloatArray, labels: IntArray, weights: FloatArray) -> float:
    """Compute the index of Calinski and Harabasz of weighted rows."""
    k, total = int(labels.max()) + 1, weights.sum()
    mass = np.bincount(labels, weights, minlength=k)
    means = np.array([np.bincount(labels, weights * column, minlength=k) for column in places.T]).T / mass[:, None]
    centre = np.average(places, axis=0, weights=weights)
    between = float((mass * np.square(means - centre).sum(axis=1)).sum())
    within = float((weights * np.square(places - means[labels]).sum(axis=1)).sum())
    freedom = max(total - k, 1.0)
    return float(between / max(k - 1, 1) / max(within / freedom, np.finfo(float).tiny))


def _consensus(cuts: list[tuple[IntArray, IntArray]]) -> FloatArray:
    """Compute, for pairs of rows, the share of the cuts in which they are together."""
    together = 0.0
    for one in (half for pair in cuts for half in pair):
        together = together + (one[:, None] == one[None, :])
    if not cuts:
        return np.empty(0)
    share = np.asarray(together) / (2 * len(cuts))
    pairs: FloatArray = share[np.triu_indices(len(share), 1)]
    return pairs


def wide_gaps(backend: Backend, rows: JudgedRows, most: int, share: float) -> list[int]:
    """Find the numbers, from 2, with gaps between eigenvalues that are at least a share of the widest."""
    gaps = _eigengaps(backend, rows, most)[1:]
    return [int(i) + 2 for i in np.flatnonzero(gaps >= share * gaps.max())]


def _eigengaps(backend: Backend, rows: JudgedRows, most: int) -> FloatArray:
    """Subtract from each leading eigenvalue of the normalised graph of the shares the next one."""
    P = coassociate(backend, rows.labels, rows.labels)
    root = np.sqrt(rows.weights / np.maximum(P @ rows.weights, np.finfo(float).tiny))
    values = np.linalg.eigvalsh(P * np.outer(root, root))[::-1]
    gaps: FloatArray = -np.diff(np.concatenate([values, np.zeros(most + 1)])[: most + 1])
    return gaps


def _growth(numbers: Sequence[int], areas: FloatArray) -> FloatArray:
    """Compute by how much the area grows from one number to the next; for 2 it is the area."""
    growth = np.full(len(areas), np.nan)
    for i, k in enumerate(numbers):
        if k == 2:
            growth[i] = areas[i]
        elif i and numbers[i - 1] == k - 1:
            growth[i] = (areas[i] - areas[i - 1]) / max(areas[i - 1], np.finfo(float).tiny)
    return growth
