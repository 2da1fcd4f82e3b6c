"""Where rows go that were not cut: `predict`, landmarks, rows of weight 0."""

from dataclasses import replace

import numpy as np
import pytest
import reference
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest, PaperForest, consensus_clustering
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import GraphLimits, collapse
from clusterforests.consensus.consensus_clustering import combine
from clusterforests.consensus.methods import METHODS
from clusterforests.consensus.nodes import CutSettings, choose_landmarks, pick_landmarks
from clusterforests.consensus.placement import NO_ROW, TALLIED_ROWS, Tally
from clusterforests.rows.new_rows import RowsHere, favour
from clusterforests.table.encoding import UnseenLevels

CUTS = [name for name in METHODS if name != "medoid"]


@pytest.fixture(scope="module")
def rows():
    X, y = make_blobs([90, 60, 30], 8, cluster_std=3.0, random_state=3)
    return X, y


@pytest.fixture(scope="module")
def new_rows():
    return make_blobs([30, 20, 10], 8, cluster_std=3.0, random_state=4)[0]


@pytest.mark.parametrize("consensus", ["auto", *CUTS])
def test_fitted_rows_are_predicted_as_they_were_labelled(rows, consensus):
    forest = ClusterForest(3, n_estimators=40, consensus=consensus, random_state=0).fit(rows[0])
    assert (forest.predict(rows[0]) == forest.labels_).all()
    assert (forest.predict(rows[0][50:53]) == forest.labels_[50:53]).all()


@pytest.mark.parametrize("consensus", ["auto", *CUTS])
def test_memberships_of_new_rows_are_those_of_their_companions(rows, new_rows, consensus):
    forest = ClusterForest(3, n_estimators=40, consensus=consensus, random_state=0).fit(rows[0])
    soft = forest.predict_proba(new_rows)
    assert soft.shape == (60, 3)
    np.testing.assert_allclose(soft.sum(axis=1), 1.0, rtol=1e-12)
    labels = RowsHere(forest._new_rows, new_rows, 0, UnseenLevels()).labels
    beside = (labels[:, :, None] == forest.partitions_[:, None, :]).astype(float)  # tree, new row, fitted row
    inside = beside @ np.eye(3)[forest.labels_]
    count = inside.sum(axis=2, keepdims=True)
    expected = np.divide(inside, count, out=np.zeros_like(inside), where=count > 0).sum(axis=0)
    expected = favour(expected / expected.sum(axis=1, keepdims=True), forest.predict(new_rows))
    np.testing.assert_allclose(soft, expected)


@pytest.mark.parametrize("consensus", ["ncut", "kway", "average", "gaps"])
def test_what_a_row_gets_does_not_depend_on_the_batch(rows, new_rows, consensus):
    forest = ClusterForest(3, n_estimators=40, consensus=consensus, random_state=0).fit(rows[0])
    for method in (forest.predict, forest.predict_proba, forest.transform):
        whole = method(new_rows)
        pieces = np.concatenate([method(new_rows[:1]), method(new_rows[1:40]), method(new_rows[40:])])
        assert (whole == pieces).all()


@pytest.mark.parametrize("affinity_threshold", [0.4, "auto"])
def test_the_walk_is_that_of_the_oracle(rows, new_rows, affinity_threshold):
    forest = PaperForest(
        3, n_estimators=40, consensus="ncut", affinity_threshold=affinity_threshold, random_state=0
    ).fit(rows[0])
    partitions = RowsHere(forest._new_rows, new_rows, 0, UnseenLevels()).labels
    placement = forest._predictor.placement
    found = reference.walk(
        forest.cut_tree_, placement.nodes.labels, placement.nodes.weights, partitions, affinity_threshold, scale=4.0
    )
    assert (forest.predict(new_rows) == found).all()


@pytest.mark.parametrize("consensus", ["ncut", "kway"])
def test_the_rule_puts_the_nodes_where_they_were_cut_to(rows, consensus):
    forest = ClusterForest(3, n_estimators=40, consensus=consensus, random_state=0).fit(rows[0])
    unfixed = replace(forest._predictor.placement, fixed_nodes=np.empty(0, np.int32))
    assert (unfixed.clusters(CpuBackend(), forest.partitions_) == forest.labels_).all()


def test_transform_is_the_mean_share_with_each_cluster(rows, new_rows):
    forest = ClusterForest(3, n_estimators=40, random_state=0).fit(rows[0])
    P = reference.coassociation(RowsHere(forest._new_rows, new_rows, 0, UnseenLevels()).labels, forest.partitions_)
    expected = np.column_stack([P[:, forest.labels_ == c].mean(axis=1) for c in range(3)])
    np.testing.assert_allclose(forest.transform(new_rows), expected, rtol=1e-12)
    assert list(forest.get_feature_names_out()) == ["clusterforest0", "clusterforest1", "clusterforest2"]


@pytest.mark.parametrize("n_rows", [3, TALLIED_ROWS, 2 * TALLIED_ROWS + 1])
def test_a_tally_knows_the_first_row_of_each_cluster(n_rows):
    """The last row, alone in a block, may be the only one of its cluster."""
    rng = np.random.default_rng(n_rows)
    found = rng.choice([0, 2, 3], n_rows).astype(np.int32)
    found[-1], weights = 5, rng.random(n_rows)
    tally = Tally.of(found, 7, weights, start=1000)
    for cluster in range(7):
        own = np.flatnonzero(found == cluster)
        assert tally.first[cluster] == (1000 + own[0] if len(own) else NO_ROW)
        np.testing.assert_allclose(tally.weights[cluster], weights[own].sum(), rtol=1e-10)


def test_new_rows_of_the_same_kind_find_their_clusters():
    X, y = make_blobs([300, 200, 100], 6, cluster_std=1.0, random_state=0)
    forest = ClusterForest(3, random_state=0).fit(X[:400])
    assert adjusted_rand_score(y[400:], forest.predict(X[400:])) > 0.98


def test_missing_cells_are_filled_as_in_fit(rows):
    X = rows[0].copy()
    X[::7, 2] = np.nan
    forest = ClusterForest(3, n_estimators=40, random_state=0).fit(X)
    assert (forest.predict(X) == forest.labels_).all()


def test_a_learner_of_ones_own_predicts(rows, new_rows):
    from sklearn.cluster import KMeans

    forest = PaperForest(3, n_estimators=20, estimator=KMeans(n_init=1), random_state=0).fit(rows[0])
    assert (forest.predict(rows[0]) == forest.labels_).mean() > 0.99
    assert set(forest.predict(new_rows)) <= {0, 1, 2}


def test_landmarks_carry_all_the_weight(rows):
    forest = ClusterForest(3, n_estimators=40, random_state=0).fit(rows[0])
    every = collapse(forest.partitions_)
    some = choose_landmarks(CpuBackend(), every, 50, seed=0)
    assert len(some) == 50
    assert some.weights.sum() == 180
    assert (some.weights >= 1).all()
    columns = {column.tobytes() for column in every.labels.T}
    assert len({column.tobytes() for column in some.labels.T} & columns) == 50


def test_landmarks_know_the_pairs_that_they_stand_for(rows):
    forest = ClusterForest(3, n_estimators=40, random_state=0).fit(rows[0])
    every = collapse(forest.partitions_)
    some = choose_landmarks(CpuBackend(), every, 20, seed=0)
    P = reference.coassociation(every.labels, every.labels)
    chosen = [int(np.flatnonzero((every.labels == column[:, None]).all(axis=0))[0]) for column in some.labels.T]
    nearest = P[:, chosen].argmax(axis=1)
    for i in range(20):
        cell = np.flatnonzero(nearest == i)
        weights = every.weights[cell]
        assert some.weights[i] == weights.sum()
        assert some.inside.same[i] == pytest.approx((weights**2).sum() / weights.sum() ** 2)
        if len(cell) > 1:
            pairs = P[np.ix_(cell, cell)][~np.eye(len(cell), dtype=bool)]
            assert pairs.min() <= some.inside.P[i] <= pairs.max()


def test_a_small_far_group_has_a_landmark():
    """One row in 250: half of the landmarks by weight alone would miss it in four cases of five."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [1500, 1488, 12])
    partitions = np.where(rng.random((30, 3000)) < 0.3, rng.integers(0, 3, (30, 3000)), truth).astype(np.int32)
    every = collapse(partitions)
    rare = {column.tobytes() for column in partitions[:, truth == 2].T}
    found = [choose_landmarks(CpuBackend(), every, 100, seed) for seed in range(10)]
    assert all(any(column.tobytes() in rare for column in some.labels.T) for some in found)


@pytest.mark.parametrize("consensus", ["auto", *CUTS])
def test_landmarks_find_what_the_exact_cut_finds(consensus):
    X, y = make_blobs([300, 200, 100], 6, cluster_std=1.5, random_state=1)
    exact = ClusterForest(3, n_estimators=40, consensus=consensus, n_landmarks=None, random_state=0)
    some = clone(exact).set_params(n_landmarks=100).fit(X)
    assert some.chosen_params_["n_landmarks"] == (100, "given")
    assert adjusted_rand_score(y, some.labels_) > adjusted_rand_score(y, exact.fit(X).labels_) - 0.03
    assert (some.predict(X) == some.labels_).all()
    assert (np.diff(np.bincount(some.labels_, minlength=3)) <= 0).all()


def test_the_large_path_labels_every_row():
    X, y = make_blobs([300, 200, 100], 6, cluster_std=1.5, random_state=1)
    partitions = ClusterForest(3, n_estimators=40, random_state=0).fit(X).partitions_
    limits = GraphLimits(collapsed=100, pool=200, landmarks=80, exact=80)
    found = combine(CpuBackend(), partitions.astype(np.int8), CutSettings(3, "medoid"), limits=limits)
    assert found.n_landmarks == 80
    assert adjusted_rand_score(y, found.labels) > 0.95
    assert (found.placement.clusters(CpuBackend(), partitions) == found.labels).all()


def test_a_cluster_that_no_row_votes_for_keeps_its_nodes():
    """Mean shares may lead every row of a group elsewhere; its nodes then stay."""
    rng = np.random.default_rng(0)
    partitions = rng.integers(0, 3, (9, 400)).astype(np.int32)
    many = GraphLimits(collapsed=10)
    for seed in range(20):
        settings = CutSettings(12, "average", n_landmarks=40)
        found = combine(CpuBackend(), partitions, settings, seed=seed, limits=many)
        assert len(np.unique(found.labels)) == 12
        assert (found.placement.clusters(CpuBackend(), partitions) == found.labels).all()


def test_fewer_landmarks_than_clusters_are_refused(rows):
    with pytest.raises(ValueError, match="n_landmarks=2 is less than n_clusters=3"):
        ClusterForest(3, n_landmarks=2).fit(rows[0])


def test_threads_and_row_order_do_not_show_with_landmarks(rows):
    X = rows[0]
    forest = ClusterForest(3, n_estimators=40, n_landmarks=60, random_state=0).fit(X)
    threads = ClusterForest(3, n_estimators=40, n_landmarks=60, random_state=0, n_jobs=3).fit(X)
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = ClusterForest(3, n_estimators=40, n_landmarks=60, random_state=0).fit(X[order])
    assert (threads.labels_ == forest.labels_).all()
    assert (shuffled.labels_ == forest.labels_[order]).all()


def test_rows_without_weight_are_placed_like_new_rows(rows):
    X = rows[0]
    weights = np.ones(len(X))
    weights[::3] = 0
    forest = ClusterForest(3, n_estimators=40, random_state=0).fit(X, sample_weight=weights)
    without = ClusterForest(3, n_estimators=40, random_state=0).fit(X[weights > 0])
    assert (forest.labels_[weights > 0] == without.labels_).all()
    assert (forest.labels_ == without.predict(X)).all()


def test_consensus_of_many_rows_uses_landmarks():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], [300, 200, 100])
    partitions = np.where(rng.random((30, 600)) < 0.2, rng.integers(0, 3, (30, 600)), truth).astype(np.int32)
    many = GraphLimits(collapsed=100)
    found = combine(CpuBackend(), partitions, CutSettings(3, "kway", 0.4, n_landmarks=100), limits=many)
    assert found.n_landmarks == 100
    assert adjusted_rand_score(truth, found.labels) > 0.97


def test_rare_signatures_of_many_rows_are_not_overlooked():
    """Groups of nine rows in 70,000: the different rows of labels are what is drawn from, not the rows."""
    partitions = np.zeros((4, 70_000), dtype=np.int32)
    partitions[:, -3:] = 1
    partitions[:, -9:-3] = 2
    assert np.bincount(consensus_clustering(partitions, 3, method="average")).tolist() == [69_991, 6, 3]


def test_many_new_rows_come_in_blocks(rows):
    """More than 65,536 of them."""
    import polars as pl
    import pyarrow as pa
    from scipy import sparse

    X = rows[0]
    names = list("abcdefgh")
    forest = ClusterForest(3, n_estimators=20, random_state=0).fit(pl.DataFrame(X, schema=names))
    expected = np.tile(forest.predict_proba(pl.DataFrame(X, schema=names)), (400, 1))
    many = np.tile(X, (400, 1))
    for table in (pl.DataFrame(many, schema=names), pa.table(dict(zip(names, many.T, strict=True)))):
        assert (forest.predict_proba(table) == expected).all()
    assert (forest.transform(table.to_pandas()) == forest.transform(table)).all()
    plain = ClusterForest(3, n_estimators=20, random_state=0).fit(X)
    assert (plain.predict(sparse.coo_array(X)) == plain.labels_).all()
    X = X.copy()
    X[120, 3] = np.inf
    with pytest.raises(ValueError, match="infinity in row 120, column 3"):
        plain.predict(X)


@pytest.mark.parametrize("lowest", [0, -1])
@pytest.mark.parametrize("count", [1, 2, 7, 60])
def test_each_signature_goes_to_the_first_of_its_nearest_landmarks(count, lowest):
    """With four partitions, most signatures are equally near to several landmarks."""
    rng = np.random.default_rng(count)
    labels = rng.integers(lowest, 5, (4, 500)).astype(np.int32)
    signatures = collapse(labels, rng.exponential(size=500))
    chosen, nearest, weights = pick_landmarks(CpuBackend(1), signatures, count, 0)
    assert len(chosen) == count
    assert (np.diff(chosen) > 0).all()
    expected = reference.coassociation(signatures.labels, signatures.labels[:, chosen]).argmax(axis=1)
    expected[chosen] = np.arange(count)
    assert (nearest == expected).all()
    np.testing.assert_allclose(weights, np.bincount(expected, signatures.weights, count), rtol=1e-12)
