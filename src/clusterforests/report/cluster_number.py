"""What speaks for the number of clusters."""

from typing import Any

from clusterforests.diagnostics import consensus_cdf, pac
from clusterforests.forest_view import ForestView
from clusterforests.report.json_values import rounded, rounded_list
from clusterforests.report.limits import PageLimits
from clusterforests.report.table_sample import TableSample


def number_entry(view: ForestView, table: TableSample, limits: PageLimits) -> dict[str, Any] | None:
    """Describe what the number was chosen from; if it was given, how clearly pairs of rows are together or apart."""
    choice = view.n_clusters_evidence
    if choice is not None:
        return {
            "chosen": True,
            "candidates": list(choice.candidates),
            "evidence": {name: rounded_list(values) for name, values in choice.evidence.items()},
            "reason": choice.reason,
            "value": int(choice.n_clusters),
        }
    weights = view.weights_of(table.rows)
    if (len(table.rows) if weights is None else int((weights > 0).sum())) < 2:
        return None
    found = consensus_cdf(view.partitions(table.rows), max_rows=limits.pair_rows, weights=weights)
    return {
        "chosen": False,
        "points": rounded_list(found.points),
        "cdf": rounded_list(found.cdf),
        "pac": rounded(pac(found)),
        "rows": found.n_rows,
        "value": view.n_clusters,
    }
