"""What speaks for the number of clusters."""

from typing import Any

from clusterforests.diagnostics import consensus_cdf, pac
from clusterforests.forest_view import ForestView
from clusterforests.n_clusters.evidence import MEASURES
from clusterforests.report.certainty import Certainty
from clusterforests.report.json_values import rounded, rounded_list

SHOWN = ("mean_rank", *MEASURES, "pac")


def number_entry(view: ForestView, sure: Certainty) -> dict[str, Any] | None:
    """Describe what the number was chosen from; if it was given, how far half forests agree on pairs of rows."""
    choice = view.n_clusters_evidence
    if choice is not None:
        return {
            "chosen": True,
            "candidates": list(choice.candidates),
            "evidence": {name: rounded_list(choice.evidence[name]) for name in SHOWN},
            "reason": choice.reason,
            "value": int(choice.n_clusters),
        }
    if sure.halves is None:
        return None
    found = consensus_cdf(sure.halves)
    return {
        "chosen": False,
        "points": rounded_list(found.points),
        "cdf": rounded_list(found.cdf),
        "pac": rounded(pac(found)),
        "rows": found.n_rows,
        "value": view.n_clusters,
    }
