"""The forest: many grown clusterings of one table (Algorithm 3, lines 1 to 5)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clusterforests.backends import CpuBackend
from clusterforests.growth import GrowthSettings, Progress, grow


@dataclass(frozen=True)
class Forest:
    """T partitions of n rows and how they came about."""

    features: list[npt.NDArray[np.int32]]
    centers: list[npt.NDArray[np.float64]]
    kappas: npt.NDArray[np.float64]
    partitions: npt.NDArray[np.int32]  # (T, n)
    rounds: int


def grow_forest(
    backend: CpuBackend,
    n_features: int,
    n_trees: int,
    settings: GrowthSettings,
    seed: int,
    progress: Progress | None = None,
) -> Forest:
    """Grow the trees, then give every row its nearest centre in each."""
    trees = grow(backend, n_features, n_trees, settings, seed, progress)
    partitions = backend.assign(trees.features, trees.centers)
    return Forest(trees.features, trees.centers, trees.kappas, partitions, trees.rounds)


def feature_use(features: list[npt.NDArray[np.int32]], n_features: int) -> npt.NDArray[np.float64]:
    """How much of the trees each feature makes up: its share of a tree's vector, averaged over trees. Sums to 1."""
    use = np.zeros(n_features)
    for vector in features:
        use += np.bincount(vector, minlength=n_features) / len(vector)
    return use / len(features)
