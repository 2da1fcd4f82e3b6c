"""What speaks for the number of clusters."""

import contextlib
from typing import Any

from clusterforests.diagnostics import consensus_cdf, pac, stability
from clusterforests.forest_view import ForestView
from clusterforests.n_clusters.evidence import MEASURES, NClustersEvidence
from clusterforests.report.certainty import Certainty
from clusterforests.report.json_values import rounded, rounded_list

SHOWN = ("mean_rank", *MEASURES, "valley_p_value")
HALVED = 7  # numbers, those next to the chosen one, whose half forests are compared


def number_entry(view: ForestView, sure: Certainty) -> dict[str, Any] | None:
    """Describe what the number was chosen from; if it was given, how far half forests agree on pairs of rows."""
    choice = view.n_clusters_evidence
    if choice is not None:
        evidence = {name: rounded_list(choice.evidence[name]) for name in SHOWN}
        return {
            "chosen": True,
            "candidates": list(choice.candidates),
            "evidence": evidence | _compare_halves(view, choice, sure),
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


def _compare_halves(view: ForestView, choice: NClustersEvidence, sure: Certainty) -> dict[str, list[float | None]]:
    """Compute stability and PAC of the numbers next to the chosen one, as for the chosen one itself."""
    near = sorted(choice.candidates, key=lambda k: abs(k - choice.n_clusters))[:HALVED]
    found: dict[str, list[float | None]] = {"stability": [], "pac": []}
    for k in choice.candidates:
        halves = sure.halves if k == choice.n_clusters else None
        if halves is None and k in near and k > 1 and sure.halves is not None:
            with contextlib.suppress(ValueError):  # half of the trees may tell too few groups apart
                halves = view.forest.at(k).half_cuts(len(sure.halves.labels) // 2)
        known = halves is not None and k > 1
        found["stability"].append(rounded(stability(halves).mean) if known else None)
        found["pac"].append(rounded(pac(halves)) if known else None)
    return found
