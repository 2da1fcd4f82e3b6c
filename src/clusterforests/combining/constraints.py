"""What the user asks of the clusters beside their number, from the check before the work to the final labels."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from clusterforests._base.parameters import Rule, above, either, integer, none
from clusterforests._base.typing import AnyIntArray, FloatArray, IntArray
from clusterforests.backends import Backend
from clusterforests.combining.assignment import Sizes
from clusterforests.combining.cut import ConsensusGraph, KeptCut
from clusterforests.combining.guidance import Guidance, read_guidance
from clusterforests.combining.keeping import Placed, check_guidance, cut_with, keep, least_clusters
from clusterforests.combining.outliers import OUTLIER_RULES
from clusterforests.combining.placement import Placement
from clusterforests.combining.sizes import can_have, check_heavy, check_sizes, count_heavy, read_sizes
from clusterforests.forest.automatic_settings import Setting

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

    def cut(self, graph: ConsensusGraph, kept: KeptCut, partitions: AnyIntArray, weights: FloatArray | None) -> KeptCut:
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
