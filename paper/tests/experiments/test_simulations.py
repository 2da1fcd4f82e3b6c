"""The simulations at small sizes: strong features are found, and what was grown before is read."""

import dataclasses

import numpy as np
import pytest

from paper.datasets import make_g1, make_g2, make_g3
from paper.experiments.simulations import (
    SIMULATIONS,
    Simulation,
    count_with_top,
    read_outcomes,
    run_simulations,
    write_outcomes,
)
from paper.theory import break_even_strength

SMALL = (
    Simulation("correlated", make_g1, 200, 8, 8, n_vectors=12, seeds=2),
    Simulation("noisy, with a comma", make_g3, 150, 40, 6, n_candidates=5, n_vectors=10, seeds=2),
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    return folder, run_simulations(folder, 1, print, simulations=SMALL)


def test_strong_features_are_found(finished):
    outcomes = [run.outcome for run in finished[1]]
    assert [(o.set, o.seed) for o in outcomes] == [(s.name, seed) for s in SMALL for seed in range(2)]
    for outcome in outcomes:
        assert outcome.with_top3 == outcome.with_top5 == outcome.vectors
        assert outcome.accuracy >= 0.98
        assert outcome.bayes_accuracy == pytest.approx(1.0, abs=1e-4)


def test_outcomes_are_those_of_the_vectors(finished):
    sets = {simulation.name: simulation for simulation in SMALL}
    for outcome, vectors in finished[1]:
        simulation = sets[outcome.set]
        assert all(len(set(vector)) == len(vector) and max(vector) < simulation.n_features for vector in vectors)
        # The means grow with the number of the feature.
        assert outcome.with_top3 == sum(max(vector) >= simulation.n_features - 3 for vector in vectors)
        assert outcome.mean_length == pytest.approx(np.mean([len(vector) for vector in vectors]), abs=1e-4)


def test_outcomes_are_written_and_read(finished, tmp_path):
    outcomes = [run.outcome for run in finished[1]]
    write_outcomes(tmp_path / "simulations.csv", outcomes)
    assert read_outcomes(tmp_path / "simulations.csv") == outcomes


def test_what_was_grown_before_is_read(finished, monkeypatch):
    monkeypatch.setattr("paper.experiments.simulations.PaperForest", None)
    again = run_simulations(finished[0], 1, print, simulations=SMALL)
    assert [run.outcome for run in again] == [run.outcome for run in finished[1]]


def test_count_with_top():
    mu = np.array([0.0, -5.0, 1.0, 4.0])
    vectors = [np.array(v, dtype=np.int32) for v in ([0, 2], [1], [3, 0], [2, 1, 3])]
    assert [count_with_top(vectors, mu, top) for top in (1, 2, 3, 4)] == [2, 3, 4, 4]


def test_weak_features_do_not_join(tmp_path):
    """No mean of G2 is above 1, but beside any of its features another lowers kappa only from about 1.7 on."""
    assert min(break_even_strength([mean]) for mean in np.linspace(0.05, 1, 20)) > 1.7
    weak = Simulation("weak", make_g2, 800, 20, 8, n_candidates=5, n_vectors=20, seeds=1)
    both = [weak, dataclasses.replace(weak, name="ten a step", features_per_draw=10)]
    one, more = (run.outcome for run in run_simulations(tmp_path, 1, print, simulations=both))
    assert one.mean_length == 1
    assert more.mean_length >= 10
    assert more.accuracy > one.accuracy


def test_sets_are_the_papers():
    sets = {simulation.name: simulation for simulation in SIMULATIONS}
    assert len(sets) == len(SIMULATIONS)
    assert sets["G1"].n_samples == 4000
    assert [sets[name].n_candidates for name in ("G1", "G2", "G3")] == [1, 20, 50]
    assert [sets[name].n_noise for name in ("G2", "G3")] == [100, 1000]
    assert all(sets[name].features_per_draw == 1 and sets[name].n_vectors == 100 for name in ("G1", "G2", "G3"))
