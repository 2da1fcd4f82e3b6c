"""What the page shows of one number of clusters: everything that changes as the number is switched."""

import contextlib
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray
from clusterforests.app.description.description import as_said, describe_clusters, rank_table
from clusterforests.app.description.sentences import Certainty, measure_certainty
from clusterforests.app.description.table_sample import TableSample, shorten
from clusterforests.app.description.traits import Trait
from clusterforests.app.description.words import number_pair, words_for
from clusterforests.app.report.columns import DrawnColumn, draw_columns, listed_columns, variance_between
from clusterforests.app.report.json_values import PageLimits, rounded, rounded_list
from clusterforests.app.report.rows import (
    EXACT,
    ROUGH,
    MappedPairs,
    PlacedRows,
    cluster_entries,
    kept_rows,
    map_order,
    map_pairs,
    memberships_between_clusters,
    place_some,
    row_entry,
    silhouette_counts,
    stability_entry,
)
from clusterforests.forest_view import ForestView, view_of
from clusterforests.inspection import consensus_cdf, pac
from clusterforests.inspection.cluster_tree import NUMBERS, ClusterTree, build_tree, follow, shared_rows
from clusterforests.judge.evidence import MEASURES, NClustersEvidence


@dataclass(frozen=True)
class OneNumber:
    """A forest cut into one number of clusters, and how sure it is of them."""

    view: ForestView
    sure: Certainty


@dataclass(frozen=True)
class Shared:
    """What does not change with the number of clusters."""

    chosen: NClustersEvidence | None
    doubts: list[str]  # whether this is the table of the forest
    table: TableSample
    ranks: FloatArray
    columns: list[DrawnColumn]
    listed: IndexArray  # columns in the table of features
    pairs: MappedPairs
    points: PlacedRows
    rows: IndexArray  # that the page has
    parts: int  # of which memberships of rows are whole numbers


def prepare(view: ForestView, sure: Certainty, table: TableSample, doubts: list[str], limits: PageLimits) -> Shared:
    """Choose and compute what all numbers of clusters share, by the forest's own."""
    listed = listed_columns(view, table, variance_between(view, sure, table), limits)
    features = list(dict.fromkeys(table.columns[j].feature for j in listed.tolist()))
    rows = kept_rows(sure, limits)
    return Shared(
        chosen=view.n_clusters_evidence,
        doubts=doubts,
        table=table,
        ranks=rank_table(view, table),
        columns=draw_columns(as_said(view, table), words_for(view, table), features, limits),
        listed=listed,
        pairs=map_pairs(view, sure, limits),
        points=place_some(view, sure, limits),
        rows=rows,
        parts=EXACT if len(rows) <= limits.exact_rows else ROUGH,
    )


def numbers_shown(view: ForestView, limits: PageLimits) -> list[int]:
    """Choose the numbers of clusters that the page can be switched to: those nearest to the forest's own."""
    chosen = view.n_clusters_evidence
    judged = set(NUMBERS) if chosen is None or len(chosen.candidates) == 1 else set(chosen.candidates)
    most = limits.numbers if len(view.labels) <= limits.many_rows else limits.numbers_of_many
    k = view.n_clusters
    if chosen is None:
        judged |= set(range(max(2, k - most // 2), k + most // 2 + 1))
    near = sorted((judged | {k}) - {1} | ({1} & {k}), key=lambda number: (abs(number - k), -number))
    return sorted(near[:most])


def cut_into_each(view: ForestView, sure: Certainty, limits: PageLimits) -> list[OneNumber]:
    """Cut the forest into each number that its trees can be cut into."""
    fewer = replace(limits, splits=min(limits.splits, limits.splits_of_others))
    found = []
    for number in numbers_shown(view, limits):
        if number == view.n_clusters:
            found.append(OneNumber(view, sure))
            continue
        with contextlib.suppress(ValueError):  # the trees may tell too few groups apart
            other = view_of(view.forest.recut(number))
            if other.n_clusters == number:
                found.append(OneNumber(other, measure_certainty(other, fewer)))
    return found


def colours(cuts: list[OneNumber], chosen: int) -> list[IndexArray]:
    """Number the colours of the clusters: those of the chosen number are their own, others follow what they share."""
    labels = [cut.sure.labels for cut in cuts]
    start = next(i for i, cut in enumerate(cuts) if cut.view.n_clusters == chosen)
    up = follow([shared_rows(a, b) for a, b in pairwise(labels[start:])], chosen)
    down = follow([shared_rows(a, b) for a, b in pairwise(labels[start::-1])], chosen)
    return [*down[:0:-1], *up]


def view_entry(cut: OneNumber, colour: IndexArray, shared: Shared, limits: PageLimits) -> dict[str, Any]:
    """Describe one number of clusters."""
    view, sure, table = cut.view, cut.sure, shared.table
    labels = sure.labels[table.rows]
    description = describe_clusters(view, sure, table, ranks=shared.ranks, chosen=shared.chosen)
    drawn = shared.columns if 1 < view.n_clusters <= limits.drawn_clusters else []
    return {
        "k": view.n_clusters,
        "colours": colour.tolist(),
        "answer": description.answer,
        "caveats": [*shared.doubts, *description.caveats],
        "description": [
            {"name": told.name, "text": told.text, "traits": [trait_line(trait) for trait in told.traits]}
            for told in description.clusters
        ],
        "ambiguous": description.ambiguous.text if description.clusters else None,
        "stability": stability_entry(sure, view.n_trees),
        "clusters": cluster_entries(sure),
        "between": memberships_between_clusters(sure, limits),
        "silhouettes": silhouette_counts(sure),
        "shares": rounded_list(variance_between(view, sure, table, shared.listed)),
        "counts": [column.counts(labels, view.n_clusters) for column in drawn],
        "order": map_order(sure, shared.pairs),
        "map_labels": sure.labels[shared.pairs.rows].tolist(),
        "points": sure.labels[shared.points.rows].tolist(),
        "point_memberships": _percent(sure, shared.points.rows),
        "rows": row_entry(sure, shared.rows, shared.parts),
        "pairs": pair_entry(sure),
    }


def trait_line(trait: Trait) -> dict[str, Any]:
    """Describe a difference between a cluster and the rest."""
    between = None if trait.interval is None else " to ".join(number_pair(*trait.interval))
    return {
        "name": trait.column,
        "level": trait.level if between is None else between,
        "here": trait.shown[0],
        "others": trait.shown[1],
        "effect": rounded(trait.effect),
    }


def pair_entry(sure: Certainty) -> dict[str, Any] | None:
    """Describe how far half forests agree on pairs of rows."""
    if sure.halves is None:
        return None
    found = consensus_cdf(sure.halves)
    return {"cdf": rounded_list(found.cdf), "pac": rounded(pac(sure.halves)), "rows": found.n_rows}


def _percent(sure: Certainty, rows: IndexArray) -> list[int]:
    own = sure.memberships[rows, sure.labels[rows]]
    return [int(share) for share in np.rint(100 * own)]


# What speaks for the number of clusters, and how clusters split as it grows.

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
    }


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
