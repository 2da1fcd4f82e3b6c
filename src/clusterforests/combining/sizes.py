"""How small and how large clusters may be."""

from typing import Any

import numpy as np

from clusterforests._base.typing import FloatArray
from clusterforests.combining.assignment import ROUNDING, Sizes
from clusterforests.combining.guidance import Guidance


def read_sizes(min_cluster_size: Any, max_cluster_size: Any, total: float) -> Sizes:
    """Turn sizes, which may be shares of the total weight, into weights."""

    def weight(size: Any) -> float:
        return float(size) if isinstance(size, (int, np.integer)) else float(size) * total

    least = 0.0 if min_cluster_size is None else weight(min_cluster_size)
    most = np.inf if max_cluster_size is None else weight(max_cluster_size)
    if least > most:
        raise ValueError(
            f"min_cluster_size={min_cluster_size} is more than max_cluster_size={max_cluster_size}. Swap them, or "
            "leave one out."
        )
    return Sizes(least, most)


def can_have(sizes: Sizes, total: float, n_clusters: int) -> bool:
    """Tell whether so many clusters of these sizes can hold all rows."""
    slack = ROUNDING * total
    return bool(n_clusters * sizes.least <= total + slack and n_clusters * sizes.most >= total - slack)


def check_sizes(sizes: Sizes, total: float, n_clusters: int) -> None:
    """Refuse sizes that so many clusters cannot have."""
    if can_have(sizes, total, n_clusters):
        return
    if n_clusters * sizes.least > total:
        raise ValueError(
            f"min_cluster_size: {n_clusters} clusters of at least {sizes.least:g} need {n_clusters * sizes.least:g} "
            f"rows, but X has {total:g}. Lower min_cluster_size or n_clusters."
        )
    raise ValueError(
        f"max_cluster_size: {n_clusters} clusters of at most {sizes.most:g} hold {n_clusters * sizes.most:g} rows, but "
        f"X has {total:g}. Raise max_cluster_size or n_clusters."
    )


def check_units(guidance: Guidance | None, sizes: Sizes, weights: FloatArray | None) -> None:
    """Refuse rows that belong together but are more than a cluster may hold."""
    if guidance is None:
        return
    rows = guidance.rows
    mass = np.bincount(guidance.unit[rows], None if weights is None else weights[rows])
    heaviest = int(mass.argmax())
    if mass[heaviest] > sizes.most * (1 + ROUNDING):
        raise ValueError(
            f"max_cluster_size: {guidance.name(heaviest)} and the rows that belong with it are {mass[heaviest]:g}, "
            f"more than a cluster of at most {sizes.most:g} may hold. Raise max_cluster_size, or leave out pairs."
        )
