"""What the numbers mean, in sentences: the answer, and what a statistician would warn about."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray
from clusterforests.app.description.table_sample import DescriptionLimits, TableSample
from clusterforests.app.description.words import counted, listed, quoted
from clusterforests.consensus.assignment import Sizes
from clusterforests.consensus.guidance import Guidance
from clusterforests.forest_view import ForestView
from clusterforests.inspection import HalfCuts, Stability, stability
from clusterforests.inspection.memberships import consensus_silhouette, mean_of, own_membership, sums_by_cluster
from clusterforests.inspection.stability import RECOVERED
from clusterforests.judge.evidence import NClustersEvidence

# What the user asked for and the clusters keep, in a sentence.

SHOWN_CLASSES = 6


def guided(view: ForestView) -> str:
    """Say what was kept; empty if nothing was asked for."""
    asked = view.constraints
    if asked is None:
        return ""
    kept = [] if asked.guidance is None else _rows(asked.guidance, view.known_clusters)
    kept += _sizes(asked.sizes, weighted=view.weights is not None)
    return f"Kept as asked: {'; '.join(kept)}."


def _rows(guidance: Guidance, clusters: dict[Any, int]) -> list[str]:
    """Describe what is known of rows, as it was joined: pairs that are a chain are one group."""
    sizes = np.bincount(guidance.unit[guidance.unit >= 0], minlength=guidance.n_units)
    groups = sizes[len(guidance.classes) :]
    groups = groups[groups > 1]
    kept = []
    if len(groups):
        kept.append(f"{counted(int(groups.sum()), 'row')} together in {counted(len(groups), 'group')}")
    if len(guidance.apart):
        kept.append(f"{counted(len(guidance.apart), 'pair')} of rows or groups apart")
    if guidance.classes:
        named = [f"{quoted(str(name))} is cluster {cluster}" for name, cluster in clusters.items()]
        few = listed(named) if len(named) <= SHOWN_CLASSES else f"{', '.join(named[:SHOWN_CLASSES])}, ..."
        kept.append(f"{counted(len(guidance.known), 'row')} in the clusters of their known classes ({few})")
    return kept


def _sizes(sizes: Sizes, *, weighted: bool) -> list[str]:
    least, most = float(np.max(sizes.least)), float(np.min(sizes.most))
    bounds = [f"at least {least:,.10g}"] * (least > 0) + [f"at most {most:,.10g}"] * (most < np.inf)
    return [f"clusters of {' and '.join(bounds)} {'in weight' if weighted else 'rows'}"] if bounds else []


# How sure a forest is of the whole clustering, of each cluster and of each row.

INTERVAL = 0.9  # share of the splits that the interval of the stability holds


@dataclass(frozen=True)
class Certainty:
    """What is known of every row and every cluster."""

    labels: IndexArray
    memberships: FloatArray  # (n, n_clusters)
    silhouette: FloatArray
    next_cluster: IndexArray  # the best other cluster of each row; -1 if there is none
    sizes: IndexArray
    consensus: FloatArray  # mean membership of each cluster's rows in it
    halves: HalfCuts | None  # clusterings by halves of the forest
    stability: Stability | None
    why_no_stability: str | None
    n_outliers: int = 0  # rows that belong to no cluster; they are no part of the sizes, and none of them is ambiguous


def measure_certainty(view: ForestView, limits: DescriptionLimits) -> Certainty:
    """Judge rows and clusters by the whole forest, stability by its halves."""
    labels, k = view.labels.astype(np.intp), view.n_clusters
    soft = view.memberships()
    others = soft.copy()
    others[np.arange(len(labels)), labels] = -1.0
    halves, found, reason = None, None, None
    try:
        halves = view.half_cuts(limits.splits)
        found = stability(halves, level=INTERVAL)
    except ValueError as error:  # a single tree, a single row, or too few rows with a weight
        halves, reason = None, str(error)
    inside = np.ones(len(labels), dtype=bool) if view.outliers is None else ~view.outliers
    silhouette = consensus_silhouette(soft, labels)
    return Certainty(
        labels=labels,
        memberships=soft,
        silhouette=np.where(inside, silhouette, np.maximum(silhouette, 0.0)),
        next_cluster=others.argmax(axis=1) if k > 1 else np.full(len(labels), -1),
        sizes=np.bincount(labels[inside], minlength=k),
        consensus=mean_of(sums_by_cluster(own_membership(soft, labels), labels, view.weights_of(), k)),
        halves=halves,
        stability=found,
        why_no_stability=reason,
        n_outliers=int((~inside).sum()),
    )


TRUSTED, UNSTABLE = RECOVERED, 0.6  # stability of a cluster (Hennig 2007)
FEW_ROWS = 8
SMALL_SHARE = 0.01
MANY_AMBIGUOUS = 0.1
MAX_LISTED = 6  # sizes or clusters in a sentence


def answer(view: ForestView, sure: Certainty, names: Sequence[str]) -> str:
    """Say what was found, in one to three sentences for the top of the page."""
    n, k = len(sure.labels), len(sure.sizes)
    if k == 1:
        apart = f" {_apart(sure)} apart from the others." if sure.n_outliers else ""
        if view.n_clusters_evidence is None:
            rows = f"{n - sure.n_outliers:,} of {n:,} rows" if apart else f"The {n:,} rows"
            return f"{rows} form one cluster, as requested.{apart}"
        return f"There are no clusters: the {n:,} rows cannot be told from rows without clusters.{apart}"
    sizes = [f"{size:,}" for size in sure.sizes]
    spread = f"of {listed(sizes)} rows" if k <= MAX_LISTED else f"of {min(sure.sizes):,} to {max(sure.sizes):,} rows"
    found = f"The {n:,} rows fall into {k} clusters, {spread}."
    if sure.n_outliers:
        inside = n - sure.n_outliers
        found = f"{inside:,} of {n:,} rows fall into {k} clusters, {spread}; {_apart(sure)} apart from all of them."
    return " ".join(filter(None, [found, repeated(view, names), agreement(sure), informative_features(view, "column")]))


def _apart(sure: Certainty) -> str:
    return "1 row lies" if sure.n_outliers == 1 else f"{sure.n_outliers:,} rows lie"


def repeated(view: ForestView, names: Sequence[str]) -> str:
    """Say which columns the clusters only repeat."""
    given = [names[j] for j in view.repeated_features]
    columns = [name if name.startswith("column ") else f"column {name!r}" for name in given]
    if not columns:
        return ""
    its, it = ("its values", "it") if len(columns) == 1 else ("the values of each", "them")
    return f"The clusters repeat {listed(columns)}: {its} are the clusters. To find others, leave {it} out."


def informative_features(view: ForestView, what: str) -> str:
    """Say how many features, called `what`, are informative, and which of them the trees could use."""
    n, informative, usable = (
        len(view.encoded_features),
        int((view.feature_importances > 0).sum()),
        len(view.usable_features),
    )
    if view.reduced:
        return f"The {n:,} {what}s were reduced to components, so none of them was tested alone."
    if np.isnan(view.feature_pvalues).any():
        return f"The model was saved before {what}s were tested, so which of them are informative is not known."
    if n == 1:
        return f"There is only one {what}."
    if informative == n:
        return f"All {n:,} {what}s are informative."
    if usable == informative:
        others = "the other was" if n - informative == 1 else f"the other {n - informative:,} were"
        return f"{informative:,} of {n:,} {what}s are informative; {others} left out of the trees."
    used = f"all {what}s" if usable == n else f"{usable:,} of them"
    if informative == 0:
        return f"No {what} is associated with the others, so none is known to be informative; the trees used {used}."
    return f"{informative:,} of {n:,} {what}s are informative; the trees used {used}."


def agreement(sure: Certainty) -> str:
    """Say how well the two halves of the forest agree."""
    if sure.stability is None:
        return ""
    mean = sure.stability.mean
    if mean >= 0.9:
        return "The two halves of the forest find almost the same clusters."
    if mean >= TRUSTED:
        return "The two halves of the forest find mostly the same clusters."
    if mean >= UNSTABLE:
        return "The two halves of the forest agree only in part: treat the borders between clusters as uncertain."
    return "The two halves of the forest disagree: do not rely on these clusters."


def caveats(
    view: ForestView, sure: Certainty, table: TableSample, chosen: NClustersEvidence | None = None
) -> list[str]:
    """List what to know before using the clusters, which may be others than those of the number that was chosen."""
    n, k = len(sure.labels), len(sure.sizes)
    found = []
    reason = view.settings["n_clusters"].reason
    if chosen is not None and chosen.n_clusters != k:
        found.append(f"{k} clusters are shown, but {chosen.n_clusters} would be chosen. {chosen.reason}")
    elif view.n_clusters_evidence is None:
        what = f"{k} clusters were" if k > 1 else "1 cluster was"
        found.append(
            f"{what} requested, not discovered. A forest always returns as many clusters as it is asked for, whether "
            'or not they exist: n_clusters="auto" judges how many there are.'
        )
        if reason != "given":
            found.append(reason)
    found += list(filter(None, [guided(view)])) + _about_clusters(sure) + _about_outliers(sure)
    if k > 1 and sure.stability is not None and sure.stability.mean < TRUSTED:
        found.append(agreement(sure))
    ambiguous = int((sure.silhouette < 0).sum())
    if ambiguous > MANY_AMBIGUOUS * n:
        found.append(
            f"{ambiguous:,} of {n:,} rows ({ambiguous / n:.0%}) have their highest membership in another cluster than "
            "their own."
        )
    if table.missing:
        cells = len(table.rows) * len(view.encoded_features)
        found.append(
            f"{table.missing:,} of {cells:,} cells ({table.missing / cells:.1%}) were missing. Each was filled in from "
            "similar rows, which makes the rows concerned look surer than they are."
        )
    if view.weights is not None:
        found.append("Rows had weights: sizes below count rows, while shares and means count weights.")
    if view.parameters["random_state"] is None:
        found.append("No random_state was set: another run will differ a little. Set one to repeat this run exactly.")
    if sure.stability is None:
        found.append(f"Stability is not known. {sure.why_no_stability}")
    if k > 1:
        found.append(
            "Stability compares halves of one forest on the same rows. It does not say whether new data would show the "
            "same clusters."
        )
    return found


def _about_outliers(sure: Certainty) -> list[str]:
    if not sure.n_outliers:
        return []
    return [
        f"Rows apart from every cluster ({sure.n_outliers:,}) have the label -1. Lists and pictures show them with the "
        "cluster nearest to them; sizes leave them out."
    ]


def _about_clusters(sure: Certainty) -> list[str]:
    n, k = len(sure.labels), len(sure.sizes)
    if k == 1:
        return []
    found = []
    if sure.stability is not None and len(sure.stability.clusters) == k:
        again = sure.stability.clusters
        weak = np.flatnonzero(again < UNSTABLE)
        middling = np.flatnonzero((again >= UNSTABLE) & (again < TRUSTED))
        if len(weak):
            found.append(
                f"{_clusters(weak)} {_is(weak)} not reliable: stability below {UNSTABLE}. Another forest would draw "
                f"{'it' if len(weak) == 1 else 'them'} differently."
            )
        if len(middling):
            found.append(
                f"{_clusters(middling)} {_is(middling)} there, but with uncertain borders: stability from {UNSTABLE} "
                f"to {TRUSTED}."
            )
    small = np.flatnonzero((sure.sizes < FEW_ROWS) | (sure.sizes < SMALL_SHARE * n))
    if len(small):
        found.append(
            f"{_clusters(small)} {'has' if len(small) == 1 else 'have'} fewer than {FEW_ROWS} rows, or less than "
            f"{SMALL_SHARE:.0%} of them: outliers rather than a group, unless you know better."
        )
    return found


def _clusters(which: Any) -> str:
    names = [str(c) for c in which]
    if len(names) > MAX_LISTED:
        return f"{len(names)} clusters"
    return f"Cluster{'s' if len(names) > 1 else ''} {listed(names)}"


def _is(which: Any) -> str:
    return "is" if len(which) == 1 else "are"
