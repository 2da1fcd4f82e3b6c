"""ClusterForest as its users meet it."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import reference
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, Birch
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from clusterforests import ClusterForest, HartiganWongKMeans, PaperForest, consensus_clustering
from clusterforests.consensus.methods import METHODS
from paper.metrics import clustering_accuracy, rand_index

PRINTED = {  # the paper's q = 1 column, (rho_r, rho_c) in percent
    "wine": (3, 79.70, 79.19),
    "wdbc": (2, 79.93, 88.70),
    "heart": (2, 56.90, 68.26),
    "spect": (2, 56.78, 68.02),
    "robot": (5, 63.60, 41.20),
}


# Both ask every estimator that has `predict_proba` for the tags of a classifier, which a clusterer has not. The test
# after the next checks what they would.
WRONG = dict.fromkeys(
    ("check_estimator_sparse_array", "check_estimator_sparse_matrix"),
    "scikit-learn reads classifier_tags.multi_class of a clusterer, whose classifier_tags are None",
)


def wrong_checks(estimator):
    return WRONG if isinstance(estimator, ClusterForest | PaperForest) else {}


@pytest.mark.filterwarnings("ignore:.*fewer than n_clusters:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([ClusterForest(4), HartiganWongKMeans(), PaperForest(4)], expected_failed_checks=wrong_checks)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("make", [ClusterForest, PaperForest])
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("format", ["bsr", "coo", "csc", "csr", "dia", "dok", "lil", "csr64"])
def test_sparse_tables_of_every_format(make, container, format):
    X = np.random.RandomState(0).uniform(size=(40, 3))
    X[X < 0.6] = 0
    table = container(X).asformat(format.removesuffix("64"))
    if format == "csr64":
        table.indices, table.indptr = table.indices.astype(np.int64), table.indptr.astype(np.int64)
    forest = make(4, n_estimators=10, random_state=0).fit(table)
    assert np.array_equal(forest.predict(table), make(4, n_estimators=10, random_state=0).fit(X).labels_)
    assert forest.predict_proba(table).shape == (40, 4)


@pytest.mark.parametrize("name", PRINTED)
def test_paper_competition_row(uci, name):
    """The published settings, with the patience that reproduces the tables, over 20 seeds."""
    data = uci(name)
    k, printed_r, printed_c = PRINTED[name]
    found = [PaperForest(k, patience=1, random_state=seed, n_jobs=2).fit_predict(data.data) for seed in range(20)]
    assert np.mean([100 * rand_index(data.target, f) for f in found]) >= printed_r - 1.5
    assert np.mean([100 * clustering_accuracy(data.target, f) for f in found]) >= printed_c - 1.5


def test_attributes(blobs):
    X, _ = blobs
    forest = PaperForest(3, n_estimators=20, random_state=0).fit(X)
    assert forest.n_clusters_ == 3
    assert forest.labels_.dtype == np.int32
    assert (np.diff(np.bincount(forest.labels_)) <= 0).all()
    assert forest.partitions_.shape == (20, 75)
    assert len(forest.estimators_features_) == 20
    assert forest.kappas_.shape == (20,)
    assert forest.n_iter_ >= 2
    leaves = [node for node in forest.cut_tree_.nodes if node.left < 0]
    assert len(leaves) == 3


def test_coassociation(blobs):
    X, _ = blobs
    forest = ClusterForest(3, n_estimators=20, random_state=0).fit(X)
    P = forest.coassociation()
    assert (P == P.T).all()
    assert (np.diag(P) == 1).all()
    assert (forest.coassociation(rows=[3, 1]) == P[[3, 1]]).all()
    assert (forest.coassociation(rows=slice(5), cols=np.arange(75) > 70) == P[:5, 71:]).all()


@pytest.mark.parametrize("rows", [3, [1.5], [75], [[0, 1]], "all"])
def test_coassociation_of_bad_rows(blobs, rows):
    X, _ = blobs
    forest = ClusterForest(3, n_estimators=5, random_state=0).fit(X)
    with pytest.raises(ValueError, match="rows="):
        forest.coassociation(rows)


def test_feature_names_are_forgotten_on_refit(blobs):
    X, _ = blobs
    forest = ClusterForest(3, n_estimators=5, random_state=0).fit(pd.DataFrame(X).add_prefix("f"))
    assert not hasattr(forest.fit(X), "feature_names_in_")


CHANGES = {
    "n_clusters": 4,
    "n_estimators": 21,
    "estimator": Birch(threshold=0.1),
    "scale": "rank",
    "n_base_clusters": 7,
    "features_per_draw": 1,
    "n_candidates": 4,
    "patience": "all",
    "repeat_features": False,
    "quality": "pairwise",
    "affinity_threshold": 0.9,
    "affinity_scale": 30.0,
    "compete": "always",
    "consensus": "average",
    "n_init": 1,
    "max_iter": 1,
    "max_samples": 60,
    "random_state": 1,
}


@pytest.mark.parametrize("name", CHANGES)
def test_every_parameter_has_an_effect(name):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 12)) + 0.3 * rng.normal(size=(200, 12))
    plain = PaperForest(5, n_estimators=20, random_state=0, n_candidates=2).get_params()

    def outcome(**parameters):
        forest = PaperForest(**parameters).fit(X)
        return forest.partitions_.tobytes(), forest.labels_.tobytes()

    assert outcome(**plain) != outcome(**(plain | {name: CHANGES[name]}))


AUTOMATIC = {name for name, value in ClusterForest().get_params().items() if value == "auto"}


@pytest.mark.parametrize("name", sorted(AUTOMATIC - {"n_clusters"}))
def test_every_automatic_setting_can_be_given(blobs, name):
    """What `chosen_params_` says was chosen, given explicitly, is the same forest; and it says that it was given."""
    X, _ = blobs
    common = {"n_estimators": 20, "random_state": 0}
    if name == "n_base_clusters":  # otherwise no tree would have more clusters than given
        common["trees"] = "fine"
    automatic = ClusterForest(3, **common).fit(X)
    chosen = automatic.chosen_params_[name].value
    given = ClusterForest(3, **common, **{name: chosen}).fit(X)
    assert (given.partitions_ == automatic.partitions_).all()
    assert (given.labels_ == automatic.labels_).all()
    assert given.chosen_params_[name].value == chosen
    assert given.chosen_params_[name].reason.startswith("given")
    assert not automatic.chosen_params_[name].reason.startswith("given")


def test_automatic_settings(blobs):
    X, _ = blobs
    chosen = ClusterForest(3, n_estimators=20, random_state=0).fit(X).chosen_params_
    assert chosen.keys() == AUTOMATIC | {"select_features", "n_estimators"}
    assert chosen["n_base_clusters"].value == (2, 9)
    assert chosen["trees"].value == "fine"
    assert chosen["consensus"].value == "gaps"


def test_base_clusters_are_drawn_from_the_range():
    X = np.random.default_rng(0).normal(size=(300, 4))
    forest = ClusterForest(2, n_base_clusters=(4, 7), n_estimators=60, random_state=0).fit(X)
    assert set(forest.partitions_.max(axis=1) + 1) == {4, 5, 6, 7}


def test_few_distinct_rows_lower_base_clusters():
    """Two yes/no features have four different rows; a range of n_base_clusters gives way, a number does not."""
    X = np.random.default_rng(0).integers(0, 2, size=(100, 2)).astype(float)
    assert ClusterForest(3, random_state=0).fit(X).partitions_.max() <= 3
    with pytest.raises(ValueError, match=r"n_base_clusters=6 is more than the number of distinct rows of X, 4"):
        ClusterForest(3, n_base_clusters=6).fit(X)


def test_units_do_not_matter(blobs):
    """Any scaling but "none" forgets the units; with "none" a large unit decides."""
    X, _ = blobs
    other = X * 2.0 ** np.array([0, 30, -20, 0, 0, 0])
    for scale in ("standard", "range", "rank", "mixed"):
        forest = ClusterForest(3, scale=scale, n_estimators=20, random_state=0)
        assert (clone(forest).fit(X).partitions_ == forest.fit(other).partitions_).all()
    plain = ClusterForest(3, scale="none", n_estimators=20, random_state=0)
    assert (clone(plain).fit(X).partitions_ != plain.fit(other).partitions_).any()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames(blobs, make):
    X, _ = blobs
    frame = make({f"f{j}": X[:, j] for j in range(6)})
    forest = ClusterForest(3, n_estimators=10, random_state=0).fit(frame)
    assert list(forest.feature_names_in_) == [f"f{j}" for j in range(6)]
    assert (forest.labels_ == ClusterForest(3, n_estimators=10, random_state=0).fit_predict(X)).all()


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_set_output(blobs, container):
    X, _ = blobs
    distances = HartiganWongKMeans(3, random_state=0).set_output(transform=container).fit_transform(X)
    assert list(distances.columns) == [f"hartiganwongkmeans{i}" for i in range(3)]
    steps = make_pipeline(StandardScaler(), ClusterForest(3, n_estimators=10, random_state=0))
    assert len(steps.set_output(transform=container).fit_predict(X)) == 75
    assert steps[-1].feature_names_in_[0] == "x0"


def test_clone_and_pickle(blobs):
    X, _ = blobs
    forest = ClusterForest(3, n_estimators=10, random_state=0).fit(X)
    again = pickle.loads(pickle.dumps(forest))
    assert (again.coassociation() == forest.coassociation()).all()
    assert clone(forest).get_params() == forest.get_params()
    assert not hasattr(clone(forest), "labels_")


@pytest.mark.parametrize("consensus", METHODS)
def test_every_consensus_labels_every_row(blobs, consensus):
    X, _ = blobs
    labels = ClusterForest(4, n_estimators=20, consensus=consensus, random_state=0).fit_predict(X)
    assert set(labels) == {0, 1, 2, 3}


def test_one_cluster(blobs):
    X, _ = blobs
    assert set(ClusterForest(1, n_estimators=5).fit_predict(X)) == {0}


def test_progress(blobs, capsys):
    X, _ = blobs
    ClusterForest(3, n_estimators=10, random_state=0, verbose=1).fit(X)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("75 rows in 3 clusters by 10 trees")


def test_progress_bar_on_a_terminal(blobs, capsys, monkeypatch):
    X, _ = blobs
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    ClusterForest(3, n_estimators=10, random_state=0, verbose=1).fit(X)
    text = capsys.readouterr().err
    assert "growing [" in text
    assert "10 trees" in text
    assert text.endswith("\n")


BAD_VALUES = {
    "scale": ["z", 1],
    "max_samples": [1, 0.5],
    "n_clusters": [0, -1, 2.0, "3", None, True],
    "n_estimators": [0, 1.5, 70_000],
    "n_base_clusters": [0, 2.5],
    "features_per_draw": [0, 1.0],
    "n_candidates": [0, "2"],
    "patience": [0, "none", 1.0],
    "repeat_features": ["yes", 2],
    "quality": ["median", 1],
    "affinity_threshold": [-0.1, 1.5, float("nan"), "0.4"],
    "affinity_scale": [-1, float("inf"), "high", 51],
    "compete": ["never"],
    "consensus": ["Ncut", "ward"],
    "n_init": [0, 1.0],
    "max_iter": [0, -3],
    "n_jobs": [0, 1.5, 10**10],
    "random_state": [-1, "seed", 1.5],
    "verbose": [-1, "yes"],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in BAD_VALUES.items() for v in values])
def test_bad_parameters_are_named(blobs, name, value):
    X, _ = blobs
    for make in (ClusterForest, PaperForest):
        if name in make().get_params():
            with pytest.raises(ValueError, match=rf"{name}=.* must"):
                make(**({"n_clusters": 3, "n_estimators": 5} | {name: value})).fit(X)


X20 = np.random.default_rng(0).normal(size=(20, 3))


@pytest.mark.parametrize("make", [ClusterForest, HartiganWongKMeans])
@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.where(X20.max() == X20, np.inf, X20), ValueError, "infinity"),
        (np.arange(20.0), ValueError, "1D array"),
        (np.empty((0, 3)), ValueError, "0 sample"),
        (np.empty((20, 0)), ValueError, "0 feature"),
        (np.zeros((3, 2, 2)), ValueError, "dim 3"),
        (X20[:2], ValueError, "n_clusters=3 is more than the number of rows, n_samples=2"),
        (X20 * 1j, ValueError, "Complex"),
    ],
)
def test_bad_tables(make, X, error, message):
    with pytest.raises(error, match=message):
        make(3).fit(X)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.where(X20.max() == X20, np.nan, X20), ValueError, "NaN"),
        (sparse.csr_matrix(X20), TypeError, "Sparse data was passed"),
        (np.full((20, 2), "a"), ValueError, "string"),
        (np.array([[object()] * 2] * 20), TypeError, "float"),
        (pd.DataFrame({"size": [1.0] * 20, "colour": ["red"] * 20}), ValueError, "not numbers: 'colour'"),
        (pl.DataFrame({"size": [1.0] * 20, "colour": ["red"] * 20}), ValueError, "not numbers: 'colour'"),
    ],
)
def test_tables_of_numbers_only(X, error, message):
    with pytest.raises(error, match=message):
        HartiganWongKMeans(3).fit(X)


def test_too_few_distinct_rows():
    with pytest.warns(ConvergenceWarning, match="1 distinct rows, fewer than n_clusters=3"):
        assert ClusterForest(3).fit(np.ones((20, 4))).n_clusters_ == 1
    with pytest.warns(ConvergenceWarning, match="4 distinct rows, fewer than n_clusters=6"):
        assert (np.bincount(ClusterForest(6).fit(X20[np.arange(20) % 4]).labels_) == 5).all()
    with pytest.raises(ValueError, match="n_base_clusters=5 is more than the number of distinct rows of X, 4"):
        ClusterForest(3, n_base_clusters=5).fit(X20[np.arange(20) % 4])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0] * 19, "19 entries but X has 20 rows"),
        ([-1.0] + [1.0] * 19, "not negative"),
        ([np.nan] + [1.0] * 19, "finite"),
        ([0.0] * 20, "zero for every row"),
        (np.ones((20, 1)), "1-dimensional"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        HartiganWongKMeans(3).fit(X20, sample_weight=weights)


def test_predict_needs_the_same_columns():
    fitted = HartiganWongKMeans(3, random_state=0).fit(X20)
    with pytest.raises(ValueError, match="3 features"):
        fitted.predict(X20[:, :2])


def test_memory_is_checked_before(blobs, monkeypatch):
    X, _ = blobs
    partitions = ClusterForest(3, n_estimators=10).fit(X).partitions_
    monkeypatch.setattr("os.sysconf", lambda name: 1)
    monkeypatch.setattr("clusterforests._utils.memory.UNCHECKED_BYTES", 0)
    with pytest.raises(MemoryError, match=r"A fit of 750 rows and 6 columns needs"):
        ClusterForest(3, n_estimators=10).fit(np.repeat(X, 10, axis=0))
    with pytest.raises(MemoryError, match=r"The consensus graph of .* rows of labels needs"):
        consensus_clustering(partitions, 3, method="average")


def test_number_of_clusters_by_itself(blobs):
    X, truth = blobs
    forest = ClusterForest("auto", random_state=0).fit(X)
    assert forest.n_clusters_ == 3
    assert adjusted_rand_score(truth, forest.labels_) > 0.9
    assert forest.chosen_params_["n_clusters"].value == 3
    assert forest.n_clusters_evidence_.candidates == tuple(range(2, 8))  # what the trees are fine enough for
    assert ClusterForest(range(4, 6), random_state=0).fit(X).n_clusters_ in (4, 5)
    assert ClusterForest(3, random_state=0).fit(X).n_clusters_evidence_ is None


def test_no_clusters():
    X = np.random.default_rng(0).normal(size=(150, 4))
    forest = ClusterForest("auto", random_state=0).fit(X)
    assert forest.n_clusters_ == 1
    assert not forest.labels_.any()
    assert (forest.memberships_ == 1).all()


def test_one_cluster_of_equal_rows():
    assert not ClusterForest(1, n_estimators=5).fit(np.ones((6, 2))).labels_.any()


def test_candidates_beyond_the_rows():
    with pytest.raises(ValueError, match=r"n_clusters=\[30, 40\].*20 distinct rows"):
        ClusterForest([30, 40]).fit(X20)
    assert ClusterForest([2, 40], random_state=0).fit(X20).n_clusters_ == 2


def test_how_sure(blobs):
    X, _ = blobs
    forest = ClusterForest(3, n_estimators=40, random_state=0).fit(X)
    assert forest.memberships_.shape == (75, 3)
    np.testing.assert_allclose(forest.memberships_.sum(axis=1), 1)
    soft = reference.memberships(forest.partitions_, forest.labels_)
    np.testing.assert_allclose(forest.memberships_, soft)
    np.testing.assert_allclose(forest.item_consensus_, soft[np.arange(75), forest.labels_])
    np.testing.assert_allclose(
        forest.cluster_consensus_, [forest.item_consensus_[forest.labels_ == c].mean() for c in range(3)]
    )
    assert (forest.consensus_silhouette_ > 0.2).all()
    again = forest.stability(5)
    assert again.low <= again.mean <= again.high <= 1
    assert again.mean > 0.9
    assert (again.clusters > 0.9).all()


def test_missing_cells(blobs):
    X, truth = blobs
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    forest = ClusterForest(3, random_state=0).fit(holes)
    assert len(forest.labels_) == 75
    assert adjusted_rand_score(truth, forest.labels_) > 0.75
    frame = pd.DataFrame(holes).add_prefix("f").astype("Float64")
    assert (ClusterForest(3, random_state=0).fit(frame).labels_ == forest.labels_).all()


@pytest.mark.parametrize("large", [False, True])
def test_new_rows_have_missing_cells_and_unseen_levels(large, lower_limits, tmp_path, monkeypatch):
    monkeypatch.setattr("clusterforests.rows.results.NEW_ROWS_AT_A_TIME", 50)
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 60)
    frame = pd.DataFrame(5.0 * truth[:, None] + rng.normal(size=(180, 4)), columns=list("abcd"))
    numbers = ClusterForest(3, n_estimators=20, random_state=0)
    mixed = ClusterForest(3, n_estimators=20, random_state=0)
    if large:
        lower_limits(large_rows=100)
    numbers.fit(frame)
    frame["kind"] = pd.Categorical(np.array(["x", "y", "z"])[np.where(rng.random(180) < 0.3, 0, truth)])
    frame["two"] = pd.Categorical(np.where(rng.random(180) < 0.5, "yes", "no"))
    mixed.fit(frame)
    holes = frame.mask(rng.random(frame.shape) < 0.2)
    holes["a"] = frame["a"]
    assert adjusted_rand_score(numbers.labels_, numbers.predict(holes[list("abcd")])) > 0.9
    assert adjusted_rand_score(mixed.labels_, mixed.predict(holes)) > 0.9
    odd = frame.assign(kind=pd.Categorical(["new"] * 180), two=pd.Categorical(["perhaps"] * 180))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = mixed.predict(odd)
    (warning,) = caught
    assert "360 cells have levels that were not seen in fit: column 'kind' ('new' 180 times)" in str(warning.message)
    assert adjusted_rand_score(mixed.labels_, labels) > 0.9
    mixed.save(tmp_path / "m.cf", keep_rows=False)
    with pytest.raises(ValueError, match="saved without rows to fill them from"):
        ClusterForest.load(tmp_path / "m.cf").predict(holes)
    mixed.save(tmp_path / "m.cf")
    assert (ClusterForest.load(tmp_path / "m.cf").predict(holes) == mixed.predict(holes)).all()


def test_mixed_tables():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 40)
    frame = pd.DataFrame(
        {
            "colour": pd.Categorical(np.array(["red", "green", "blue"])[np.where(rng.random(120) < 0.1, 0, truth)]),
            "shape": pd.Categorical(np.where(truth == 1, "round", "long")),
            "size": truth + 0.2 * rng.normal(size=120),
            "noise": rng.normal(size=120),
        }
    )
    frame.loc[::17, "colour"] = None
    forest = ClusterForest(3, random_state=0).fit(frame)
    assert adjusted_rand_score(truth, forest.labels_) > 0.8
    assert forest.feature_importances_.shape == (4,)
    assert (ClusterForest(3, random_state=0).fit(pl.from_pandas(frame)).labels_ == forest.labels_).all()


def test_weights_are_repeated_rows(blobs):
    X, _ = blobs
    weights = np.random.default_rng(0).integers(1, 4, 75)
    forest = ClusterForest(3, n_estimators=30, random_state=0)
    weighted = clone(forest).fit(X, sample_weight=weights)
    repeated = clone(forest).fit(np.repeat(X, weights, axis=0))
    assert (np.repeat(weighted.labels_, weights) == repeated.labels_).all()
    assert (np.repeat(weighted.partitions_, weights, axis=1) == repeated.partitions_).all()


def test_rows_without_weight_have_no_say(blobs):
    X, truth = blobs
    outside = np.random.default_rng(0).random(75) < 0.3
    forest = ClusterForest(3, n_estimators=30, random_state=0)
    weighted = clone(forest).fit(np.where(outside[:, None], 1.01 * X, X), sample_weight=~outside)
    alone = clone(forest).fit(X[~outside])
    assert (weighted.labels_[~outside] == alone.labels_).all()
    assert adjusted_rand_score(truth, weighted.labels_) > 0.9


def test_another_base_learner(blobs):
    X, truth = blobs
    forest = PaperForest(3, estimator=AgglomerativeClustering(), n_estimators=20, random_state=0).fit(X)
    assert adjusted_rand_score(truth, forest.labels_) > 0.9
    assert forest.chosen_params_["max_samples"].value is None
    with pytest.raises(TypeError, match=r"StandardScaler.* is not a scikit-learn clusterer"):
        PaperForest(3, estimator=StandardScaler()).fit(X)
