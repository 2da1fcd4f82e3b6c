"""What a number of clusters was chosen by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clusterforests._base.typing import BoolArray, FloatArray, IndexArray

MEASURES = ("silhouette", "calinski_harabasz", "new_rows")  # by which numbers are ranked: more is better
EVIDENCE = ("mean_rank", *MEASURES, "valley_p_value", "eigengap")
LEVEL = 0.02  # p-value of a valley of density that parts two clusters


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


def with_islands(found: NClustersEvidence, n_islands: int) -> NClustersEvidence:
    """Count islands as clusters, where the other rows were judged without them."""
    number = found.n_clusters + n_islands
    islands = "a small group far" if n_islands == 1 else f"{n_islands} small groups far"
    without = "it" if n_islands == 1 else "them"
    return replace(
        found,
        n_clusters=number,
        candidates=tuple(k + n_islands for k in found.candidates),
        reason=f"{number} clusters: {islands} from all other rows and, without {without}, {found.reason}",
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
    apart: BoolArray = np.nan_to_num(measures["valley_p_value"], nan=1.0) <= LEVEL
    return apart
