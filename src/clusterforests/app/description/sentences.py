"""What the numbers mean, in sentences: the answer, and caveats, of which a statistician would warn."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clusterforests.app.description.clustering import Clustering
from clusterforests.app.description.described_table import DescribedTable
from clusterforests.app.description.words import counted, listed, quoted
from clusterforests.inspection.stability import RECOVERED

TRUSTED, UNSTABLE = RECOVERED, 0.6  # stability of a cluster (Hennig 2007)
FEW_ROWS = 8
SMALL_SHARE = 0.01
MANY_AMBIGUOUS = 0.1
MAX_LISTED = 6  # sizes, clusters or classes in a sentence


def answer(clustering: Clustering, table: DescribedTable) -> str:
    """Say what was found, in one to three sentences for the top of the page."""
    n, k, apart = len(clustering.labels), clustering.n_clusters, clustering.n_outliers
    lie = "1 row lies" if apart == 1 else f"{apart:,} rows lie"
    if k == 1:
        beside = f" {lie} apart from the others." if apart else ""
        if clustering.forest.n_clusters_evidence_ is None:
            rows = f"{n - apart:,} of {n:,} rows" if apart else f"The {n:,} rows"
            return f"{rows} form one cluster, as requested.{beside}"
        return f"There are no clusters: the {n:,} rows cannot be told from rows without clusters.{beside}"
    sizes = [f"{size:,}" for size in clustering.sizes]
    few = k <= MAX_LISTED
    spread = f"of {listed(sizes)} rows" if few else f"of {min(clustering.sizes):,} to {max(clustering.sizes):,} rows"
    found = f"The {n:,} rows fall into {k} clusters, {spread}."
    if apart:
        found = f"{n - apart:,} of {n:,} rows fall into {k} clusters, {spread}; {lie} apart from all of them."
    features = informative_features(clustering.forest, table, "column")
    return " ".join(filter(None, [found, dominated(clustering.forest, table.names), agreement(clustering), features]))


def dominated(forest: Any, names: Sequence[str]) -> str:
    """Say which columns the clusters only repeat."""
    given = [names[j] for j in forest.dominant_features_]
    columns = [name if name.startswith("column ") else f"column {name!r}" for name in given]
    if not columns:
        return ""
    its, it = ("its values", "it") if len(columns) == 1 else ("the values of each", "them")
    return f"The clusters repeat {listed(columns)}: {its} are the clusters. To find others, leave {it} out."


def informative_features(forest: Any, table: DescribedTable, what: str) -> str:
    """Say how many features, called `what`, are informative, and which of them the trees used."""
    n, used = table.n_features, len(np.unique(np.concatenate(forest.estimators_features_)))
    informative = int((forest.feature_importances_ > 0).sum())
    if table.words_of_text:
        return f"The {n:,} {what}s were reduced to components, so none of them was tested alone."
    if np.isnan(forest.feature_pvalues_).any():
        return f"The model was saved before {what}s were tested, so which of them are informative is not known."
    if n == 1:
        return f"There is only one {what}."
    if informative == n:
        return f"All {n:,} {what}s are informative."
    if used == informative:
        others = "the other was" if n - informative == 1 else f"the other {n - informative:,} were"
        return f"{informative:,} of {n:,} {what}s are informative; {others} left out of the trees."
    those = f"the trees used {f'all {what}s' if used == n else f'{used:,} of them'}."
    if informative == 0:
        return f"No {what} is associated with the others, so none is known to be informative; {those}"
    return f"{informative:,} of {n:,} {what}s are informative; {those}"


def agreement(clustering: Clustering) -> str:
    """Say how well the two halves of the forest agree."""
    if clustering.stability is None:
        return ""
    mean = clustering.stability.mean
    if mean >= 0.9:
        return "The two halves of the forest find almost the same clusters."
    if mean >= TRUSTED:
        return "The two halves of the forest find mostly the same clusters."
    if mean >= UNSTABLE:
        return "The two halves of the forest agree only in part: treat the borders between clusters as uncertain."
    return "The two halves of the forest disagree: do not rely on these clusters."


def caveats(clustering: Clustering, table: DescribedTable, chosen: Any = None) -> list[str]:
    """List what to know before using the clusters.

    `chosen` is the evidence by which another number of clusters may have been chosen than the one that is shown.
    """
    forest, n, k = clustering.forest, len(clustering.labels), clustering.n_clusters
    found = []
    reason = forest.chosen_params_["n_clusters"].reason
    if chosen is not None and chosen.n_clusters != k:
        found.append(f"{k} clusters are shown, but {chosen.n_clusters} would be chosen. {chosen.reason}")
    elif forest.n_clusters_evidence_ is None:
        what = f"{k} clusters were" if k > 1 else "1 cluster was"
        found.append(
            f"{what} requested, not discovered. A forest always returns as many clusters as it is asked for, whether "
            'or not they exist: n_clusters="auto" judges how many there are.'
        )
        if reason != "given":
            found.append(reason)
    if forest.constraints_ is not None:
        found.append(constraints_kept(forest))
    if k > 1:
        found += _about_clusters(clustering)
    if clustering.n_outliers:
        found.append(
            f"Rows apart from every cluster ({clustering.n_outliers:,}) have the label -1. Lists and pictures show "
            "them with the cluster nearest to them; sizes leave them out."
        )
    if k > 1 and clustering.stability is not None and clustering.stability.mean < TRUSTED:
        found.append(agreement(clustering))
    ambiguous = clustering.n_ambiguous
    if ambiguous > MANY_AMBIGUOUS * n:
        found.append(
            f"{ambiguous:,} of {n:,} rows ({ambiguous / n:.0%}) have their highest membership in another cluster than "
            "their own."
        )
    if table.missing:
        cells = len(table.rows) * table.n_features
        found.append(
            f"{table.missing:,} of {cells:,} cells ({table.missing / cells:.1%}) were missing. Each was filled in from "
            "similar rows, which makes the rows concerned look surer than they are."
        )
    if forest.sample_weight_ is not None:
        found.append("Rows had weights: sizes below count rows, while shares and means count weights.")
    if forest.random_state is None:
        found.append("No random_state was set: another run will differ a little. Set one to repeat this run exactly.")
    if clustering.stability is None:
        found.append(f"Stability is not known. {clustering.why_no_stability}")
    if k > 1:
        found.append(
            "Stability compares halves of one forest on the same rows. It does not say whether new data would show the "
            "same clusters."
        )
    return found


def _about_clusters(clustering: Clustering) -> list[str]:
    """Name clusters that halves of the forest draw differently, and very small ones."""
    found = []
    stable = clustering.by_cluster(None if clustering.stability is None else clustering.stability.clusters)
    weak, middling = np.flatnonzero(stable < UNSTABLE), np.flatnonzero((stable >= UNSTABLE) & (stable < TRUSTED))
    if len(weak):
        found.append(
            f"{_clusters(weak, 'is', 'are')} not reliable: stability below {UNSTABLE}. Another forest would draw "
            f"{'it' if len(weak) == 1 else 'them'} differently."
        )
    if len(middling):
        found.append(
            f"{_clusters(middling, 'is', 'are')} there, but with uncertain borders: stability from {UNSTABLE} to "
            f"{TRUSTED}."
        )
    small = np.flatnonzero((clustering.sizes < FEW_ROWS) | (clustering.sizes < SMALL_SHARE * len(clustering.labels)))
    if len(small):
        found.append(
            f"{_clusters(small, 'has', 'have')} fewer than {FEW_ROWS} rows, or less than {SMALL_SHARE:.0%} of them: "
            "outliers rather than a group, unless you know better."
        )
    return found


def _clusters(which: Any, one: str, several: str) -> str:
    names = [str(c) for c in which]
    if len(names) > MAX_LISTED:
        return f"{len(names)} clusters {several}"
    return f"Cluster{'s' if len(names) > 1 else ''} {listed(names)} {one if len(names) == 1 else several}"


def constraints_kept(forest: Any) -> str:
    """Say which constraints the clusters keep."""
    asked, kept = forest.constraints_, []
    if asked.of_rows is not None:
        # Pairs are counted as they were joined: those that are a chain are one group.
        of_rows = asked.of_rows
        sizes = np.bincount(of_rows.unit[of_rows.unit >= 0], minlength=of_rows.n_units)
        groups = sizes[len(of_rows.classes) :]
        groups = groups[groups > 1]
        if len(groups):
            kept.append(f"{counted(int(groups.sum()), 'row')} together in {counted(len(groups), 'group')}")
        if len(of_rows.apart):
            kept.append(f"{counted(len(of_rows.apart), 'pair')} of rows or groups apart")
        if of_rows.classes:
            named = [f"{quoted(str(name))} is cluster {cluster}" for name, cluster in forest.known_clusters_.items()]
            few = listed(named) if len(named) <= MAX_LISTED else f"{', '.join(named[:MAX_LISTED])}, ..."
            kept.append(f"{counted(len(of_rows.known), 'row')} in the clusters of their known classes ({few})")
    least, most = float(np.max(asked.sizes.least)), float(np.min(asked.sizes.most))
    bounds = [f"at least {least:,.10g}"] * (least > 0) + [f"at most {most:,.10g}"] * (most < np.inf)
    if bounds:
        weighted = forest.sample_weight_ is not None
        kept.append(f"clusters of {' and '.join(bounds)} {'in weight' if weighted else 'rows'}")
    return f"Kept as asked: {'; '.join(kept)}."
