"""What speaks for the number of clusters, and how clusters split as it grows."""

from itertools import pairwise
from typing import Any

import numpy as np

from clusterforests.diagnostics import cdf_area, delta_area, pac
from clusterforests.diagnostics.cluster_tree import ClusterTree, build_tree
from clusterforests.forest_view import ForestView
from clusterforests.n_clusters.evidence import MEASURES
from clusterforests.report.json_values import rounded, rounded_list
from clusterforests.report.views import OneNumber
from clusterforests.story.table_sample import TableSample, shorten

SHOWN = ("mean_rank", *MEASURES, "valley_p_value")


def number_entry(view: ForestView, cuts: list[OneNumber]) -> dict[str, Any]:
    """Describe what the number was chosen from, and how far half forests agree for the numbers that are shown."""
    choice = view.n_clusters_evidence
    judged = [] if choice is None else list(choice.candidates)
    candidates = sorted({*judged, *(cut.view.n_clusters for cut in cuts)})
    evidence: dict[str, list[float | None]] = {}
    if choice is not None:
        for name in SHOWN:
            values = dict(zip(judged, rounded_list(choice.evidence[name]), strict=True))
            evidence[name] = [values.get(k) for k in candidates]
    shown = {cut.view.n_clusters: cut.sure for cut in cuts if cut.view.n_clusters > 1}
    agreement = {k: sure.stability for k, sure in shown.items() if sure.stability is not None}
    evidence["stability"] = [rounded(agreement[k].mean) if k in agreement else None for k in candidates]
    halves = {k: sure.halves for k, sure in shown.items() if sure.halves is not None}
    evidence["pac"] = [rounded(pac(halves[k])) if k in halves else None for k in candidates]
    return {
        "chosen": choice is not None,
        "candidates": candidates,
        "evidence": evidence,
        "reason": None if choice is None else choice.reason,
        "value": view.n_clusters,
        "delta": _growth(cuts),
    }


def _growth(cuts: list[OneNumber]) -> dict[str, Any] | None:
    """Compute the delta area over the first run of consecutive numbers from 2 on; None if there is none."""
    known = [cut for cut in cuts if cut.view.n_clusters > 1 and cut.sure.halves is not None]
    run = known[:1]
    for before, after in pairwise(known):
        if after.view.n_clusters != before.view.n_clusters + 1:
            break
        run.append(after)
    if len(run) < 2:
        return None
    growth = delta_area([cdf_area(cut.sure.halves) for cut in run])
    return {"candidates": [cut.view.n_clusters for cut in run], "values": rounded_list(growth)}


def tree_entry(view: ForestView, cuts: list[OneNumber], table: TableSample) -> dict[str, Any] | None:
    """Describe which clusters split from which, and the columns that drive each split."""
    if len(cuts) < 2:
        return None
    weights = np.ones(len(view.labels)) if view.weights is None else view.weights
    labels = [cut.sure.labels for cut in cuts]
    whole = build_tree(labels, weights)
    inside = [found[table.rows] for found in labels]
    named: ClusterTree | None = None
    if all(int(found.max()) == int(part.max()) for found, part in zip(labels, inside, strict=True)):
        named = build_tree(inside, weights[table.rows], table.values, view.columns(), table.names)
    return {
        "numbers": list(whole.n_clusters),
        "sizes": [rounded_list(sizes) for sizes in whole.sizes],
        "overlaps": [[rounded_list(line) for line in overlap] for overlap in whole.overlaps],
        "splits": [
            {
                "step": split.step,
                "parent": split.parent,
                "children": list(split.children),
                "features": [shorten(feature.name) for feature in split.features],
            }
            for split in (whole if named is None else named).splits
        ],
    }
