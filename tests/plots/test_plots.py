"""What holds for every picture: the Axes it draws on, odd names, colours, hard tables, bad input."""

import subprocess
import sys

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from sklearn.base import clone

from clusterforests import ClusterForest, PaperForest, plots
from clusterforests.plots.style import CLUSTER_COLORS, as_text

ONE_FOREST = {
    "consensus_heatmap": lambda f, X, ax: plots.consensus_heatmap(f, ax=ax),
    "item_consensus": lambda f, X, ax: plots.item_consensus(f, ax=ax),
    "spectral_embedding": lambda f, X, ax: plots.spectral_embedding(f, ax=ax),
    "cluster_profiles": lambda f, X, ax: plots.cluster_profiles(f, X, ax=ax),
    "feature_importance": lambda f, X, ax: plots.feature_importance(f, ax=ax),
    "consensus_cdf": lambda f, X, ax: plots.consensus_cdf(f, ax=ax),
    "consensus_cdf_for_each": lambda f, X, ax: plots.consensus_cdf(f, range(2, 5), max_rows=60, ax=ax),
    "cluster_tree": lambda f, X, ax: plots.cluster_tree(f, X, ax=ax),
}

NAMES = ["$a_b$", "<script>alert(1)</script>", "x" * 200, "Größe µm", "100 $", "two\nlines", r"\alpha_{1}^2"]

rng = np.random.default_rng(0)


@pytest.mark.parametrize("name", ONE_FOREST)
def test_draws_on_the_given_axes_or_makes_one_figure(name, forest, groups, ax):
    before = dict(matplotlib.rcParams)
    other = plt.subplots()[1]  # the current one, which is not ours
    assert ONE_FOREST[name](forest, groups[0], ax) is ax
    assert plt.gca() is other
    assert len(plt.get_fignums()) == 2
    assert not other.has_data()
    assert ax.has_data()
    made = ONE_FOREST[name](forest, groups[0], None)
    assert isinstance(made, Axes)
    assert len(plt.get_fignums()) == 3
    made.figure.canvas.draw()
    assert made.get_title()
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("name", ONE_FOREST)
def test_odd_names_are_text(name, tick_labels):
    X = pd.DataFrame(rng.normal(size=(40, 7)), columns=NAMES)
    X.iloc[:20, :3] += 6
    X["kind"] = np.where(np.arange(40) % 3 == 0, "$1$", np.where(np.arange(40) % 3 == 1, "a_b", "<b>"))
    X["half"] = np.where((np.arange(40) < 20) ^ (np.arange(40) % 8 == 0), "yes", "no")
    X = X.astype({"kind": "category", "half": "category"})
    X.iloc[3, 0] = np.nan
    shown = ONE_FOREST[name](ClusterForest(2, n_estimators=20, random_state=0).fit(X), X, None)
    shown.figure.canvas.draw()
    if name == "cluster_profiles":
        listed = {label.replace(r"\$", "$") for label in tick_labels(shown.yaxis)}
        assert listed >= {"$a_b$", "<script>alert(1)</script>", "two lines", "kind = $1$", "half = yes", "100 $"}
        assert max(map(len, listed)) <= 34


def constant():
    X = rng.normal(size=(40, 4))
    X[:, 1] = 7.0
    return X


HARD = {
    "one cluster": (ClusterForest(1, n_estimators=10, random_state=0), rng.normal(size=(40, 3))),
    "one feature": (ClusterForest(3, n_estimators=10, random_state=0), rng.normal(size=(40, 1))),
    "forty clusters": (
        ClusterForest(40, n_estimators=10, random_state=0),
        np.repeat(20 * rng.normal(size=(40, 3)), 5, axis=0) + rng.normal(size=(200, 3)),
    ),
    "five rows": (ClusterForest(2, n_estimators=10, random_state=0), rng.normal(size=(5, 3))),
    "constant column": (ClusterForest(2, n_estimators=10, random_state=0), constant()),
    "two different rows": (ClusterForest(2, n_estimators=10, random_state=0), np.repeat([[0.0, 0], [1, 1]], 5, axis=0)),
    "one tree": (PaperForest(3, n_estimators=1, random_state=0), rng.normal(size=(40, 4))),
}


@pytest.mark.parametrize("case", HARD)
def test_hard_cases(case):
    forest, X = HARD[case]
    forest = clone(forest).fit(X)
    for name, draw in ONE_FOREST.items():
        if case == "one tree" and name in ("consensus_cdf", "consensus_cdf_for_each"):
            with pytest.raises(ValueError, match="two halves need at least 2"):
                draw(forest, X, None)
            continue
        shown = draw(forest, X, None)
        shown.figure.canvas.draw()
        assert shown.has_data(), name
        plt.close(shown.figure)


def test_weights_count(groups, tick_labels):
    X, _ = groups
    weights = np.repeat([1.0, 3.0, 0.0], 50)
    forest = ClusterForest(3, n_estimators=20, random_state=0).fit(X, sample_weight=weights)
    shown = plots.cluster_profiles(forest, X, max_features=1)
    column = int(tick_labels(shown.yaxis)[0].split()[1])
    mean = np.average(X[:, column], weights=weights)
    deviation = np.sqrt(np.average((X[:, column] - mean) ** 2, weights=weights))
    own = forest.labels_ == 0
    expected = (np.average(X[own, column], weights=weights[own]) - mean) / deviation
    assert shown.images[0].get_array()[0, 0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f, X: plots.consensus_heatmap(f, max_rows=0), "max_rows=0"),
        (lambda f, X: plots.consensus_heatmap(f, max_rows=2), "max_rows=2 is less than the number of clusters, 3"),
        (lambda f, X: plots.feature_importance(f, max_features="all"), "max_features='all'"),
        (lambda f, X: plots.feature_importance(f, names=["a", "b"]), "names must be 6 names"),
        (lambda f, X: plots.feature_importance(ClusterForest()), "not fitted"),
        (lambda f, X: plots.cluster_profiles(f, X[:9]), "X has 9 rows but the forest was fitted on 150"),
        (lambda f, X: plots.cluster_tree(f, X[:9]), "X has 9 rows but the forest was fitted on 150"),
        (lambda f, X: plots.cluster_tree(f, n_clusters=[]), "n_clusters=.* must be several integers"),
        (lambda f, X: plots.consensus_cdf(f, 3), "n_clusters=3 is not allowed"),
    ],
)
def test_bad_input_is_named_and_leaves_no_figure(call, message, forest, groups):
    with pytest.raises(ValueError, match=message):
        call(forest, groups[0])
    assert not plt.get_fignums()


def test_without_matplotlib():
    """The names can be imported; what is missing is said when something is to be drawn."""
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from clusterforests import ClusterForest, plots\n"
        "forest = ClusterForest(2, n_estimators=3, random_state=0).fit([[0.0], [0.1], [5], [5.1]])\n"
        f"for name in {plots.__all__}:\n"
        "    try: getattr(plots, name)(*([forest, [[0]]] if name == 'cluster_profiles' else [forest]))\n"
        "    except ImportError as error: assert 'pip install clusterforests[plot]' in str(error), name\n"
        "    else: sys.exit(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_text():
    assert as_text("a$b$") == r"a\$b\$"
    assert as_text("x" * 200) == "x" * 21 + "…" + "x" * 9
    figure = plt.figure()
    drawn = figure.text(0, 0, as_text("$x_1$"))
    assert drawn._preprocess_math(drawn.get_text()) == ("$x_1$", False)


def test_dark_pages(forest):
    with plt.style.context("dark_background"):
        shown = plots.item_consensus(forest)
    assert shown.xaxis.label.get_color() == "white"
    assert shown.collections[0].get_color()[0].tolist() == [1, 1, 1, 1]


def test_colours_of_clusters_differ_from_their_neighbours_in_grey():
    rgb = np.array([matplotlib.colors.to_rgb(color) for color in CLUSTER_COLORS])
    grey = rgb @ [0.299, 0.587, 0.114]
    assert len(set(CLUSTER_COLORS)) == 10
    assert np.abs(np.diff(grey[:4])).min() > 0.1
    assert grey.min() > 0.3
    assert grey.max() < 0.72


def test_axes_must_be_axes(forest):
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes or None, not ndarray"):
        plots.item_consensus(forest, ax=plt.subplots(1, 2)[1])
