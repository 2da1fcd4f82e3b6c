"""What a number of clusters was chosen by."""

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._base.typing import FloatArray, IndexArray

# Measures by which numbers are ranked, and what they are called in a sentence. More is better for all.
MEASURES = {
    "shares_silhouette": "shares of trees",
    "silhouette": "silhouette",
    "calinski_harabasz": "variance explained",
    "stability": "other trees",
    "new_rows": "other rows",
}
EVIDENCE = ("mean_rank", *MEASURES, "eigengap", "pac", "cdf_area", "delta_area")


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
        NaN where there is none, as for 1. "mean_rank" over five measures, by which the number is chosen (0: best by
        all): "shares_silhouette", how much more trees a row shares with its cluster than with the next;
        "silhouette" and "calinski_harabasz" on the scaled features that trees use; "stability" between halves of the
        forest (mean adjusted Rand index), and "new_rows" between forests of two halves of the rows. Beside them
        "eigengap" of the shares, and from halves of the forest "pac", "cdf_area" and "delta_area" (Monti et al. 2003).
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
            pandas = importlib.import_module("pandas")
        except ImportError as error:
            raise ImportError("to_frame needs pandas: install it, or read the arrays in `evidence`.") from error
        return pandas.DataFrame(self.evidence, index=pandas.Index(self.candidates, name="n_clusters"))


def mean_ranks(measures: dict[str, FloatArray]) -> FloatArray:
    """Average the ranks of the candidates over the measures, from 0 for the best to 1; a missing value is the last."""
    ranks = []
    for name in MEASURES:
        values = np.nan_to_num(measures[name], nan=-np.inf)
        below = (values[None, :] > values[:, None]).sum(axis=1)
        ranks.append(below / max(1, len(values) - 1))
    mean: FloatArray = np.mean(ranks, axis=0)
    return mean
