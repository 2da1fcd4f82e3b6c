"""Feature profiles against brute force; figures from made-up results, byte for byte the same twice."""

import itertools

import numpy as np
import pytest

from paper.datasets import make_g2
from paper.experiments.figures import (
    affinity_figure,
    gain_figure,
    new_figure,
    paper_figures,
    profile_figure,
    save,
    totals_figure,
    vectors_figure,
)
from paper.experiments.profile import Profile, feature_profile, load_profile, noise_strength, summarise
from paper.experiments.runner import Row
from paper.experiments.simulations import SIMULATIONS
from paper.experiments.spec import CANDIDATES, DATASETS
from paper.experiments.summary import Results

EVIDENCE = {"soybean": ("sqrt;n_init=20", "t=0.3"), "imgseg": ("sqrt;n_init=1", "t=0.7")}
NAMES = (
    "soybean_affinity",
    "simulation_g1",
    "simulation_g2_g3",
    "gain_over_kmeans",
    "feature_profiles",
)


def forest_rows():
    """Accuracy is best at q = 5 and as good at q = 10; the Rand index falls with q."""
    rise = dict(zip(CANDIDATES, (60, 61, 62, 64, 64, 63, 50), strict=True))
    return [
        Row(dataset, "CF", "", f"n_candidates={q};patience=1", run, f"{80 - q + run}", f"{rise[q] + run}")
        for dataset in DATASETS
        for q in CANDIDATES
        for run in range(3)
    ]


def method_rows():
    rows = []
    for dataset in DATASETS:
        rows.append(Row(dataset, "kmeans", "n_init=20;max_iter=200", "improved", 0, "70", "50"))
        rows.append(Row(dataset, "bC2", "n_init=100" if dataset == "robot" else "n_init=20", "", 0, "71", "49"))
        for t, rand, accuracy in ((0.3, 60, 57), (0.5, 72, 52), (0.6, 73, 51), (0.75, 71, 51)):
            rows.append(Row(dataset, "EA", "n_base_clusters=n_f;n_init=1", f"t={t}", 0, f"{rand}", f"{accuracy}"))
        for d, rand, accuracy in ((5, 74, 51), (8, 69, 55)):
            rows.append(Row(dataset, "RP", f"n_components={d}", "average, n_f", 0, f"{rand}", f"{accuracy}"))
        rows.append(Row(dataset, "RP", "n_components=5", "single, t=0.6", 0, "75", "40"))
    for dataset, (setting, variant) in EVIDENCE.items():
        rows.append(Row(dataset, "EA", f"n_base_clusters={setting}", variant, 0, "90", "90"))
    return rows


def made_up_vectors(simulation):
    """Every vector has the last three features, every other one of noise."""
    rng = np.random.default_rng(0)
    last = np.arange(simulation.n_features - 3, simulation.n_features)
    noise = [[int(rng.integers(simulation.n_noise))] * (v % 2 == 0) for v in range(simulation.n_vectors)]
    return [np.array([*some, *last], dtype=np.int32) for some in noise]


@pytest.fixture(scope="module")
def results():
    return Results.of_rows([*forest_rows(), *method_rows()])


def best_split(values, k):
    """kappa of the best of all ways to cut the sorted values into k runs."""
    ordered = np.sort(values)
    total = ((ordered - ordered.mean()) ** 2).sum()
    within = min(
        sum(((part - part.mean()) ** 2).sum() for part in np.split(ordered, cuts))
        for cuts in itertools.combinations(range(1, len(ordered)), k - 1)
    )
    return within / (total - within)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_profile_against_brute_force(k):
    X = np.random.default_rng(k).gamma(1.0, size=(14, 5)) * [1e-3, 1, 10, 1e4, 1]
    profile = feature_profile(X, k)
    assert not profile.drawn.any()
    np.testing.assert_allclose(profile.strengths, [best_split(column, k) for column in X.T], rtol=1e-9)


def test_features_with_few_values_get_the_strength_of_another():
    rng = np.random.default_rng(0)
    few = rng.integers(0, 2, size=(40, 12)).astype(float)
    few[:, 0] = 7.0
    X = np.hstack([few, rng.normal(size=(40, 3)), np.repeat([[0.0], [1.0], [2.0], [3.0]], 10, axis=0)])
    profile = feature_profile(X, 3)
    assert profile.drawn.tolist() == [True] * 12 + [False] * 4
    own = profile.strengths[12:]
    assert np.isin(profile.strengths, own).all()
    assert len(np.unique(profile.strengths[:12])) > 1
    assert np.array_equal(profile.strengths, feature_profile(X, 3).strengths)
    other = feature_profile(X, 3, seed=1).strengths
    assert np.array_equal(other[12:], own)
    assert not np.array_equal(other, profile.strengths)
    # As many values as clusters is enough: each value is a cluster.
    assert feature_profile(X[:, 1:12], 2).strengths.tolist() == [0.0] * 11
    with pytest.raises(ValueError, match="n_clusters=3"):
        feature_profile(few, 3)


def test_noise_strength():
    assert noise_strength(2) == pytest.approx(np.pi / 2 - 1, rel=1e-3)
    assert noise_strength(4) == pytest.approx(0.1175 / (1 - 0.1175), rel=2e-3)  # the optimal quantiser, by Max


def test_summary(results):
    strengths = np.concatenate([np.full(9, 0.1), [0.3, 0.5]])
    found = summarise("wine", Profile(strengths, strengths > 0.4), results)
    assert (found.features, found.clusters, found.drawn) == (11, 3, 1)
    assert (found.low, found.high) == pytest.approx((0.1, 0.3))
    assert found.spread == pytest.approx(3.0)
    assert found.weak == pytest.approx(2 / 11)
    assert (found.best_q_rho_r, found.gain_rho_r) == (1, 0.0)
    assert (found.best_q_rho_c, found.gain_rho_c) == (5, 4.0)
    equal = Profile(np.zeros(4), np.zeros(4, dtype=bool))
    assert np.isnan(summarise("wine", equal, results).spread)
    wine = summarise("wine", load_profile("wine"), results)
    assert (wine.dataset, wine.features, wine.best_q_rho_c) == ("wine", 13, 5)


def test_gains(results):
    panels = gain_figure(results).axes
    ticks = [label.get_text().split("\n") for label in panels[1].get_xticklabels()]
    rand, accuracy = ({line.get_label(): line.get_ydata() for line in panel.lines} for panel in panels)
    names = [name for name, _ in ticks]
    assert [int(features) for _, features in ticks] == [13, 13, 19, 22, 30, 35, 90, 500]
    assert names[2] == "ImgSeg"
    assert np.allclose(rand["CF"], 80 - 1 + 1 - 70)
    assert np.allclose(accuracy["CF"], 60 + 1 - 50)
    assert np.allclose(accuracy["bC2"], -1)
    assert rand["EA"][names.index("ImgSeg")] == 20
    assert np.allclose(rand["RP"], 4)


def test_figures_show_the_data():
    simulation = SIMULATIONS[0]
    vectors = made_up_vectors(simulation)
    total = sum(map(len, vectors))
    left, right = vectors_figure(simulation, vectors).axes
    assert sum(len(dots.get_offsets()) for dots in left.collections) == total
    heights = np.concatenate([steps.get_data().values for steps in right.patches])
    assert heights[-3:].tolist() == [simulation.n_vectors] * 3
    assert heights.sum() == total
    weak = next(s for s in SIMULATIONS if s.name == "G2")
    *_, below = totals_figure((weak, made_up_vectors(weak))).axes
    (dots,) = below.lines
    assert np.array_equal(dots.get_xdata(), make_g2(random_state=0).mu[100:])
    assert dots.get_ydata().tolist() == [0] * 17 + [weak.n_vectors] * 3
    P = np.kron(np.eye(2), np.full((3, 3), 0.8)) + 0.1
    panels = affinity_figure(P, np.exp(10 * P), np.array(["a"] * 3 + ["b"] * 3)).axes
    assert [label.get_text() for label in panels[0].get_xticklabels()] == ["a", "b"]
    assert np.array_equal(panels[0].images[0].get_array(), P)
    profile = Profile(np.array([0.1, 0.2, 0.2]), np.array([False, False, True]))
    panels = profile_figure(dict.fromkeys(DATASETS, profile)).axes
    assert all(sum(bar.get_height() for bar in panel.patches) >= 3 for panel in panels)


def test_save_replaces_whole_files(tmp_path):
    path = save(new_figure(1, 1), tmp_path / "new", "empty")
    before = path.read_bytes()
    assert before.startswith(b"\x89PNG")
    save(new_figure(1, 1), tmp_path / "new", "empty")
    assert path.read_bytes() == before
    assert list((tmp_path / "new").iterdir()) == [path]


def test_paper_figures_are_the_same_twice(results, stand_ins, tmp_path):
    vectors = {simulation.name: made_up_vectors(simulation) for simulation in SIMULATIONS}
    first = paper_figures(results, vectors, tmp_path / "first")
    assert tuple(path.stem for path in first) == NAMES
    (again,) = paper_figures(results, {}, tmp_path / "again", ["gain_over_kmeans"])
    assert again.read_bytes() == (tmp_path / "first" / again.name).read_bytes()
