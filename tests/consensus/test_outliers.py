"""Rows that belong to no cluster: the rule, and -1 in everything that a fitted forest offers."""

import json
import warnings

import numpy as np
import pytest
import scipy.sparse

from clusterforests import ClusterForest, describe, plots
from clusterforests.app.command_line.program import main
from clusterforests.app.description.clustering import measure
from clusterforests.app.report import write_report
from clusterforests.consensus.outliers import find_outliers

N, NOISE, K = 600, 30, 3


def noisy(seed=0, d=4):
    """Three groups, then rows far from all of them."""
    rng = np.random.default_rng(seed)
    centers = 10 * np.eye(d)[:K]
    X = centers[rng.integers(K, size=N)] + 0.5 * rng.normal(size=(N, d))
    others = rng.uniform(X.min(axis=0), X.max(axis=0), (20 * NOISE, d))
    apart = np.linalg.norm(others[:, None] - centers, axis=2).min(axis=1) > 4
    return np.vstack([X, others[apart][:NOISE]])


@pytest.fixture(scope="module")
def table():
    return noisy()


@pytest.fixture(scope="module")
def fitted(table):
    return ClusterForest(K, n_estimators=60, contamination="auto", random_state=0).fit(table)


IS_NOISE = np.arange(N + NOISE) >= N


def test_noise_is_found_and_clusters_are_kept(fitted):
    outside = fitted.labels_ < 0
    assert outside[IS_NOISE].all()
    assert outside[~IS_NOISE].mean() < 0.01
    assert fitted.n_clusters_ == K
    sizes = np.bincount(fitted.labels_[~outside])
    assert len(sizes) == K
    assert (np.diff(sizes) <= 0).all()


def test_clean_clusters_keep_their_rows():
    called = [
        (ClusterForest(K, n_estimators=40, contamination="auto", random_state=0).fit(noisy(seed)[:N]).labels_ < 0)
        for seed in range(5)
    ]
    assert np.mean(called) < 0.006


def test_clusters_are_what_they_are_without_outliers(table, fitted):
    free = ClusterForest(K, n_estimators=60, random_state=0).fit(table)
    assert np.array_equal(free.partitions_, fitted.partitions_)
    assert np.array_equal(free.feature_importances_, fitted.feature_importances_)
    inside = fitted.labels_ >= 0
    pairs = set(zip(free.labels_[inside].tolist(), fitted.labels_[inside].tolist(), strict=True))
    assert len(pairs) == K  # the same clusters, by other names where outliers were part of the sizes


def test_a_share(table):
    forest = ClusterForest(K, n_estimators=60, contamination=0.04, random_state=0).fit(table)
    assert (forest.labels_ < 0).sum() == pytest.approx(0.04 * len(table), abs=1)
    assert forest.labels_[forest.labels_ < 0].size <= IS_NOISE[forest.labels_ < 0].sum() + 1
    with pytest.raises(ValueError, match=r"contamination=0.999 leaves cluster \d of 3 without a row"):
        ClusterForest(K, n_estimators=20, contamination=0.999, random_state=0).fit(table)


def test_new_rows(table, fitted):
    assert np.array_equal(fitted.predict(table), fitted.labels_)
    new = np.array([[10.0, 0, 0, 0], [5.0, 5, 5, 5]])
    found = fitted.predict(new)
    assert found[0] >= 0
    assert found[1] == -1
    assert fitted.predict_proba(new).sum(axis=1) == pytest.approx(1)


def test_weights_are_copies(table):
    weights = 1.0 + (np.arange(len(table)) % 3 == 0)
    weighted = ClusterForest(K, n_estimators=40, contamination="auto", random_state=0).fit(table, sample_weight=weights)
    copied = ClusterForest(K, n_estimators=40, contamination="auto", random_state=0)
    copied.fit(np.repeat(table, weights.astype(int), axis=0))
    assert np.array_equal(copied.predict(table), weighted.predict(table))


def test_a_row_without_weight_can_be_an_outlier(table):
    weights = np.where(IS_NOISE, 0.0, 1.0)
    labels = (
        ClusterForest(K, n_estimators=40, contamination="auto", random_state=0)
        .fit(table, sample_weight=weights)
        .labels_
    )
    assert (labels[IS_NOISE] < 0).all()


def test_diagnostics_leave_outliers_out(table, fitted):
    soft = fitted.memberships_
    assert soft.shape == (len(table), K)
    assert soft.sum(axis=1) == pytest.approx(1)
    inside = fitted.labels_ >= 0
    own = fitted.item_consensus_[inside]
    means = [own[fitted.labels_[inside] == c].mean() for c in range(K)]
    assert fitted.cluster_consensus_ == pytest.approx(means)
    assert fitted.stability().mean > 0.9
    assert np.isfinite(fitted.consensus_silhouette_).all()
    tree = fitted.cluster_tree()
    assert len(tree.sizes[1]) == 3


def test_other_numbers_of_clusters_have_the_same_outliers(fitted):
    cut = fitted.recut(2)
    assert np.array_equal(cut.labels_ < 0, fitted.labels_ < 0)
    assert set(cut.labels_.tolist()) == {-1, 0, 1}
    assert (np.diff(np.bincount(cut.labels_[cut.labels_ >= 0])) <= 0).all()


def test_outliers_that_are_all_of_a_cluster_keep_it_in_another_cut(tmp_path):
    X = np.random.default_rng(0).normal(size=(105, 4)) + 8 * np.repeat(np.eye(3, 4), [40, 35, 30], axis=0)
    X[0] = 60
    forest = ClusterForest(3, n_estimators=20, contamination="auto", random_state=0).fit(X)
    assert forest.labels_[0] == -1
    cut = forest.recut(4)
    assert set(cut.labels_.tolist()) - {-1} == {0, 1, 2, 3}
    assert np.array_equal(cut.predict(X), cut.labels_)
    assert np.array_equal(cut.recut(3).labels_, forest.labels_)
    assert "fall into 20 clusters" in describe(forest.recut(20), X).answer
    assert len(forest.cluster_tree(n_clusters=[2, 3, 4, 5]).sizes) == 4
    cut.save(tmp_path / "cut.cf")
    assert np.array_equal(ClusterForest.load(tmp_path / "cut.cf").predict(X), cut.labels_)


def test_saved_models(tmp_path, table, fitted):
    fitted.save(tmp_path / "model.cf")
    loaded = ClusterForest.load(tmp_path / "model.cf")
    assert np.array_equal(loaded.labels_, fitted.labels_)
    assert np.array_equal(loaded.memberships_, fitted.memberships_)
    assert np.array_equal(loaded.predict(table), fitted.labels_)
    assert np.array_equal(loaded.recut(4).labels_, fitted.recut(4).labels_)


def test_a_fit_without_outliers_after_one_with(table, fitted):
    forest = ClusterForest(K, n_estimators=20, contamination="auto", random_state=0).fit(table)
    assert forest.set_params(contamination=None).fit(table).labels_.min() == 0
    assert forest.predict(table).min() == 0


def test_description_report_and_plots(tmp_path, table, fitted):
    count = int((fitted.labels_ < 0).sum())
    text = " ".join(str(describe(fitted, table)).split())
    assert f"{count} rows lie apart from all of them" in text
    assert "have the label -1" in text
    write_report(fitted, table, tmp_path / "report.html")
    assert "have the label -1" in (tmp_path / "report.html").read_text(encoding="utf-8")
    for plot in (plots.consensus_heatmap, plots.item_consensus, plots.spectral_embedding):
        assert plot(fitted) is not None
    found = measure(fitted)
    assert found.labels.min() == 0
    assert found.n_outliers == count
    assert (found.weights == (fitted.labels_ >= 0)).all()


def test_command_line(tmp_path, table, capsys):
    data, labels, model = (str(tmp_path / name) for name in ("table.npy", "labels.csv", "model.cf"))
    np.save(data, table)
    given = [
        "fit",
        data,
        "--clusters",
        "3",
        "--trees",
        "60",
        "--contamination",
        "auto",
        "--out",
        labels,
        "--model",
        model,
    ]
    assert main(given) == 0
    printed = capsys.readouterr().out
    written = np.loadtxt(labels, delimiter=",", skiprows=1)
    count = int((written[:, 1] == -1).sum())
    assert count >= NOISE
    assert f"-1  {count:7d}   apart from every cluster" in printed
    assert (written[written[:, 1] == -1, 2] == 0).all()
    assert main(["predict", model, data, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["outliers"] == count
    assert sum(found["sizes"]) == len(table) - count
    with pytest.raises(SystemExit):
        main(["fit", data, "--contamination", "2"])
    assert "must be auto or a number between 0 and 1" in capsys.readouterr().err


def test_rows_of_which_something_is_known_are_no_outliers(table):
    pairs = [(0, N), (1, N + 1)]
    forest = ClusterForest(K, n_estimators=40, contamination="auto", random_state=0).fit(table, must_link=pairs)
    assert all(forest.labels_[a] == forest.labels_[b] >= 0 for a, b in pairs)


def test_small_dask_tables(table, fitted):
    da = pytest.importorskip("dask.array")
    there = ClusterForest(K, n_estimators=60, contamination="auto", random_state=0).fit(
        da.from_array(table, chunks=(200, 4))
    )
    assert np.array_equal(there.labels_.compute(), fitted.labels_)
    assert there.memberships_.compute() == pytest.approx(fitted.memberships_)
    assert there.cluster_consensus_.compute() == pytest.approx(fitted.cluster_consensus_)
    assert np.array_equal(there.recut(2).labels_.compute(), fitted.recut(2).labels_)
    lazy = there.predict(da.from_array(table, chunks=(200, 4)))
    assert np.array_equal(lazy.compute(), fitted.labels_)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"contamination": 0}, "contamination=0 is not allowed"),
        ({"contamination": "some"}, "contamination='some' is not allowed"),
        ({"contamination": "auto", "min_cluster_size": 3}, "contamination cannot be combined with min_cluster_size"),
    ],
)
def test_what_is_refused(table, settings, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        ClusterForest(K, **settings).fit(table)


def test_columns_that_hardly_vary_and_one_cluster():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), rng.integers(2, size=200), np.zeros(200)])
    X[0, 0] = 40
    labels = ClusterForest(1, n_estimators=20, contamination="auto", random_state=0).fit(X).labels_
    assert labels[0] == -1
    assert (labels < 0).mean() < 0.02


def test_a_third_of_a_cluster_may_be_outliers():
    rng = np.random.default_rng(0)
    values = np.vstack([rng.normal(size=(200, 3)), rng.uniform(-40, 40, (90, 3))])
    rule, outside = find_outliers(values, np.arange(3, dtype=np.int32), np.zeros(290, np.int32), None, "auto")
    far = np.linalg.norm(values, axis=1) > 6
    assert outside[far].all()
    assert outside[:200].mean() < 0.02
    assert np.array_equal(rule.finds(values, np.zeros(290, np.int32)), outside)


def test_wide_sparse_tables_have_outliers():
    X = scipy.sparse.random(300, 500, 0.05, random_state=0, format="csr")
    forest = ClusterForest(3, n_estimators=20, contamination=0.1, random_state=0).fit(X)
    assert (forest.labels_ < 0).sum() == 30
    assert len(forest.feature_importances_) == 500


@pytest.mark.parametrize("asked", ["auto", 0.1])
def test_a_table_in_which_no_column_varies_has_none(asked):
    X = np.ones((30, 3))
    forest = ClusterForest(n_estimators=20, contamination=asked, random_state=0).fit(X)
    assert (forest.labels_ == 0).all()
    assert (forest.predict(X) == 0).all()


def test_a_row_that_outweighs_all_others_gives_no_warning():
    X, weights = np.random.default_rng(0).normal(size=(100, 3)), np.ones(100)
    weights[0] = 1e12
    forest = ClusterForest(1, n_estimators=20, contamination="auto", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert forest.fit(X, sample_weight=weights).labels_[0] == 0


def test_a_cluster_without_weight_has_a_shape():
    rng = np.random.default_rng(0)
    values = np.vstack([rng.normal(size=(50, 2)), rng.normal(20, 1, size=(50, 2))])
    clusters = np.repeat(np.array([0, 1], np.int32), 50)
    weights = np.where(clusters == 0, 1.0, 0.0)
    _, outside = find_outliers(values, np.arange(2, dtype=np.int32), clusters, weights, "auto")
    assert outside.mean() < 0.05


def test_the_answer_for_one_cluster_counts_outliers():
    X = np.random.default_rng(0).normal(size=(100, 3))
    X[0] = 40
    said = describe(ClusterForest(1, n_estimators=20, contamination=0.01, random_state=0).fit(X), X).answer
    assert said == "99 of 100 rows form one cluster, as requested. 1 row lies apart from the others."


def far_rows(X, clusters):
    return find_outliers(X, np.arange(X.shape[1]), clusters.astype(np.int32), None, "auto").outside


def test_clusters_with_long_tails_keep_most_of_their_rows():
    rng = np.random.default_rng(0)
    shares = [far_rows(rng.exponential(size=(1000, d)), np.zeros(1000)).mean() for d in (1, 2, 5, 10)]
    assert max(shares) < 0.02
    assert np.mean(shares) < 0.01


def test_what_someone_who_knows_the_clusters_would_find_is_found():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [16.0, 0.0], [0.0, 16.0]])
    clusters = np.repeat([0, 1, 2], 1000)
    X = np.vstack([centers[clusters] + rng.normal(size=(3000, 2)), rng.uniform(-4, 20, (150, 2))])
    squared = ((X[:, None] - centers) ** 2).sum(axis=2)
    found = far_rows(X, squared.argmin(axis=1))
    level = -2 * np.log(0.001)  # of the squared distance from a normal distribution in two columns
    known = squared.min(axis=1) > level
    assert (found & known).sum() >= 0.97 * known.sum()
    assert found[:3000].mean() < 0.003


def test_a_quarter_of_evenly_spread_rows_does_not_widen_a_cluster():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(600, 2)), rng.uniform(-25, 25, (200, 2))])
    found = far_rows(X, np.zeros(800))
    assert found[600:].mean() > 0.9
    assert not found[:600].any()
