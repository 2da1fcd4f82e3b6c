"""What the user asked for and the clusters keep, in a sentence."""

from typing import Any

import numpy as np

from clusterforests.combining.assignment import Sizes
from clusterforests.combining.guidance import Guidance
from clusterforests.forest_view import ForestView
from clusterforests.story.words import counted, listed, quoted

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
