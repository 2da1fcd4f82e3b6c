"""The simulations G1, G2 and G3: which features the clustering vectors pick, how good the forest is.

One feature is tried at a time (b = 1), none twice, until a vector has tried them all. What the paper leaves open is
stated here: G1 has 100 noise features, G2 and G3 have 1000 rows. The sets with a comma in their name are ours; they
change one thing to show what the paper's statements depend on.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.utils import Bunch

from clusterforests._utils.arrays import FloatArray, IntArray
from clusterforests.paper_forest import PaperForest
from paper.datasets import make_g1, make_g2, make_g3
from paper.experiments.runner import Show, compute, read_table, write_table
from paper.metrics import clustering_accuracy


@dataclass(frozen=True)
class Simulation:
    """Data of one kind and how vectors grow on it; run `seed` has that random_state for data and forest."""

    name: str
    make: Callable[..., Bunch]
    n_samples: int
    n_noise: int  # these features come first
    n_informative: int
    n_candidates: int = 1
    features_per_draw: int = 1
    n_vectors: int = 100
    seeds: int = 3

    @property
    def n_features(self) -> int:
        return self.n_noise + self.n_informative

    @property
    def work(self) -> float:
        """A guess in arbitrary units. G1's vectors are longer: they accept many features."""
        longer = 2.0 if self.make is make_g1 else 1.0
        return longer * self.n_samples * self.n_features * self.n_vectors / self.features_per_draw

    def draw(self, seed: int) -> Bunch:
        return self.make(self.n_samples, n_noise=self.n_noise, n_informative=self.n_informative, random_state=seed)


SIMULATIONS = (
    Simulation("G1", make_g1, 4000, 100, 100, seeds=5),
    Simulation("G1, 1000 rows", make_g1, 1000, 100, 100),
    Simulation("G2", make_g2, 1000, 100, 20, n_candidates=20, seeds=5),
    Simulation("G2, 2 a step", make_g2, 1000, 100, 20, n_candidates=20, features_per_draw=2, seeds=5),
    Simulation("G2, 10 a step", make_g2, 1000, 100, 20, n_candidates=20, features_per_draw=10, seeds=5),
    Simulation("G3", make_g3, 1000, 1000, 20, n_candidates=50, seeds=5),
    Simulation("G3, q = 1", make_g3, 1000, 1000, 20),
)


class Outcome(NamedTuple):
    """One forest. `with_top3` vectors hold one of the three features with the largest means, in absolute value."""

    set: str
    seed: int
    vectors: int
    with_top3: int
    with_top5: int
    accuracy: float
    bayes_accuracy: float
    mean_length: float


class Simulated(NamedTuple):
    """A forest of a set: what came of it, and the features of each of its vectors."""

    outcome: Outcome
    vectors: list[IntArray]


def run_simulations(
    folder: Path, jobs: int, show: Show, *, simulations: Sequence[Simulation] = SIMULATIONS
) -> list[Simulated]:
    """All forests of all sets, in their order; those that were grown before are read from `folder`."""
    tasks = [(simulation, seed) for simulation in simulations for seed in range(simulation.seeds)]
    longest = sorted(tasks, key=lambda task: task[0].work, reverse=True)
    found = {run.outcome[:2]: run for run in compute(simulate, longest, folder, jobs, "simulations", show)}
    return [found[simulation.name, seed] for simulation, seed in tasks]


def simulate(simulation: Simulation, seed: int) -> Simulated:
    """Grow a forest on a set drawn with this seed."""
    data = simulation.draw(seed)
    forest = PaperForest(
        2,
        n_estimators=simulation.n_vectors,
        features_per_draw=simulation.features_per_draw,
        n_candidates=simulation.n_candidates,
        patience="all",
        repeat_features=False,
        random_state=seed,
    ).fit(data.data)
    vectors = forest.estimators_features_
    outcome = Outcome(
        simulation.name,
        seed,
        len(vectors),
        count_with_top(vectors, data.mu, 3),
        count_with_top(vectors, data.mu, 5),
        round(clustering_accuracy(data.target, forest.labels_), 4),
        round(data.bayes_accuracy, 4),
        round(float(np.mean([len(vector) for vector in vectors])), 4),
    )
    return Simulated(outcome, vectors)


def count_with_top(vectors: Iterable[IntArray], mu: FloatArray, top: int) -> int:
    """How many vectors hold at least one of the `top` features with the largest |mu|."""
    strongest = np.argsort(-np.abs(mu), kind="stable")[:top]
    return sum(bool(np.isin(strongest, vector).any()) for vector in vectors)


def write_outcomes(path: Path, outcomes: Iterable[Outcome]) -> None:
    write_table(path, Outcome._fields, outcomes)


def read_outcomes(path: Path) -> list[Outcome]:
    lines = read_table(path, Outcome._fields)
    return [Outcome(line[0], *map(int, line[1:5]), *map(float, line[5:])) for line in lines]
