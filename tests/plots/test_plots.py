"""Pictures show the data they are given, on the Axes they are given."""

import itertools
import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from clusterforests import ClusterForest, diagnostics, plots
from clusterforests.plots.numbers import followed
from clusterforests.plots.profiles import mean_z_scores, telling_features
from clusterforests.plots.rows import thin
from clusterforests.plots.style import CLUSTERS, as_text

ONE_FOREST = {
    "consensus_heatmap": lambda f, X, ax: plots.consensus_heatmap(f, ax=ax),
    "item_consensus": lambda f, X, ax: plots.item_consensus(f, ax=ax),
    "spectral_embedding": lambda f, X, ax: plots.spectral_embedding(f, ax=ax),
    "cluster_profiles": lambda f, X, ax: plots.cluster_profiles(f, X, ax=ax),
    "feature_importance": lambda f, X, ax: plots.feature_importance(f, X, ax=ax),
    "feature_use": lambda f, X, ax: plots.feature_use(f, ax=ax),
    "feature_use_per_tree": lambda f, X, ax: plots.feature_use(f, per_tree=True, ax=ax),
    "feature_profile": lambda f, X, ax: plots.feature_profile(f, X, ax=ax),
    "kappa_growth": lambda f, X, ax: plots.kappa_growth(f, ax=ax),
    "consensus_cdf": lambda f, X, ax: plots.consensus_cdf(f, ax=ax),
    "tracking": lambda f, X, ax: plots.tracking(f, ax=ax),
}
NAMES = ["$a_b$", "<script>alert(1)</script>", "x" * 200, "Größe µm", "100 $", "two\nlines", r"\alpha_{1}^2"]
rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def no_figure_left():
    """A figure made by us is one more; every test closes what it opened."""
    assert not plt.get_fignums()
    yield
    plt.close("all")


@pytest.fixture
def ax():
    return plt.subplots(layout="constrained")[1]


@pytest.fixture(scope="module")
def groups():
    truth = np.repeat([0, 1, 2], [60, 50, 40])
    X = np.random.default_rng(0).normal(size=(150, 6))
    X[:, :2] += np.array([[0, 8], [8, 16], [16, 0]])[truth]
    return X, truth


@pytest.fixture(scope="module")
def forest(groups):
    return ClusterForest(3, n_estimators=40, random_state=0).fit(groups[0])


@pytest.fixture(scope="module")
def several(groups):
    return [ClusterForest.from_paper(k, n_estimators=20, random_state=0).fit(groups[0]) for k in (4, 2, 3)]


def texts(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


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


def test_heatmap_is_ordered_by_cluster_and_sureness(forest):
    shown = plots.consensus_heatmap(forest)
    order = np.lexsort((-forest.item_consensus_, forest.labels_))
    assert np.array_equal(shown.images[0].get_array(), forest.coassociation(order, order))
    assert len(shown.figure.axes) == 2
    assert texts(shown.xaxis) == ["0", "1", "2"]
    assert "150 rows" in shown.get_xlabel()
    assert len(plots.consensus_heatmap(forest, colorbar=False).figure.axes) == 1


def test_item_consensus_bars(forest):
    shown = plots.item_consensus(forest)
    for cluster, bars in enumerate(shown.patches):
        own = np.sort(forest.item_consensus_[forest.labels_ == cluster])[::-1]
        assert np.array_equal(bars.get_data().values, own)
        assert (np.diff(bars.get_data().edges) == 1).all()
    means = [line.get_segments()[0][0, 0] for line in shown.collections]
    assert means == pytest.approx(forest.cluster_consensus_)


def test_embedding_tells_clusters_apart_and_has_the_eigenvectors(groups):
    forest = ClusterForest.from_paper(3, n_estimators=30, random_state=0).fit(groups[0])
    shown = plots.spectral_embedding(forest)
    places = np.vstack([np.asarray(dots.get_offsets()) for dots in shown.collections])
    order = np.argsort(forest.labels_, kind="stable")
    W = np.exp(3.0 * np.where(forest.coassociation() < 0.4, 0, forest.coassociation()))[np.ix_(order, order)]
    values = np.sort(np.linalg.eigvals(W / W.sum(axis=1, keepdims=True)).real)
    for vector, value in zip(places.T, values[-2:-4:-1], strict=True):
        assert W @ vector / W.sum(axis=1) == pytest.approx(value * vector, abs=1e-8)
        assert np.abs(vector).max() > 1e-3
    assert [len(dots.get_offsets()) for dots in shown.collections] == np.bincount(forest.labels_).tolist()


@pytest.mark.parametrize("draw", [plots.consensus_heatmap, plots.item_consensus, plots.spectral_embedding])
def test_numbers_of_many_clusters_do_not_lie_on_each_other(draw):
    centers = rng.normal(size=(40, 6)) * 9
    X = centers[np.sort(rng.integers(0, 40, 600))] + rng.normal(size=(600, 6))
    shown = draw(ClusterForest(40, n_estimators=20, random_state=0).fit(X))
    shown.figure.canvas.draw()
    for written in (shown.get_xticklabels(), shown.get_yticklabels(), shown.texts):
        boxes = [text.get_window_extent() for text in written if text.get_text()]
        assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    assert "0" in {text.get_text() for text in [*shown.get_yticklabels(), *shown.texts]}


def test_feature_use(forest):
    names = [f"n{j}" for j in range(6)]
    shown = plots.feature_use(forest, max_features=4, names=names)
    order = np.argsort(-forest.feature_importances_)[:4]
    assert [bar.get_width() for bar in shown.patches] == pytest.approx(100 * forest.feature_importances_[order])
    assert texts(shown.yaxis) == [names[j] for j in order]
    assert shown.get_ylim() == (3.5, -0.5)  # the first at the top
    assert shown.get_ylabel() == "4 of 6 features"
    trees = plots.feature_use(forest, per_tree=True).images[0].get_array().filled(0)
    order, best = np.argsort(-forest.feature_importances_), np.argsort(forest.kappas_, kind="stable")
    used = np.array([np.isin(order, forest.estimators_features_[t]) for t in best])
    assert np.array_equal(trees, used.T)


def test_feature_importance(forest, groups):
    shown = plots.feature_importance(forest, groups[0])
    found = diagnostics.feature_importance(
        groups[0], forest.labels_, forest.partitions_, forest.estimators_features_, combine=forest._cut_again
    )
    separation = found.separation.features
    order = np.argsort(-separation.excess)
    widths = {round(bar.get_y() + bar.get_height() / 2): bar.get_width() for bar in shown.patches}
    assert [widths[i] for i in range(6)] == pytest.approx(100 * separation.share[order])
    assert texts(shown.yaxis) == [f"feature {j}" for j in order]
    ends = np.array([segment[1, 0] for segment in shown.collections[-1].get_segments()])
    assert ends == pytest.approx(100 * (separation.expected + 2 * separation.deviation)[order])
    again = plots.feature_importance(forest, groups[0], importance=found)
    assert [bar.get_width() for bar in again.patches] == [bar.get_width() for bar in shown.patches]
    narrow = ClusterForest(2, n_estimators=5, random_state=0).fit(groups[0][:, :4])
    with pytest.raises(ValueError, match="importance is of 6 columns but X has 4"):
        plots.feature_importance(narrow, groups[0][:, :4], importance=found)


def test_feature_profile(forest, groups):
    X = groups[0].copy()
    X[:, 5] = 1.0
    X[:3, 4] = np.nan
    forest = ClusterForest(3, n_estimators=5, random_state=0).fit(X)
    shown = plots.feature_profile(forest, X)
    assert sum(bar.get_height() for bar in shown.patches) == 5
    assert "1 with fewer than 3 values not shown" in shown.get_ylabel()
    assert shown.lines[0].get_xdata()[0] == diagnostics.noise_strength(3)
    alone = diagnostics.feature_profile(X[3:, 4:5], 3).strengths[0]
    assert diagnostics.feature_profile(X, 3).strengths[4] == pytest.approx(alone)


def test_cluster_profiles(forest, groups):
    shown = plots.cluster_profiles(forest, groups[0], max_features=2)
    means = np.asarray(shown.images[0].get_array())
    z = (groups[0] - groups[0].mean(axis=0)) / groups[0].std(axis=0)
    columns = [int(name.split()[1]) for name in texts(shown.yaxis)]
    assert sorted(columns) == [0, 1]
    for cluster in range(3):
        assert means[:, cluster] == pytest.approx(z[forest.labels_ == cluster][:, columns].mean(axis=0))
    assert shown.get_ylabel() == "2 of 6 features"
    assert len(shown.texts) == 6


def test_z_scores_with_weights_and_gaps():
    X = np.array([[1.0, 5, 1e200], [2, 5, 3e200], [np.nan, 5, 2e200], [4, 5, np.nan]])
    labels, weights = np.array([0, 0, 1, 1]), np.array([1.0, 2, 3, 1])
    found = mean_z_scores(X, labels, weights)
    many = np.repeat(X, weights.astype(int), axis=0)
    z = (many[:, 0] - np.nanmean(many[:, 0])) / np.nanstd(many[:, 0])
    assert found[:, 0] == pytest.approx([np.nanmean(z[:3]), np.nanmean(z[3:])])
    assert found[:, 1].tolist() == [0, 0]
    assert np.isfinite(found).all()


def test_every_cluster_has_a_telling_feature():
    shares = np.array([[0.9, 0.8, 0.7, 0.0], [0.1, 0.1, 0.1, 0.2]])
    assert telling_features(shares, 2).tolist() == [0, 3]
    assert telling_features(shares, 9).tolist() == [0, 1, 2, 3]


def test_kappa_growth_follows_the_trees(forest):
    shown = plots.kappa_growth(forest)
    path = forest.kappa_path_
    assert path.shape[0] == 40
    for line, kappas in zip(shown.lines, path, strict=False):
        assert np.array_equal(line.get_ydata(), kappas, equal_nan=True)
    assert not (np.diff(path, axis=1) > 0).any()
    steps = np.isfinite(path)
    assert (steps[:, :-1] >= steps[:, 1:]).all()
    last = path[np.arange(40), steps.sum(axis=1) - 1]
    assert shown.lines[-2].get_ydata() == pytest.approx(last)
    assert shown.lines[-1].get_ydata()[-1] == pytest.approx(np.median(last))


def test_cdf_of_several_forests(several):
    shown = plots.consensus_cdf(several)
    for line, forest in zip(shown.lines, sorted(several, key=lambda f: f.n_clusters_), strict=True):
        curve = diagnostics.consensus_cdf(forest.partitions_)
        assert np.array_equal(line.get_ydata(), curve.cdf)
        assert line.get_label() == f"K = {forest.n_clusters_}, PAC {diagnostics.pac(curve):.2f}"


def test_delta_area(several, groups):
    shown = plots.delta_area(several)
    by_number = sorted(several, key=lambda f: f.n_clusters_)
    areas = [diagnostics.cdf_area(diagnostics.consensus_cdf(f.partitions_)) for f in by_number]
    assert shown.lines[-1].get_xdata().tolist() == [2, 3, 4]
    assert shown.lines[-1].get_ydata() == pytest.approx(diagnostics.delta_area(areas))
    auto = ClusterForest(range(1, 5), n_estimators=10, random_state=0).fit(groups[0])
    evidence = auto.n_clusters_evidence_
    for source in (auto, evidence):
        points, chosen = plots.delta_area(source).lines[1:]
        assert np.array_equal(points.get_ydata(), evidence.evidence["delta_area"][1:])
        assert chosen.get_xdata()[0] == auto.n_clusters_
    few = ClusterForest("auto", n_estimators=5, random_state=0).fit(groups[0][:6])
    assert plots.delta_area(few).texts[0].get_text() == "too few rows to tell"
    with pytest.raises(ValueError, match="forests of 2, 4 clusters"):
        plots.delta_area(by_number[::2])


def test_tracking(forest, several):
    shown = plots.tracking(several)
    assert texts(shown.yaxis) == ["2", "3", "4"]
    colors = shown.images[0].get_array()
    by_number = sorted(several, key=lambda f: f.n_clusters_)
    labels = [f.labels_ for f in by_number]
    assert np.array_equal(colors, followed(labels)[:, np.lexsort(labels[::-1])])
    assert np.array_equal(np.sort(labels[0]), colors[0])
    one = plots.tracking(forest, [3, 1, 3])
    assert texts(one.yaxis) == ["1", "3"]
    assert np.array_equal(
        np.bincount(one.images[0].get_array()[1]), np.bincount(forest._cut_again(forest.partitions_, 3))
    )


def test_colours_follow_clusters():
    a, b, c = np.array([0, 0, 0, 1, 1]), np.array([2, 2, 0, 1, 1]), np.array([0, 0, 0, 1, 2])
    assert followed([a, b, c]).tolist() == [[0, 0, 0, 1, 1], [0, 0, 2, 1, 1], [0, 0, 0, 1, 2]]


def test_thinning_is_proportional_fixed_and_said():
    labels = rng.permutation(np.repeat([0, 1, 2, 3], [600, 300, 99, 1])).astype(np.int32)
    rows = thin(labels, 100)
    assert (np.diff(rows) > 0).all()
    assert np.bincount(labels[rows]).tolist() == [60, 30, 9, 1]
    assert np.array_equal(rows, thin(labels, 100))
    assert thin(labels, 1000).tolist() == list(range(1000))
    assert np.bincount(labels[thin(labels, 4)]).tolist() == [1, 1, 1, 1]
    for size in (5, 17, 333, 999):
        assert len(thin(labels, size)) == size
    with pytest.raises(ValueError, match="max_rows=3 is less than the number of clusters, 4"):
        thin(labels, 3)


def test_axes_say_how_many_rows_are_shown(forest):
    for draw in (plots.consensus_heatmap, plots.item_consensus, plots.spectral_embedding, plots.tracking):
        shown = draw(forest, max_rows=30)
        said = shown.get_xlabel() + shown.get_ylabel() + shown.get_title()
        assert "30 of 150 rows" in said, draw.__name__
    assert plots.consensus_heatmap(forest, max_rows=30).images[0].get_array().shape == (30, 30)
    assert "of 20 of 150 rows" in plots.consensus_cdf(forest, max_rows=20).get_ylabel()


@pytest.mark.parametrize("name", ONE_FOREST)
def test_odd_names_are_text(name):
    X = pd.DataFrame(rng.normal(size=(40, 7)), columns=NAMES)
    X.iloc[:20, :3] += 6
    X["kind"] = np.where(np.arange(40) % 3 == 0, "$1$", np.where(np.arange(40) % 3 == 1, "a_b", "<b>"))
    X["half"] = np.where(np.arange(40) < 20, "yes", "no")
    X.iloc[3, 0] = np.nan
    shown = ONE_FOREST[name](ClusterForest(2, n_estimators=20, random_state=0).fit(X), X, None)
    shown.figure.canvas.draw()
    if name == "cluster_profiles":
        listed = {label.replace(r"\$", "$") for label in texts(shown.yaxis)}
        assert listed >= {"$a_b$", "<script>alert(1)</script>", "two lines", "kind = $1$", "half = yes", "100 $"}
        assert max(map(len, listed)) <= 34


def test_text():
    assert as_text("a$b$") == r"a\$b\$"
    assert as_text("x" * 200) == "x" * 21 + "…" + "x" * 9
    figure = plt.figure()
    drawn = figure.text(0, 0, as_text("$x_1$"))
    assert drawn._preprocess_math(drawn.get_text()) == ("$x_1$", False)


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
    "one tree": (ClusterForest.from_paper(3, n_estimators=1, random_state=0), rng.normal(size=(40, 4))),
}


@pytest.mark.parametrize("case", HARD)
def test_hard_cases(case):
    forest, X = HARD[case]
    forest.fit(X)
    for name, draw in ONE_FOREST.items():
        shown = draw(forest, X, None)
        shown.figure.canvas.draw()
        assert shown.has_data(), name
        plt.close(shown.figure)


def test_weights_count(groups):
    X, _ = groups
    weights = np.repeat([1.0, 3.0, 0.0], 50)
    forest = ClusterForest(3, n_estimators=20, random_state=0).fit(X, sample_weight=weights)
    curve = diagnostics.consensus_cdf(forest.partitions_, weights=weights)
    assert np.array_equal(plots.consensus_cdf(forest).lines[0].get_ydata(), curve.cdf)
    shown = plots.cluster_profiles(forest, X, max_features=1)
    column = int(texts(shown.yaxis)[0].split()[1])
    mean = np.average(X[:, column], weights=weights)
    deviation = np.sqrt(np.average((X[:, column] - mean) ** 2, weights=weights))
    own = forest.labels_ == 0
    expected = (np.average(X[own, column], weights=weights[own]) - mean) / deviation
    assert shown.images[0].get_array()[0, 0] == pytest.approx(expected)


def test_dark_pages(forest):
    with plt.style.context("dark_background"):
        shown = plots.feature_use(forest)
    assert shown.lines[0].get_color() == "white"


def test_colours_of_clusters_differ_from_their_neighbours_in_grey():
    rgb = np.array([matplotlib.colors.to_rgb(color) for color in CLUSTERS])
    grey = rgb @ [0.299, 0.587, 0.114]
    assert len(set(CLUSTERS)) == 10
    assert np.abs(np.diff(grey[:4])).min() > 0.1
    assert grey.min() > 0.3
    assert grey.max() < 0.72


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f, X: plots.consensus_heatmap(f, max_rows=0), "max_rows=0"),
        (lambda f, X: plots.consensus_heatmap(f, max_rows=2), "max_rows=2 is less than the number of clusters, 3"),
        (lambda f, X: plots.feature_use(f, max_features="all"), "max_features='all'"),
        (lambda f, X: plots.feature_use(f, names=["a", "b"]), "names must be 6 names"),
        (lambda f, X: plots.cluster_profiles(f, X[:9]), "X has 9 rows but the forest was fitted on 150"),
        (lambda f, X: plots.feature_profile(f, X, n_clusters=1), "n_clusters=1"),
        (lambda f, X: plots.tracking([f, ClusterForest(2, n_estimators=3).fit(X[:9])]), "different numbers of rows"),
        (lambda f, X: plots.tracking(f, [10**6]), "tell only"),
        (lambda f, X: plots.consensus_cdf([]), "forests is empty"),
        (lambda f, X: plots.kappa_growth(ClusterForest()), "not fitted"),
    ],
)
def test_bad_input_is_named_and_leaves_no_figure(call, message, forest, groups):
    with pytest.raises(ValueError, match=message):
        call(forest, groups[0])
    assert not plt.get_fignums()


def test_axes_must_be_axes(forest):
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes or None, not ndarray"):
        plots.feature_use(forest, ax=plt.subplots(1, 2)[1])


def test_without_matplotlib():
    """The names can be imported; what is missing is said when something is to be drawn."""
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from clusterforests import ClusterForest, plots\n"
        "forest = ClusterForest(2, n_estimators=3, random_state=0).fit([[0.0], [0.1], [5], [5.1]])\n"
        f"for name in {plots.__all__}:\n"
        "    try: getattr(plots, name)(*([forest, [[0]]] if name in ('cluster_profiles', 'feature_importance', "
        "'feature_profile') else [forest]))\n"
        "    except ImportError as error: assert 'pip install clusterforests[plot]' in str(error), name\n"
        "    else: sys.exit(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
