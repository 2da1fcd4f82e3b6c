"""What a number of clusters was chosen by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clusterforests._utils.arrays import BoolArray, FloatArray, IndexArray, IntArray
from clusterforests._utils.statistics import adjusted_rand
from clusterforests.backends import Backend
from clusterforests.consensus.affinity import coassociate, collapse
from clusterforests.consensus.methods import cut_numbers
from clusterforests.consensus.nodes import CutSettings

MEASURES = ("silhouette", "calinski_harabasz", "new_rows")  # by which numbers are ranked: more is better
EVIDENCE = ("mean_rank", *MEASURES, "valley_p_value", "eigengap")
APART_P_VALUE = 0.02  # p-value of a valley of density that parts two clusters


@dataclass(frozen=True)
class NClustersEvidence:
    """The number of clusters that was chosen, and why.

    Attributes
    ----------
    n_clusters : int
        The candidate that was chosen.
    candidates : tuple of int
        The numbers that were judged, ascending.
    evidence : dict of str to ndarray of shape (n_candidates,)
        NaN where there is none, as for 1. "mean_rank" over the measures (of the roots of ranks), by which the number is
        chosen (0: best by all): "silhouette" and "calinski_harabasz" on the scaled features that trees use, and
        "new_rows", how well forests of two halves of the rows agree (mean adjusted Rand index). A fourth speaks where
        the clusters of some number are all apart, by the "valley_p_value" of the least clear valley of density between
        two of them: lower numbers are then ruled out (their mean rank is infinite), and the next ones are preferred.
        Beside them "eigengap" of the shares. All are of the rows without small groups far from all others, which are a
        cluster each.
    reason : str
        One sentence, which names the runner-up.
    columns : ndarray of int
        The features that the number was chosen by.
    """

    n_clusters: int
    candidates: tuple[int, ...]
    evidence: dict[str, FloatArray]
    reason: str
    columns: IndexArray

    def to_frame(self) -> Any:
        """Return the evidence as a pandas DataFrame: a line for each candidate."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_frame needs pandas: install it, or read the arrays in `evidence`.") from error
        return pandas.DataFrame(self.evidence, index=pandas.Index(self.candidates, name="n_clusters"))


def with_rare_groups(found: NClustersEvidence, n_rare_groups: int) -> NClustersEvidence:
    """Count rare groups as clusters, where the other rows were judged without them."""
    number = found.n_clusters + n_rare_groups
    rare_groups = "a small group far" if n_rare_groups == 1 else f"{n_rare_groups} small groups far"
    without = "it" if n_rare_groups == 1 else "them"
    return replace(
        found,
        n_clusters=number,
        candidates=tuple(k + n_rare_groups for k in found.candidates),
        reason=f"{number} clusters: {rare_groups} from all other rows and, without {without}, {found.reason}",
    )


def ranked_measures(numbers: Sequence[int], measures: Mapping[str, FloatArray]) -> list[FloatArray]:
    """List the measures that speak, as numbers of which more is better; what is missing is the worst."""
    found = [np.nan_to_num(measures[name], nan=-np.inf) for name in MEASURES]
    apart = _apart(measures)
    if apart.any():
        k = np.array(numbers, dtype=np.float64)
        found.append(np.where(k >= k[apart].max(), -k, -np.inf))
    return found


def mean_ranks(numbers: Sequence[int], measures: Mapping[str, FloatArray]) -> FloatArray:
    """Average the roots of the ranks of the candidates over the measures, from 0 for the best to 1.

    Roots, so that being first counts more than not being among the last. Numbers below one whose clusters are all
    apart are too low: their rank is infinite.
    """
    ranks = [(values[None, :] > values[:, None]).sum(axis=1) for values in ranked_measures(numbers, measures)]
    mean: FloatArray = np.sqrt(np.array(ranks) / max(1, len(numbers) - 1)).mean(axis=0)
    apart = _apart(measures)
    if apart.any():
        mean[: np.flatnonzero(apart)[-1]] = np.inf
    return mean


def _apart(measures: Mapping[str, FloatArray]) -> BoolArray:
    apart: BoolArray = np.nan_to_num(measures["valley_p_value"], nan=1.0) <= APART_P_VALUE
    return apart


# How well each number of clusters suits the rows: measures that need no labels.
#
# All numbers are cut from one forest. Whether other rows would give the same clusters is seen by forests of two halves
# of the rows.


@dataclass(frozen=True)
class JudgedRows:
    """The rows by which numbers of clusters are judged."""

    points: FloatArray  # (m, d): scaled features or their principal components
    weights: FloatArray  # (m,)
    labels: IntArray  # (T, m): in the trees of the forest
    new: list[
        tuple[IntArray, IntArray]
    ]  # in the trees of two forests, each made of one half of the rows, several times


def measure_numbers(
    backend: Backend, rows: JudgedRows, numbers: Sequence[int], settings: CutSettings
) -> dict[str, FloatArray]:
    """Compute the evidence for each number, which are 2 or more: arrays of shape (n_numbers,), NaN where unknown."""

    def cut(labels: IntArray) -> list[IntArray | None]:
        signatures = collapse(np.ascontiguousarray(labels), rows.weights)
        groups = cut_numbers(backend, signatures, settings, numbers)
        return [None if found is None else found[signatures.inverse] for found in groups]

    every = cut(rows.labels)
    new = [(cut(first), cut(second)) for first, second in rows.new]
    distances = _distances(rows.points)
    silhouettes, ratios, agreements = np.full((3, len(numbers)), np.nan)
    for i, labels in enumerate(every):
        if labels is not None:
            silhouettes[i] = np.average(_silhouette(distances, labels, rows.weights), weights=rows.weights)
            ratios[i] = _variance_ratio(rows.points, labels, rows.weights)
        agreements[i] = _agreement([(a[i], b[i]) for a, b in new], rows.weights)
    gaps = _eigengaps(backend, rows, max(numbers))[np.array(numbers) - 1]
    return {"silhouette": silhouettes, "calinski_harabasz": ratios, "new_rows": agreements, "eigengap": gaps}


def _agreement(cuts: list[tuple[IntArray | None, IntArray | None]], weights: FloatArray) -> float:
    known = [adjusted_rand(a, b, weights, replacement=True) for a, b in cuts if a is not None and b is not None]
    return float(np.mean(known)) if known else np.nan


def _distances(points: FloatArray) -> FloatArray:
    squares = np.square(points).sum(axis=1)
    distances: FloatArray = np.sqrt(np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0.0))
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


def _variance_ratio(points: FloatArray, labels: IntArray, weights: FloatArray) -> float:
    """Compute the index of Calinski and Harabasz of weighted rows.

    Along a line it is divided by k + 1, as much as it grows where the rows have no gap.
    """
    k, total = int(labels.max()) + 1, weights.sum()
    sizes = np.bincount(labels, weights, minlength=k)
    means = np.array([np.bincount(labels, weights * column, minlength=k) for column in points.T]).T / sizes[:, None]
    centre = np.average(points, axis=0, weights=weights)
    between = float((sizes * np.square(means - centre).sum(axis=1)).sum())
    within = float((weights * np.square(points - means[labels]).sum(axis=1)).sum())
    freedom = max(total - k, 1.0)
    ratio = float(between / max(k - 1, 1) / max(within / freedom, np.finfo(float).tiny))
    return ratio / (k + 1) if points.shape[1] == 1 else ratio


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
