"""What `fit` asks of a table's rows, wherever they are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from clusterforests._utils.arrays import FloatArray, IntArray
from clusterforests.backends import Backend
from clusterforests.consensus.constraints import Constraints
from clusterforests.consensus.methods import Cut
from clusterforests.consensus.nodes import CutSettings, Nodes
from clusterforests.consensus.placement import Placement
from clusterforests.table.encoding import Encoding
from clusterforests.table.feature_columns import DistinctRows, EncodedTable
from clusterforests.table.imputation import Donors
from clusterforests.table.scaling import Scaling
from clusterforests.table.sparse_reduction import Reduction
from clusterforests.trees.forest import Forest, GrowthPlan
from clusterforests.trees.growth import GrowthProgress
from clusterforests.trees.settings import Setting


class Sample(NamedTuple):
    """Rows that stand for all, and how many each stands for: all rows of a small table, with their own weights."""

    table: EncodedTable
    weights: FloatArray | None  # None: each counts once
    distinct: DistinctRows
    every_row: bool = False  # whether these are all rows


class LabelledForest(NamedTuple):
    """A forest with the labels of all rows, and those of the sample, which are None where the sample is all rows."""

    forest: Forest
    sample: IntArray | None


ReadingProgress = Callable[[int, int], None]  # (rows read, rows to read)
Grower = Callable[[GrowthPlan, GrowthProgress], Forest]


@dataclass(frozen=True)
class Reading:
    """How a table was read: what `predict` does to new rows, the weights of the rows, and where they are read."""

    encoding: Encoding
    donors: Donors | None  # fill the missing cells of new rows
    weights: Any  # an array of NumPy or of Dask, or None
    read_on: Setting  # the CPU or a GPU, and why
    reduction: Reduction | None = None  # of a wide sparse table: what is read are its components


class Rows(Protocol):
    """The rows of a table: in memory, in blocks, in Dask or on a GPU."""

    @property
    def n_rows(self) -> int: ...
    @property
    def reading(self) -> Reading: ...
    @property
    def backend(self) -> Backend: ...
    @property
    def constraints(self) -> Constraints | None: ...

    def report_to(self, progress: ReadingProgress) -> None:
        """Tell `progress` how many rows of a large table were read."""

    def sample(self, seed: int) -> Sample:
        """Draw rows that stand for all of them."""

    def grow(self, plan: GrowthPlan, progress: GrowthProgress) -> Forest:
        """Grow trees on the sample (Algorithm 3, lines 1 and 2)."""

    def label(self, forest: Forest, scaling: Scaling, sample: Sample) -> LabelledForest:
        """Find the nearest centre of every row in every tree (Algorithm 3, line 3)."""

    def nodes(self, labelled: LabelledForest, sample: Sample, settings: CutSettings, seed: int) -> Nodes:
        """Choose the nodes of the graph: rows with the same labels are one, and landmarks may stand for many."""

    def place(self, labelled: LabelledForest, nodes: Nodes, kept: Cut) -> tuple[Placement, Any]:
        """Place every row by its links with the nodes; return the rule and the clusters."""

    def send(self, values: Any) -> Any:
        """Bring an array with an entry for each row to where the rows are."""
