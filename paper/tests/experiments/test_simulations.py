"""The simulations at small sizes: strong features are found, and a killed run ends with the same files."""

import csv
import dataclasses

import numpy as np
import pytest

from paper.datasets import make_g1, make_g2, make_g3
from paper.experiments import simulations
from paper.experiments.simulations import (
    FEATURES,
    OUTCOMES,
    SIMULATIONS,
    Simulation,
    count_with_top,
    read_features,
    read_outcomes,
    run_simulations,
)
from paper.theory import break_even_strength

SMALL = (
    Simulation("correlated", make_g1, 200, 8, 8, n_vectors=12, seeds=2),
    Simulation("noisy, with a comma", make_g3, 150, 40, 6, n_candidates=5, n_vectors=10, seeds=2),
)


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    return folder, run_simulations(folder, 1, simulations=SMALL)


@pytest.fixture
def interrupted(finished, tmp_path):
    """A copy of the finished folder, to spoil."""
    for name, data in contents(finished[0]).items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def test_strong_features_are_found(finished):
    outcomes = finished[1]
    assert [(o.set, o.seed) for o in outcomes] == [(s.name, seed) for s in SMALL for seed in range(2)]
    for outcome in outcomes:
        assert outcome.with_top3 == outcome.with_top5 == outcome.vectors
        assert outcome.accuracy >= 0.98
        assert outcome.bayes_accuracy == pytest.approx(1.0, abs=1e-4)


def test_files_say_the_same_as_the_outcomes(finished):
    folder, outcomes = finished
    assert read_outcomes(folder) == outcomes
    with (folder / OUTCOMES).open(newline="") as lines:
        header = "set,seed,vectors,with_top3,with_top5,accuracy,bayes_accuracy,mean_length"
        assert next(csv.reader(lines)) == header.split(",")
    for simulation in SMALL:
        first = next(o for o in outcomes if o.set == simulation.name and o.seed == 0)
        vectors = [set() for _ in range(simulation.n_vectors)]
        included = read_features(folder, simulation.name)
        for _, vector, feature in included:
            vectors[vector].add(feature)
        assert sum(map(len, vectors)) == len(included)  # no feature twice
        assert max(set.union(*vectors)) < simulation.n_features
        # The means grow with the number of the feature.
        assert first.with_top3 == sum(max(v) >= simulation.n_features - 3 for v in vectors)
        assert first.mean_length == pytest.approx(np.mean([len(v) for v in vectors]), abs=1e-4)


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.6, 0.99])
@pytest.mark.parametrize("name", [OUTCOMES, FEATURES])
def test_a_cut_file_is_completed(finished, interrupted, name, keep):
    path = interrupted / name
    whole = path.read_bytes()
    path.write_bytes(whole[: int(keep * len(whole))])
    assert run_simulations(interrupted, 1, simulations=SMALL) == finished[1]
    assert contents(interrupted) == contents(finished[0])


@pytest.mark.parametrize("name", [OUTCOMES, FEATURES])
def test_a_lost_file_is_completed(finished, interrupted, name):
    (interrupted / name).unlink()
    run_simulations(interrupted, 1, simulations=SMALL)
    assert contents(interrupted) == contents(finished[0])


def test_a_killed_run_goes_on(finished, tmp_path, monkeypatch):
    simulate, calls = simulations._simulate, []

    def dies_at_the_third(simulation, seed):
        calls.append(simulation)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return simulate(simulation, seed)

    monkeypatch.setattr(simulations, "_simulate", dies_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        run_simulations(tmp_path, 1, simulations=SMALL)
    assert len(read_outcomes(tmp_path)) == 2
    reports = []
    run_simulations(tmp_path, 1, lambda *progress: reports.append(progress), simulations=SMALL)
    assert [report[:2] for report in reports] == [(1, 2), (2, 2)]
    assert reports[-1][2] == pytest.approx(1.0)
    assert contents(tmp_path) == contents(finished[0])


def test_nothing_is_computed_twice(finished, interrupted, monkeypatch):
    monkeypatch.setattr(simulations, "_simulate", None)
    assert run_simulations(interrupted, 1, simulations=SMALL) == finished[1]
    assert contents(interrupted) == contents(finished[0])


def test_two_processes_give_the_same_files(finished, tmp_path):
    run_simulations(tmp_path, 2, simulations=SMALL)
    assert contents(tmp_path) == contents(finished[0])


def test_count_with_top():
    mu = np.array([0.0, -5.0, 1.0, 4.0])
    vectors = [np.array(v, dtype=np.int32) for v in ([0, 2], [1], [3, 0], [2, 1, 3])]
    assert [count_with_top(vectors, mu, top) for top in (1, 2, 3, 4)] == [2, 3, 4, 4]


def test_weak_features_do_not_join(tmp_path):
    """No mean of G2 is above 1, but beside any of its features another lowers kappa only from about 1.7 on."""
    assert min(break_even_strength([mean]) for mean in np.linspace(0.05, 1, 20)) > 1.7
    weak = Simulation("weak", make_g2, 800, 20, 8, n_candidates=5, n_vectors=20, seeds=1)
    one, more = run_simulations(
        tmp_path, 1, simulations=[weak, dataclasses.replace(weak, name="ten a step", features_per_draw=10)]
    )
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
