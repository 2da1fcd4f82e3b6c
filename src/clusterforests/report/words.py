"""What the numbers mean, in sentences: the answer, and what a statistician would warn of."""

from typing import Any

import numpy as np

from clusterforests.report.numbers import Sure
from clusterforests.report.table import Table

TRUSTED, DOUBTFUL = 0.75, 0.6  # stability of a cluster (Hennig 2007)
FEW_ROWS = 8
SMALL_SHARE = 0.01
MANY_DOUBTFUL = 0.1
NAMED = 6  # sizes or clusters that a sentence lists


def answer(sure: Sure, *, chosen: bool) -> str:
    """One or two sentences for the top of the page."""
    n, k = len(sure.labels), len(sure.sizes)
    if k == 1:
        return (
            f"The {n:,} rows are one cluster{': they show no groups that stand apart' if chosen else ', as asked for'}."
        )
    sizes = [f"{size:,}" for size in sure.sizes]
    spread = f"of {_listed(sizes)} rows" if k <= NAMED else f"of {min(sure.sizes):,} to {max(sure.sizes):,} rows"
    return f"The {n:,} rows fall into {k} clusters, {spread}. {agreement(sure)}".rstrip()


def agreement(sure: Sure) -> str:
    if sure.stability is None:
        return ""
    mean = sure.stability.mean
    if mean >= 0.9:
        return "Half of the forest finds almost the same clusters as the other half."
    if mean >= TRUSTED:
        return "Half of the forest finds mostly the same clusters as the other half."
    if mean >= DOUBTFUL:
        return "Half of the forest agrees only in part with the other half: take the edges as uncertain."
    return "Half of the forest disagrees with the other half: do not build on these clusters."


def cautions(forest: Any, sure: Sure, table: Table) -> list[str]:
    n, k = len(sure.labels), len(sure.sizes)
    found = []
    reason = forest.selection_["n_clusters"].reason
    if forest.n_clusters_evidence_ is None:
        what = f"{k} clusters were" if k > 1 else "1 cluster was"
        found.append(
            f"{what} asked for, not found. A forest always returns the number it is asked for, clusters or "
            'not: n_clusters="auto" tests how many stand apart.'
        )
        if reason != "given":
            found.append(reason)
    found += _about_clusters(sure)
    doubtful = int((sure.silhouette < 0).sum())
    if doubtful > MANY_DOUBTFUL * n:
        found.append(
            f"{doubtful:,} of {n:,} rows ({doubtful / n:.0%}) share more trees with another cluster than with their "
            "own."
        )
    if table.missing:
        cells = len(table.rows) * len(table.names)
        found.append(
            f"{table.missing:,} of {cells:,} cells ({table.missing / cells:.1%}) were missing. Each was filled from "
            "similar rows, which makes such rows look surer than they are."
        )
    if forest._weights is not None:
        found.append("Rows had weights: sizes below count rows, while shares and means count weights.")
    if forest.random_state is None:
        found.append("No random_state was set: another run will differ a little. Set one to repeat this run exactly.")
    if sure.stability is None:
        found.append(f"Stability is not known. {sure.unstable}")
    if k > 1:
        found.append(
            "Stability compares halves of one forest on the same rows. It does not say whether other rows, measured "
            "another day, would show the same clusters."
        )
    return found


def _about_clusters(sure: Sure) -> list[str]:
    n, k = len(sure.labels), len(sure.sizes)
    if k == 1:
        return []
    found = []
    if sure.stability is not None and len(sure.stability.clusters) == k:
        again = sure.stability.clusters
        weak = np.flatnonzero(again < DOUBTFUL)
        middling = np.flatnonzero((again >= DOUBTFUL) & (again < TRUSTED))
        if len(weak):
            found.append(
                f"{_clusters(weak)} {_is(weak)} not reliable: stability below {DOUBTFUL}. Another forest would draw "
                f"{'it' if len(weak) == 1 else 'them'} otherwise."
            )
        if len(middling):
            found.append(
                f"{_clusters(middling)} {_is(middling)} there, but with uncertain edges: stability from {DOUBTFUL} to "
                f"{TRUSTED}."
            )
    small = np.flatnonzero((sure.sizes < FEW_ROWS) | (sure.sizes < SMALL_SHARE * n))
    if len(small):
        found.append(
            f"{_clusters(small)} {'has' if len(small) == 1 else 'have'} fewer than {FEW_ROWS} rows or "
            f"{SMALL_SHARE:.0%} of all: outlying rows rather than a group, unless you know better."
        )
    return found


def _clusters(which: Any) -> str:
    names = [str(c) for c in which]
    if len(names) > NAMED:
        return f"{len(names)} clusters"
    return f"Cluster{'s' if len(names) > 1 else ''} {_listed(names)}"


def _is(which: Any) -> str:
    return "is" if len(which) == 1 else "are"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
