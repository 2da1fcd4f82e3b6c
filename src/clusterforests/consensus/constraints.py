"""What the user asks of the clusters beside their number, from the check before the work to the final labels."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from clusterforests._utils.arrays import AnyIntArray, FloatArray, IntArray
from clusterforests._utils.validation import Rule, above, either, integer, none
from clusterforests.backends import Backend
from clusterforests.consensus.assignment import ROUNDING, Sizes
from clusterforests.consensus.enforcement import Placed, check_guidance, cut_with, every_unit, keep, least_clusters
from clusterforests.consensus.guidance import Guidance, read_guidance
from clusterforests.consensus.methods import ConsensusGraph, Cut
from clusterforests.consensus.outliers import OUTLIER_RULES
from clusterforests.consensus.placement import Placement
from clusterforests.trees.settings import Setting

# How small and how large clusters may be.


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


_SIZE = either(none(), integer(1), above(0, 1, or_equal=False))
CONSTRAINT_RULES: dict[str, Rule] = {"min_cluster_size": _SIZE, "max_cluster_size": _SIZE, **OUTLIER_RULES}


@dataclass(frozen=True)
class Constraints:
    """What is known of rows, and the sizes that clusters may have."""

    guidance: Guidance | None
    sizes: Sizes
    total: float  # weight of all rows
    heavy: int = 0  # rows, or groups that belong together, of which no two fit into one cluster

    def check(self, n_clusters: int) -> None:
        """Refuse a number of clusters that cannot keep them."""
        check_sizes(self.sizes, self.total, n_clusters)
        check_heavy(self.sizes, self.heavy, n_clusters)
        if self.guidance is not None:
            check_guidance(self.guidance, n_clusters)

    def allow(self, number: Setting, candidates: list[int]) -> tuple[Setting, list[int]]:
        """Refuse a given number that cannot keep them, or take those of the candidates that can."""
        if not candidates:
            self.check(number.value)
            return number, candidates
        allowed = self.allowed(candidates)
        return Setting(allowed[0], number.reason), allowed

    def allowed(self, numbers: list[int]) -> list[int]:
        """Take the numbers of clusters that can keep them; refuse them if none can."""
        least = max(self.heavy, least_clusters(self.guidance, max(numbers)))
        found = [k for k in numbers if k >= least and can_have(self.sizes, self.total, k)]
        if not found:
            self.check(max(numbers))
            raise ValueError(
                f"n_clusters: none of the numbers {numbers[0]} to {numbers[-1]} can keep min_cluster_size, "
                "max_cluster_size and what is known of the rows. Ask for other numbers."
            )
        return found

    def link(self, partitions: IntArray) -> IntArray:
        """Make rows that belong together one row of the graph."""
        return partitions if self.guidance is None else self.guidance.link(partitions)

    def cut(self, graph: ConsensusGraph, kept: Cut, partitions: AnyIntArray, weights: FloatArray | None) -> Cut:
        """Let known classes lead the cut."""
        return cut_with(graph, kept, self.guidance, partitions, weights)

    def keep(self, backend: Backend, placed: Placed) -> tuple[Placement, IntArray]:
        """Move rows until the final labels keep everything."""
        return keep(backend, placed, self.guidance, self.sizes)


class Asked(NamedTuple):
    """What the user passes, unchecked."""

    min_cluster_size: Any = None
    max_cluster_size: Any = None
    must_link: Any = None
    cannot_link: Any = None
    known_labels: Any = None
    outliers: Any = None

    @property
    def names(self) -> list[str]:
        """The names of what is given."""
        return [name for name, value in self._asdict().items() if value is not None]

    def read(self, n_rows: int, weights: FloatArray | None) -> Constraints | None:
        """Check it; None if it asks for nothing."""
        if self.outliers is not None and self[:2] != (None, None):
            raise ValueError(
                "outliers cannot be combined with min_cluster_size or max_cluster_size: rows that leave a cluster "
                "would change its size. Leave one of them out."
            )
        guidance = read_guidance(n_rows, self.must_link, self.cannot_link, self.known_labels)
        if guidance is None and self[:2] == (None, None):
            return None
        total = float(n_rows) if weights is None else float(np.sum(weights))
        sizes = read_sizes(self.min_cluster_size, self.max_cluster_size, total, whole=weights is None)
        return Constraints(guidance, sizes, total, count_heavy(guidance, sizes, weights, n_rows))
