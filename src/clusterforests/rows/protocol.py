"""What `fit` asks of a table's rows, wherever they are: in memory, in blocks, in Dask or on a GPU.

One source for each of them reads the table once and then answers four questions: a sample that stands for all rows,
the trees grown on it, the labels of all rows in these trees, and the clusters of the rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from clusterforests._utils.arrays import AnyIntArray, IntArray
from clusterforests._utils.memory import DEFAULT_LIMITS, SizeLimits
from clusterforests.backends import Backend, CpuBackend
from clusterforests.backends.any_clusterer import SklearnClusterer
from clusterforests.consensus.constraints import Constraints
from clusterforests.consensus.nodes import CutSettings, Nodes
from clusterforests.consensus.placement import Cut, Placement
from clusterforests.table.checks import FittedTable
from clusterforests.table.encoding import Encoding
from clusterforests.table.imputation import Donors
from clusterforests.table.scaling import Scaling
from clusterforests.table.sparse_reduction import Reduction
from clusterforests.trees.forest import Forest, TreePlan
from clusterforests.trees.growth import GrowthProgress
from clusterforests.trees.planning import Sample
from clusterforests.trees.settings import Setting


@dataclass(frozen=True)
class ReadingSettings:
    """What the user sets of how rows are read: what they are needed for, and where."""

    n_estimators: int = 200
    consensus: str = "auto"
    scale: str = "auto"
    max_samples: int | str | None = "auto"
    n_landmarks: int | str | None = "auto"
    device: str = "auto"
    n_jobs: int | None = None
    grows: bool = False  # whether trees grow feature by feature
    clusterer: Any = None  # of scikit-learn's; it may need all rows
    limits: SizeLimits = DEFAULT_LIMITS

    @property
    def may_sample(self) -> bool:
        """Whether trees may be made on a sample of the rows."""
        return self.clusterer is None and self.max_samples is not None

    def backend(self) -> Backend:
        """Make the back end that clusters."""
        if self.clusterer is None:
            return CpuBackend(self.n_jobs)
        return SklearnClusterer(self.clusterer, self.n_jobs)


class LabelledForest(NamedTuple):
    """A forest with the labels of all rows, and those of the sample, which are None where the sample is all rows."""

    forest: Forest
    sample: IntArray | None

    @property
    def labels_of_sample(self) -> AnyIntArray:
        """The labels of the sample's rows, (T, n)."""
        return self.forest.partitions if self.sample is None else self.sample


ReadingProgress = Callable[[int, int], None]  # (rows read, rows to read)
TreeMaker = Callable[[TreePlan, GrowthProgress], Forest]


@dataclass(frozen=True)
class Reading:
    """How a table was read: what `predict` does to new rows, the weights of the rows, and where they are read."""

    table: FittedTable
    encoding: Encoding
    donors: Donors | None  # fill the missing cells of new rows
    weights: Any  # an array of NumPy or of Dask, or None
    device: Setting  # the CPU or a GPU, and why
    reduction: Reduction | None = None  # of a wide sparse table: what is read are its components


class Rows(Protocol):
    """The rows of a table."""

    @property
    def n_rows(self) -> int: ...
    @property
    def reading(self) -> Reading: ...
    @property
    def backend(self) -> Backend: ...
    @property
    def constraints(self) -> Constraints | None: ...

    def report_to(self, progress: ReadingProgress) -> None:
        """Report to `progress` how many rows of a large table were read."""

    def sample(self, seed: int) -> Sample:
        """Draw rows that stand for all of them."""

    def make_trees(self, plan: TreePlan, progress: GrowthProgress) -> Forest:
        """Make trees on the sample, and label its rows by them (Algorithm 3, lines 1 to 3)."""

    def label(self, forest: Forest, scaling: Scaling, sample: Sample) -> LabelledForest:
        """Label the rows outside the sample as well. Without sampling there are none: trees come with their labels."""

    def nodes(self, labelled: LabelledForest, sample: Sample, settings: CutSettings, seed: int) -> Nodes:
        """Choose the nodes of the graph: rows with the same labels are one, and landmarks may stand for many."""

    def place(self, labelled: LabelledForest, nodes: Nodes, kept: Cut) -> tuple[Placement, Any]:
        """Place every row by its links with the nodes; return the rule and the clusters."""

    def send(self, values: Any) -> Any:
        """Bring an array with an entry for each row to where the rows are."""
