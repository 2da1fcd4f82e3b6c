"""What the page shows of one number of clusters: everything that changes as the number is switched."""

import contextlib
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from clusterforests._base.typing import FloatArray, IndexArray
from clusterforests.diagnostics import consensus_cdf, pac
from clusterforests.diagnostics.cluster_tree import NUMBERS, follow, shared_rows
from clusterforests.forest_view import ForestView, view_of
from clusterforests.n_clusters.evidence import NClustersEvidence
from clusterforests.report.certainty import (
    cluster_entries,
    memberships_between_clusters,
    silhouette_counts,
    stability_entry,
)
from clusterforests.report.columns import DrawnColumn, draw_columns
from clusterforests.report.feature_tables import listed_columns, variance_between
from clusterforests.report.json_values import rounded, rounded_list
from clusterforests.report.limits import PageLimits
from clusterforests.report.points import PlacedRows, place_some
from clusterforests.report.row_lists import EXACT, ROUGH, MappedPairs, kept_rows, map_order, map_pairs, row_entry
from clusterforests.story.certainty import Certainty, measure_certainty
from clusterforests.story.column_words import words_for
from clusterforests.story.summary import as_said, rank_table, tell
from clusterforests.story.table_sample import TableSample
from clusterforests.story.traits import Trait
from clusterforests.story.words import number_pair


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
            other = view_of(view.forest.at(number))
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
    story = tell(view, sure, table, ranks=shared.ranks, chosen=shared.chosen)
    drawn = shared.columns if 1 < view.n_clusters <= limits.drawn_clusters else []
    return {
        "k": view.n_clusters,
        "colours": colour.tolist(),
        "answer": story.answer,
        "cautions": [*shared.doubts, *story.cautions],
        "story": [
            {"name": told.name, "text": told.text, "traits": [trait_line(trait) for trait in told.traits]}
            for told in story.clusters
        ],
        "doubtful": story.doubtful.text if story.clusters else None,
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
    return {"cdf": rounded_list(found.cdf), "pac": rounded(pac(found)), "rows": found.n_rows}


def _percent(sure: Certainty, rows: IndexArray) -> list[int]:
    own = sure.memberships[rows, sure.labels[rows]]
    return [int(share) for share in np.rint(100 * own)]
