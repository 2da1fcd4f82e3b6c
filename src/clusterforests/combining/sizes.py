"""How small and how large clusters may be."""

from typing import Any

import numpy as np

from clusterforests._base.typing import FloatArray
from clusterforests.combining.assignment import ROUNDING, Sizes
from clusterforests.combining.guidance import Guidance
from clusterforests.combining.keeping import every_unit


def read_sizes(min_cluster_size: Any, max_cluster_size: Any, total: float, *, whole: bool) -> Sizes:
    """Turn sizes, which may be shares of the total weight, into weights; `whole` ones if each row weighs 1."""

    def weight(size: Any) -> float:
        return float(size) if isinstance(size, (int, np.integer)) else float(size) * total

    least = 0.0 if min_cluster_size is None else weight(min_cluster_size)
    most = np.inf if max_cluster_size is None else weight(max_cluster_size)
    if least > most:
        raise ValueError(
            f"min_cluster_size={min_cluster_size} is more than max_cluster_size={max_cluster_size}. Swap them, or "
            "leave one out."
        )
    if whole:
        least, most = np.ceil(least - ROUNDING * total), np.floor(most + ROUNDING * total)
    if least > most:
        raise ValueError(
            f"min_cluster_size={min_cluster_size} and max_cluster_size={max_cluster_size} leave no size: at least "
            f"{least:g} and at most {most:g} rows. Lower the one or raise the other."
        )
    return Sizes(float(least), float(most))


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


def check_heavy(sizes: Sizes, heavy: int, n_clusters: int) -> None:
    """Refuse fewer clusters than there are units of which no two can share one."""
    if heavy > n_clusters:
        raise ValueError(
            f"max_cluster_size: {heavy} rows, or groups of rows that belong together, are each more than half of "
            f"{sizes.most:g}, so that no two fit into one of n_clusters={n_clusters}. Raise max_cluster_size or "
            "n_clusters, or leave out pairs."
        )


def count_heavy(guidance: Guidance | None, sizes: Sizes, weights: FloatArray | None, n_rows: int) -> int:
    """Count the units of which no two fit into one cluster; refuse one that is more than a cluster may hold."""
    if sizes.most == np.inf:
        return 0
    unit, _ = every_unit(guidance, n_rows)
    mass = np.bincount(unit, weights)
    heaviest = int(mass.argmax())
    if mass[heaviest] > sizes.most * (1 + ROUNDING):
        row = int(np.flatnonzero(unit == heaviest)[0])
        name = f"row {row}" if guidance is None or guidance.unit[row] < 0 else guidance.name(heaviest)
        raise ValueError(
            f"max_cluster_size: {name} and the rows that belong with it are {mass[heaviest]:g}, more than a cluster of "
            f"at most {sizes.most:g} may hold. Raise max_cluster_size, or leave out pairs."
        )
    return int((mass > sizes.most / 2 * (1 + ROUNDING)).sum())
