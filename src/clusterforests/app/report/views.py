"""What the page shows of one number of clusters: everything that changes as the number is switched."""

import contextlib
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray
from clusterforests._utils.devices import in_memory
from clusterforests.app.description.clustering import Clustering, measure
from clusterforests.app.description.described_table import DescribedTable, shorten
from clusterforests.app.description.description import describe_clusters, rank_table
from clusterforests.app.description.traits import Trait
from clusterforests.app.description.words import number_pair
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
from clusterforests.inspection import consensus_cdf, pac
from clusterforests.inspection.cluster_tree import NUMBERS, ClusterTree, build_tree, follow, shared_rows


@dataclass(frozen=True)
class Shared:
    """What does not change with the number of clusters."""

    chosen: Any  # the evidence for the number of clusters; None if it was given
    doubts: list[str]  # whether this is the table of the forest
    table: DescribedTable
    ranks: FloatArray
    columns: list[DrawnColumn]
    listed: IndexArray  # columns in the table of features
    pairs: MappedPairs
    points: PlacedRows
    rows: IndexArray  # that the page has
    parts: int  # of which memberships of rows are whole numbers


def prepare(clustering: Clustering, table: DescribedTable, doubts: list[str], limits: PageLimits) -> Shared:
    """Choose and compute what all numbers of clusters share, by the forest's own."""
    listed = listed_columns(clustering.forest, table, variance_between(clustering, table), limits)
    features = list(dict.fromkeys(table.columns[j].feature for j in listed.tolist()))
    rows = kept_rows(clustering, limits)
    return Shared(
        chosen=clustering.forest.n_clusters_evidence_,
        doubts=doubts,
        table=table,
        ranks=rank_table(clustering, table),
        columns=draw_columns(table, features, limits),
        listed=listed,
        pairs=map_pairs(clustering, limits),
        points=place_some(clustering, limits),
        rows=rows,
        parts=EXACT if len(rows) <= limits.exact_rows else ROUGH,
    )


def numbers_shown(clustering: Clustering, limits: PageLimits) -> list[int]:
    """Choose the numbers of clusters that the page can be switched to: those nearest to the forest's own."""
    chosen, k = clustering.forest.n_clusters_evidence_, clustering.n_clusters
    judged = set(NUMBERS) if chosen is None or len(chosen.candidates) == 1 else set(chosen.candidates)
    most = limits.numbers if len(clustering.labels) <= limits.many_rows else limits.numbers_of_many
    if chosen is None:
        judged |= set(range(max(2, k - most // 2), k + most // 2 + 1))
    near = sorted((judged | {k}) - {1} | ({1} & {k}), key=lambda number: (abs(number - k), -number))
    return sorted(near[:most])


def cut_into_each(clustering: Clustering, limits: PageLimits) -> list[Clustering]:
    """Cut the forest into each number that its trees can be cut into."""
    found = []
    for number in numbers_shown(clustering, limits):
        if number == clustering.n_clusters:
            found.append(clustering)
            continue
        with contextlib.suppress(ValueError):  # the trees may tell too few groups apart
            other = clustering.forest.recut(number)
            if other.n_clusters_ == number:
                found.append(measure(other, min(limits.splits, limits.splits_of_others)))
    return found


def colours(cuts: list[Clustering], chosen: int) -> list[IndexArray]:
    """Number the colours of the clusters: those of the chosen number are their own, others follow what they share."""
    labels = [cut.labels for cut in cuts]
    start = next(i for i, cut in enumerate(cuts) if cut.n_clusters == chosen)
    up = follow([shared_rows(a, b) for a, b in pairwise(labels[start:])], chosen)
    down = follow([shared_rows(a, b) for a, b in pairwise(labels[start::-1])], chosen)
    return [*down[:0:-1], *up]


def view_entry(cut: Clustering, colour: IndexArray, shared: Shared, limits: PageLimits) -> dict[str, Any]:
    """Describe one number of clusters."""
    k, table = cut.n_clusters, shared.table
    labels = cut.labels[table.rows]
    description = describe_clusters(cut, table, ranks=shared.ranks, chosen=shared.chosen)
    drawn = shared.columns if 1 < k <= limits.drawn_clusters else []
    return {
        "k": k,
        "colours": colour.tolist(),
        "answer": description.answer,
        "caveats": [*shared.doubts, *description.caveats],
        "description": [
            {"name": told.name, "text": told.text, "traits": [trait_line(trait) for trait in told.traits]}
            for told in description.clusters
        ],
        "ambiguous": description.ambiguous.text if description.clusters else None,
        "stability": stability_entry(cut),
        "clusters": cluster_entries(cut),
        "between": memberships_between_clusters(cut, limits),
        "silhouettes": silhouette_counts(cut),
        "shares": rounded_list(variance_between(cut, table, shared.listed)),
        "counts": [column.counts(labels, k) for column in drawn],
        "order": map_order(cut, shared.pairs),
        "map_labels": cut.labels[shared.pairs.rows].tolist(),
        "points": cut.labels[shared.points.rows].tolist(),
        "point_memberships": _percent(cut, shared.points.rows),
        "rows": row_entry(cut, shared.rows, shared.parts),
        "pairs": pair_entry(cut),
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


def pair_entry(clustering: Clustering) -> dict[str, Any] | None:
    """Describe how far half forests agree on pairs of rows."""
    if clustering.halves is None:
        return None
    found = consensus_cdf(clustering.halves)
    return {"cdf": rounded_list(found.cdf), "pac": rounded(pac(clustering.halves)), "rows": found.n_rows}


def _percent(clustering: Clustering, rows: IndexArray) -> list[int]:
    own = clustering.memberships[rows, clustering.labels[rows]]
    return [int(share) for share in np.rint(100 * own)]


# What speaks for the number of clusters, and how clusters split as it grows.

SHOWN = ("mean_rank", "silhouette", "calinski_harabasz", "new_rows", "valley_p_value")


def number_entry(clustering: Clustering, cuts: list[Clustering]) -> dict[str, Any]:
    """Describe what the number was chosen from, and how far half forests agree for the numbers that are shown."""
    choice = clustering.forest.n_clusters_evidence_
    judged = [] if choice is None else list(choice.candidates)
    candidates = sorted({*judged, *(cut.n_clusters for cut in cuts)})
    evidence: dict[str, list[float | None]] = {}
    if choice is not None:
        for name in SHOWN:
            values = dict(zip(judged, rounded_list(choice.evidence[name]), strict=True))
            evidence[name] = [values.get(k) for k in candidates]
    shown = {cut.n_clusters: cut for cut in cuts if cut.n_clusters > 1}
    agreement = {k: rounded(cut.stability.mean) for k, cut in shown.items() if cut.stability is not None}
    evidence["stability"] = [agreement.get(k) for k in candidates]
    ambiguous = {k: rounded(pac(cut.halves)) for k, cut in shown.items() if cut.halves is not None}
    evidence["pac"] = [ambiguous.get(k) for k in candidates]
    return {
        "chosen": choice is not None,
        "candidates": candidates,
        "evidence": evidence,
        "reason": None if choice is None else choice.reason,
        "value": clustering.n_clusters,
    }


def tree_entry(cuts: list[Clustering], table: DescribedTable) -> dict[str, Any] | None:
    """Describe which clusters split from which, and the columns that drive each split."""
    if len(cuts) < 2:
        return None
    labels, forest = [cut.labels for cut in cuts], cuts[0].forest
    weights = np.ones(len(labels[0])) if forest.sample_weight_ is None else in_memory(forest.sample_weight_)
    whole = build_tree(labels, weights)
    inside = [found[table.rows] for found in labels]
    named: ClusterTree | None = None
    if all(int(found.max()) == int(part.max()) for found, part in zip(labels, inside, strict=True)):
        named = build_tree(inside, weights[table.rows], table.values, table.encoded, table.names)
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
