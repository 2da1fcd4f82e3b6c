"""Constraints in a fit: every pair, class and size is kept, or refused before the work."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_wine, make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clusterforests import ClusterForest

WINE = load_wine()


def small(k, **more):
    return ClusterForest(k, **{"n_estimators": 40, "random_state": 0} | more)


def random_pairs(seed, n_rows, k):
    """Draw pairs that agree with some labelling of the rows, whatever the clusters are."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(k, size=n_rows)
    pairs = rng.integers(n_rows, size=(int(rng.integers(1, 60)), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
    return pairs, same


def check_pairs(seed):
    k = 2 + seed % 4
    X, _ = make_blobs(90, n_features=3, centers=k, random_state=seed)
    pairs, same = random_pairs(seed, len(X), k)
    forest = small(k, n_estimators=20).fit(X, must_link=pairs[same], cannot_link=pairs[~same])
    assert np.array_equal(forest.labels_[pairs[:, 0]] == forest.labels_[pairs[:, 1]], same)
    sizes = np.bincount(forest.labels_, minlength=k)
    assert sizes.all()
    assert (np.diff(sizes) <= 0).all()


@pytest.mark.parametrize("seed", range(25))
def test_random_consistent_pairs_are_kept(seed):
    check_pairs(seed)


@pytest.mark.slow
def test_a_thousand_random_consistent_sets_are_kept():
    for seed in range(1000):
        check_pairs(seed)


def test_equal_rows_can_be_kept_apart():
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 3)), 2, axis=0)
    labels = small(3).fit(X, cannot_link=[(0, 1), (10, 11)]).labels_
    assert labels[0] != labels[1]
    assert labels[10] != labels[11]


def test_pairs_that_agree_with_the_clusters_change_nothing():
    forest = small(3).fit(WINE.data)
    labels = forest.labels_
    same = np.flatnonzero(labels == 0)[:2]
    guided = small(3).fit(WINE.data, cannot_link=[(same[0], np.flatnonzero(labels == 1)[0])])
    assert np.array_equal(guided.labels_, labels)
    assert np.array_equal(guided.partitions_, forest.partitions_)
    linked = small(3).fit(WINE.data, must_link=[same])
    assert np.array_equal(*linked.partitions_[:, same].T)
    assert (linked.labels_ == labels).mean() > 0.95


@pytest.mark.parametrize("consensus", ["kway", "average", "gaps", "ncut", "gaps-or-refined"])
def test_every_consensus_keeps_what_is_known(consensus):
    pairs, same = random_pairs(5, len(WINE.data), 3)
    known = np.full(len(WINE.data), -1)
    known[[0, 70, 170]] = WINE.target[[0, 70, 170]]
    free = ~np.isin(pairs, [0, 70, 170]).any(axis=1)
    pairs, same = pairs[free], same[free]
    labels = (
        small(3, consensus=consensus)
        .fit(WINE.data, must_link=pairs[same], cannot_link=pairs[~same], known_labels=known)
        .labels_
    )
    assert np.array_equal(labels[pairs[:, 0]] == labels[pairs[:, 1]], same)
    assert len(np.unique(labels[[0, 70, 170]])) == 3


def test_landmarks_keep_what_is_known():
    X, y = make_blobs(1500, centers=4, n_features=5, random_state=0)
    pairs, same = random_pairs(1, len(X), 4)
    labels = small(4, n_landmarks=50).fit(X, must_link=pairs[same], cannot_link=pairs[~same]).labels_
    assert np.array_equal(labels[pairs[:, 0]] == labels[pairs[:, 1]], same)
    known = np.where(np.arange(len(X)) < 40, y, -1)
    forest = small(4, n_landmarks=50).fit(X, known_labels=known)
    assert all((forest.labels_[known == name] == c).all() for name, c in forest.known_clusters_.items())


class TestKnownLabels:
    known = np.where(np.arange(178) % 20 == 0, WINE.target_names[WINE.target], None)

    def test_each_class_is_a_cluster_of_its_own(self):
        forest = small(3).fit(WINE.data, known_labels=self.known)
        assert set(forest.known_clusters_) == {"class_0", "class_1", "class_2"}
        assert sorted(forest.known_clusters_.values()) == [0, 1, 2]
        rows = np.flatnonzero(self.known != None)  # noqa: E711
        assert [forest.known_clusters_[self.known[row]] for row in rows] == forest.labels_[rows].tolist()
        named = np.array([forest.known_clusters_[name] for name in WINE.target_names])
        assert (named[WINE.target] == forest.labels_).mean() > 0.9
        assert "known class" in forest.chosen_params_["consensus"].reason

    def test_fewer_classes_than_clusters(self):
        known = np.where(WINE.target == 1, -1, WINE.target)
        known[np.arange(178) % 5 > 0] = -1
        forest = small(3).fit(WINE.data, known_labels=known)
        assert set(forest.known_clusters_) == {0, 2}
        other = ({0, 1, 2} - set(forest.known_clusters_.values())).pop()
        assert (forest.labels_[WINE.target == 1] == other).mean() > 0.8

    def test_labels_that_the_table_does_not_show_lead_the_clusters(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(300, 2)) + 6 * rng.integers(2, size=(300, 2))  # four groups, of which two are wanted
        side = (X[:, 0] > 3).astype(int)
        known = np.where(rng.random(300) < 0.1, side, -1)
        labels = small(2).fit(X, known_labels=known).labels_
        assert max((labels == side).mean(), (labels != side).mean()) > 0.95

    def test_the_number_of_clusters_is_chosen_from_those_that_can_keep_the_classes(self):
        known = np.full(178, -1)
        known[:5] = range(5)
        assert ClusterForest(n_estimators=40, random_state=0).fit(WINE.data, known_labels=known).n_clusters_ >= 5

    def test_without_labels_there_are_no_known_clusters(self):
        assert small(3).fit(WINE.data).known_clusters_ == {}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"cannot_link": [(a, b) for b in range(4) for a in range(b)]},
            "cannot_link needs 4 clusters, more than n_clusters=3: row 0, row 1, row 2, row 3 are all to be apart",
        ),
        (
            {"cannot_link": [(i, 7) for i in range(7)] + [(i, (i + 1) % 7) for i in range(7)]},
            "cannot_link cannot be kept with n_clusters=3: no assignment of 8 groups of rows, among them row 0",
        ),
        (
            {"known_labels": [*"abcd", *[None] * 174]},
            "known_labels names 4 classes \\('a', 'b', 'c', 'd'\\), more than n_clusters=3",
        ),
    ],
)
def test_what_the_clusters_cannot_keep_is_refused_before_the_work(given, message, monkeypatch):
    monkeypatch.setattr("clusterforests.estimator.plan_forest", lambda *_: pytest.fail("the work began"))
    with pytest.raises(ValueError, match=f"^{message}"):
        small(3).fit(WINE.data, **given)


def test_none_of_several_numbers_can_keep_it():
    known = np.full(178, -1)
    known[:5] = range(5)
    with pytest.raises(ValueError, match="known_labels names 5 classes"):
        small(range(2, 5)).fit(WINE.data, known_labels=known)


class TestSizes:
    @pytest.mark.parametrize("seed", range(8))
    def test_sizes_hold_with_random_pairs(self, seed):
        k = 2 + seed % 4
        X, _ = make_blobs([60, *[30 // (k - 1)] * (k - 1)], n_features=3, random_state=seed)
        pairs, same = random_pairs(seed, len(X), k)
        pairs, same = pairs[:12], same[:12]
        least, most = len(X) // k - 3, len(X) // k + 4
        forest = small(k, min_cluster_size=least, max_cluster_size=most)
        labels = forest.fit(X, must_link=pairs[same], cannot_link=pairs[~same]).labels_
        sizes = np.bincount(labels, minlength=k)
        assert (sizes >= least).all()
        assert (sizes <= most).all()
        assert np.array_equal(labels[pairs[:, 0]] == labels[pairs[:, 1]], same)

    def test_rows_move_only_as_far_as_needed(self):
        free = small(3).fit(WINE.data).labels_
        sizes = np.bincount(free)
        assert np.array_equal(small(3, min_cluster_size=int(sizes.min())).fit(WINE.data).labels_, free)
        labels = small(3, min_cluster_size=int(sizes.min()) + 2).fit(WINE.data).labels_
        assert np.bincount(labels).min() == sizes.min() + 2
        table = np.zeros((3, 3), int)
        np.add.at(table, (free, labels), 1)
        assert len(free) - table.max(axis=1).sum() <= 4

    def test_shares_and_weights(self):
        weights = np.where(np.arange(178) < 59, 3.0, 1.0)
        forest = small(3, max_cluster_size=0.4).fit(WINE.data, sample_weight=weights)
        assert np.bincount(forest.labels_, weights).max() <= 0.4 * weights.sum()

    def test_a_chosen_number_can_have_the_sizes(self):
        forest = ClusterForest(n_estimators=40, max_cluster_size=40, random_state=0).fit(WINE.data)
        assert forest.n_clusters_ >= 5
        assert np.bincount(forest.labels_).max() <= 40

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"min_cluster_size": 60}, "min_cluster_size: 3 clusters of at least 60 need 180 rows, but X has 178"),
            ({"max_cluster_size": 0.3}, "max_cluster_size: 3 clusters of at most 53 hold 159 rows"),
            ({"min_cluster_size": 9, "max_cluster_size": 8}, "min_cluster_size=9 is more than max_cluster_size=8"),
            (
                {"min_cluster_size": 0.332, "max_cluster_size": 0.336},
                "min_cluster_size=0.332 and max_cluster_size=0.336 leave no size: at least 60 and at most 59 rows",
            ),
            ({"min_cluster_size": 0}, "min_cluster_size=0 is not allowed"),
            ({"max_cluster_size": 1.5}, "max_cluster_size=1.5 is not allowed"),
        ],
    )
    def test_what_is_refused(self, settings, message):
        with pytest.raises(ValueError, match=f"^{message}"):
            small(3, **settings).fit(WINE.data)

    def test_numbers_that_cannot_have_the_sizes_are_no_candidates(self):
        forest = small([3, 4], max_cluster_size=0.336).fit(WINE.data[:100])  # at most 33 rows
        assert forest.n_clusters_ == 4
        pairs = [(a + i, a) for a in (0, 30, 60, 90) for i in range(1, 26)]
        forest = small([3, 4], max_cluster_size=50).fit(WINE.data[:140], must_link=pairs)  # four groups of 26 rows
        assert forest.n_clusters_ == 4
        with pytest.raises(ValueError, match="max_cluster_size: 4 rows, or groups of rows that belong together, are"):
            forest.recut(3)

    def test_shares_are_of_whole_rows(self):
        assert np.bincount(small(2, min_cluster_size=0.1).fit(WINE.data[:30]).labels_).min() >= 3
        assert small(3, max_cluster_size=1 / 3).fit(WINE.data[:99]).n_clusters_ == 3

    def test_a_row_that_is_too_heavy(self):
        weights = np.where(np.arange(178) == 7, 100.0, 1.0)
        with pytest.raises(ValueError, match="max_cluster_size: row 7 and the rows that belong with it are 100, more"):
            small(4, max_cluster_size=90).fit(WINE.data, sample_weight=weights)

    def test_only_what_was_given_is_named(self):
        pairs = [(a, a + 1) for a in range(0, 50, 2)]
        said = r"^n_clusters=2, min_cluster_size \(at least 25\) and must_link contradict each other"
        with pytest.raises(ValueError, match=said):
            small(2, min_cluster_size=25).fit(WINE.data[:50], must_link=pairs)

    def test_too_many_rows_that_belong_together(self):
        pairs = [(0, i) for i in range(1, 70)]
        with pytest.raises(ValueError, match="max_cluster_size: row 0 and the rows that belong with it are 70"):
            small(3, max_cluster_size=65).fit(WINE.data, must_link=pairs)

    def test_more_clusters_than_classes_if_all_rows_are_known(self):
        with pytest.raises(ValueError, match="n_clusters=3 and known_labels contradict each other"):
            small(3).fit(WINE.data, known_labels=WINE.target > 0)  # and no warning of a division

    def test_sizes_and_pairs_that_contradict_each_other(self):
        pairs = [(a, a + 1) for a in range(0, 50, 2)]  # an even number of rows, in clusters of 25 each
        with pytest.raises(ValueError, match="contradict each other: no assignment keeps them"):
            small(2, min_cluster_size=25, max_cluster_size=25).fit(WINE.data[:50], must_link=pairs)


def test_other_numbers_of_clusters_keep_it_too(tmp_path):
    known = TestKnownLabels.known
    pairs = [(1, 2), (61, 62)]
    forest = small(3).fit(WINE.data, known_labels=known, cannot_link=pairs)
    forest.save(tmp_path / "model.cf")
    loaded = ClusterForest.load(tmp_path / "model.cf")
    for k in (4, 6):
        again = small(k, n_base_clusters=(2, 17)).fit(WINE.data, known_labels=known, cannot_link=pairs)
        cut = small(3, n_base_clusters=(2, 17)).fit(WINE.data, known_labels=known, cannot_link=pairs).recut(k)
        assert np.array_equal(cut.labels_, again.labels_)
        assert np.array_equal(loaded.recut(k).labels_, forest.recut(k).labels_)
        assert loaded.recut(k).known_clusters_ == forest.recut(k).known_clusters_
        assert all(forest.recut(k).labels_[a] != forest.recut(k).labels_[b] for a, b in pairs)
    with pytest.raises(ValueError, match="known_labels names 3 classes"):
        forest.recut(2)
    assert forest.cluster_tree().n_clusters[0] == 3


def test_tables_of_which_trees_see_a_sample_are_refused(monkeypatch):
    X = np.random.default_rng(0).normal(size=(70_000, 2))
    for given in ({"must_link": [(0, 1)]}, {"known_labels": np.zeros(70_000)}):
        with pytest.raises(ValueError, match=f"^{next(iter(given))} is offered where all rows are compared, but trees"):
            small(2).fit(X, **given)
    for settings in ({"min_cluster_size": 5}, {"contamination": "auto"}):
        with pytest.raises(ValueError, match=f"^{next(iter(settings))} is offered where all rows are compared"):
            small(2, **settings).fit(X)


def test_small_dask_tables_keep_it():
    da = pytest.importorskip("dask.array")
    pairs, same = random_pairs(3, len(WINE.data), 3)
    here = small(3, min_cluster_size=20).fit(WINE.data, must_link=pairs[same], cannot_link=pairs[~same])
    there = small(3, min_cluster_size=20).fit(
        da.from_array(WINE.data, chunks=(60, 13)), must_link=pairs[same], cannot_link=pairs[~same]
    )
    assert np.array_equal(there.labels_.compute(), here.labels_)
    assert np.array_equal(there.recut(4).labels_.compute(), here.recut(4).labels_)


def test_metadata_are_routed():
    weights = np.ones(178)
    weights[:20] = 3
    given = {"sample_weight": weights, "must_link": [(3, 103)], "cannot_link": [(1, 2)]}
    given["known_labels"] = TestKnownLabels.known
    scaled = StandardScaler().fit_transform(WINE.data)
    with sklearn.config_context(enable_metadata_routing=True):
        forest = small(3).set_fit_request(**dict.fromkeys(given, True))
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, forest).fit(WINE.data, **given)[-1]
        with pytest.raises(ValueError, match="must_link"):
            make_pipeline(StandardScaler().set_fit_request(sample_weight=False), small(3)).fit(WINE.data, must_link=[])
    direct = small(3).fit(scaled, **given)
    assert np.array_equal(routed.labels_, direct.labels_)
    assert routed.labels_[3] == routed.labels_[103]
    assert routed.labels_[1] != routed.labels_[2]


def test_reports_know_moved_rows(tmp_path):
    from clusterforests.app.report import write_report

    forest = small(3, max_cluster_size=60, min_cluster_size=59).fit(WINE.data, known_labels=TestKnownLabels.known)
    write_report(forest, WINE.data, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 10_000


def test_pairs_that_no_number_up_to_the_highest_can_keep():
    wheel = [(i, 7) for i in range(7)] + [(i, (i + 1) % 7) for i in range(7)]
    with pytest.raises(ValueError, match=r"^cannot_link cannot be kept with n_clusters=3"):
        small([2, 3]).fit(WINE.data, cannot_link=wheel)


def test_sizes_that_are_not_found_in_time_are_named(monkeypatch):
    monkeypatch.setattr("clusterforests.consensus.assignment.SECONDS", 0.0)
    said = r"^n_clusters=3 and max_cluster_size \(at most 60\): the best assignment .* not found in 0 seconds"
    with pytest.raises(ValueError, match=said):
        small(3, max_cluster_size=60).fit(WINE.data)
