"""The simulations G1, G2 and G3: which features the clustering vectors pick, how good the forest is.

One feature is tried at a time (b = 1), none twice, until a vector has tried them all. What the paper leaves open is
stated here: G1 has 100 noise features, G2 and G3 have 1000 rows. The sets with a comma in their name are ours; they
change one thing to show what the paper's statements depend on.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import joblib
import numpy as np
from sklearn.utils import Bunch

from clusterforests._utils.arrays import FloatArray, IntArray
from clusterforests.paper_forest import PaperForest
from paper.datasets import make_g1, make_g2, make_g3
from paper.experiments.runner import Report, read_table, write_table
from paper.metrics import clustering_accuracy

OUTCOMES, FEATURES = "simulations.csv", "simulation_features.csv"


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


class Inclusion(NamedTuple):
    """A clustering vector holds a feature; both are counted from 0."""

    set: str
    vector: int
    feature: int


def run_simulations(
    folder: Path, jobs: int, report: Report | None = None, *, simulations: Sequence[Simulation] = SIMULATIONS
) -> list[Outcome]:
    """Write `simulations.csv`, and for the first seed of each set `simulation_features.csv`.

    Each finished forest is written at once. What the folder holds already is not computed again, so a killed run goes
    on where it stopped, and ends with the same files.
    """
    outcomes = {(row.set, row.seed): row for row in read_outcomes(folder)}
    included = {simulation.name: read_features(folder, simulation.name) for simulation in simulations}
    for name in included:
        if (name, 0) in outcomes and not _agree(outcomes[name, 0], included[name]):
            del outcomes[name, 0]
    tasks = [(s, seed) for s in simulations for seed in range(s.seeds) if (s.name, seed) not in outcomes]
    tasks.sort(key=lambda task: task[0].work, reverse=True)
    total, spent = sum(simulation.work for simulation, _ in tasks), 0.0

    def write() -> None:
        # The features first: an outcome without them would not be computed again.
        write_table(folder / FEATURES, Inclusion._fields, (row for s in simulations for row in included[s.name]))
        order = [(s.name, seed) for s in simulations for seed in range(s.seeds)]
        write_outcomes(folder, (outcomes[key] for key in order if key in outcomes))

    folder.mkdir(parents=True, exist_ok=True)
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        for count, (simulation, seed, vectors, outcome) in enumerate(
            parallel(joblib.delayed(_simulate)(simulation, seed) for simulation, seed in tasks), 1
        ):
            outcomes[simulation.name, seed] = outcome
            if seed == 0:
                included[simulation.name] = [
                    Inclusion(simulation.name, vector, feature)
                    for vector, features in enumerate(vectors)
                    for feature in sorted(features.tolist())
                ]
            write()
            spent += simulation.work
            if report is not None:
                report(count, len(tasks), spent / total)
    write()
    return [outcomes[s.name, seed] for s in simulations for seed in range(s.seeds)]


def _simulate(simulation: Simulation, seed: int) -> tuple[Simulation, int, list[IntArray], Outcome]:
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
    return simulation, seed, vectors, outcome


def count_with_top(vectors: Iterable[IntArray], mu: FloatArray, top: int) -> int:
    """How many vectors hold at least one of the `top` features with the largest |mu|."""
    strongest = np.argsort(-np.abs(mu), kind="stable")[:top]
    return sum(bool(np.isin(strongest, vector).any()) for vector in vectors)


def write_outcomes(folder: Path, outcomes: Iterable[Outcome]) -> None:
    write_table(folder / OUTCOMES, Outcome._fields, outcomes)


def read_outcomes(folder: Path) -> list[Outcome]:
    return [
        Outcome(line[0], *map(int, line[1:5]), *map(float, line[5:]))
        for line in read_table(folder / OUTCOMES, Outcome._fields)
    ]


def read_features(folder: Path, name: str) -> list[Inclusion]:
    """What the vectors of one set hold."""
    return [
        Inclusion(name, int(line[1]), int(line[2]))
        for line in read_table(folder / FEATURES, Inclusion._fields)
        if line[0] == name
    ]


def _agree(outcome: Outcome, included: Sequence[Inclusion]) -> bool:
    """Whether all features of the vectors are there: someone may have cut or removed their file."""
    return len(included) == round(outcome.mean_length * outcome.vectors)
