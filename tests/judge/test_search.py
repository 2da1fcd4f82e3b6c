"""The whole choice of the number of clusters, on tables of known kind."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest
from clusterforests.judge.evidence import EVIDENCE, MEASURES


def chosen(X, n_clusters="auto", weights=None, **settings):
    return ClusterForest(n_clusters, **{"random_state": 0} | settings).fit(X, sample_weight=weights)


def groups(k=3, n=300, p=4, noise=0, seed=0, distance=8.0):
    """Groups that are apart in p columns, and columns of noise."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    centers = distance * np.unique(rng.integers(-4, 5, size=(20 * k, p)), axis=0)
    centers = centers[rng.permutation(len(centers))[:k]]
    return np.hstack([centers[truth] + rng.normal(size=(n, p)), rng.normal(size=(n, noise))]), truth


def assert_same_evidence(a, b):
    one, two = a.n_clusters_evidence_, b.n_clusters_evidence_
    assert (one.n_clusters, one.candidates, one.reason) == (two.n_clusters, two.candidates, two.reason)
    for name in EVIDENCE:
        np.testing.assert_array_equal(one.evidence[name], two.evidence[name])


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("noise", [0, 20])
def test_groups_are_counted(k, noise):
    X, truth = groups(k, noise=noise)
    forest = chosen(X * np.exp(np.random.default_rng(1).normal(size=X.shape[1])))
    assert forest.n_clusters_ == k
    assert adjusted_rand_score(truth, forest.labels_) > 0.98
    found = forest.n_clusters_evidence_
    assert set(found.columns) <= set(range(4))
    assert found.reason.startswith(f"{k} clusters: clearest by ")
    assert forest.chosen_params_["n_clusters"] == (k, found.reason)
    assert tuple(found.evidence) == EVIDENCE
    best = found.candidates.index(k)
    assert found.evidence["mean_rank"].argmin() == best
    assert all(values.shape == (len(found.candidates),) for values in found.evidence.values())
    assert np.isfinite([found.evidence[name][best] for name in MEASURES]).all()


def test_the_runner_up_is_named():
    forest = chosen(groups()[0])
    ranks = forest.n_clusters_evidence_.evidence["mean_rank"]
    second = forest.n_clusters_evidence_.candidates[np.argsort(ranks, kind="stable")[1]]
    assert f"; {second} is n" in forest.n_clusters_evidence_.reason


def test_thirty_groups_are_found():
    X, truth = groups(30, n=1200, p=6)
    forest = chosen(X, n_estimators=100)
    assert 29 <= forest.n_clusters_ <= 31
    assert adjusted_rand_score(truth, forest.labels_) > 0.95
    assert max(forest.n_clusters_evidence_.candidates) <= 50


def test_one_column_with_two_modes_among_noise():
    X = np.random.default_rng(0).normal(size=(300, 12))
    X[:, 4] += 7 * (np.arange(300) % 2)
    forest = chosen(X)
    assert forest.n_clusters_ == 2
    assert forest.n_clusters_evidence_.columns.tolist() == [4]
    assert adjusted_rand_score(np.arange(300) % 2, forest.labels_) > 0.98


@pytest.mark.parametrize("seed", range(3))
def test_noise_and_a_random_category_are_one_cluster(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("abcde"))
    frame["kind"] = pd.Categorical(rng.choice(list("wxyz"), 300))
    forest = chosen(frame, random_state=seed)
    assert forest.n_clusters_ == 1
    assert not forest.labels_.any()
    found = forest.n_clusters_evidence_
    assert found.candidates == (1,)
    assert np.isnan(list(found.evidence.values())).all()
    assert "pass a number, or range(2, 9)" in found.reason  # what to try


@pytest.mark.parametrize("X", [np.ones((40, 3)), np.random.default_rng(0).normal(size=(5, 2)), np.ones((1, 1))])
def test_too_little_to_tell(X):
    assert chosen(X).n_clusters_ == 1


def test_missing_cells():
    X, truth = groups()
    X[np.random.default_rng(1).random(X.shape) < 0.05] = np.nan
    forest = chosen(X)
    assert forest.n_clusters_ == 3
    assert adjusted_rand_score(truth, forest.labels_) > 0.9


def test_extreme_cells_do_not_matter():
    X, _ = groups()
    X[0, 0] = 1e200
    assert chosen(X).n_clusters_ == 3


def test_a_weight_of_two_is_the_row_twice():
    X, _ = groups(n=150)
    weights = 1.0 + (np.arange(150) % 4 == 0)
    weighted, repeated = chosen(X, weights=weights), chosen(np.repeat(X, weights.astype(int), axis=0))
    assert_same_evidence(weighted, repeated)
    np.testing.assert_array_equal(np.repeat(weighted.labels_, weights.astype(int)), repeated.labels_)


def test_rows_without_weight_have_no_say():
    X, _ = groups(n=150)
    far = np.vstack([X, 500 + np.random.default_rng(0).normal(size=(40, 4))])
    with_rest = chosen(far, weights=np.repeat([1.0, 0.0], [150, 40]))
    assert_same_evidence(with_rest, chosen(X))


@pytest.mark.parametrize("p", [4, 8])
def test_threads_do_not_matter_and_seeds_do(p):
    X, _ = groups(p=p, distance=1.0)
    one, two, other = chosen(X, range(2, 9)), chosen(X, range(2, 9), n_jobs=2), chosen(X, range(2, 9), random_state=1)
    assert_same_evidence(one, two)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert (one.n_clusters_evidence_.evidence["new_rows"] != other.n_clusters_evidence_.evidence["new_rows"]).any()


def test_the_chosen_forest_is_that_of_the_number():
    X, _ = groups(noise=3)
    forest, given = chosen(X), chosen(X, 3)
    np.testing.assert_array_equal(forest.partitions_, given.partitions_)
    np.testing.assert_array_equal(forest.labels_, given.labels_)


def test_the_choice_is_among_the_candidates():
    X, _ = groups()
    assert chosen(X, [5, 3, 3, 2]).n_clusters_evidence_.candidates == (2, 3, 5)
    assert chosen(X, [4, 6]).n_clusters_ in (4, 6)
    assert chosen(X, [7]).chosen_params_["n_clusters"] == (7, "7 clusters: the only number that was judged.")
    assert chosen(X, [1]).chosen_params_["n_clusters"] == (1, "1 cluster: no other number could be judged.")
    noise = np.random.default_rng(0).normal(size=(100, 3))
    assert chosen(noise, [1, 5]).n_clusters_ == 1
    assert chosen(noise, [2, 3]).n_clusters_ in (2, 3)
    assert chosen(noise, [50, 60]).n_clusters_ in (50, 60)  # although no gap between eigenvalues speaks for them


def test_as_many_candidates_as_distinct_rows():
    X = np.repeat([[0.0, 0.0], [10.0, 1.0], [1.0, 10.0]], 20, axis=0)
    assert chosen(X, [3, 4]).chosen_params_["n_clusters"] == (3, "3 clusters: no other number could be judged.")
    assert chosen(X[:40], range(2, 5)).n_clusters_ == 2


@pytest.mark.parametrize(
    "settings",
    [
        {"consensus": "ncut"},
        {"consensus": "average"},
        {"n_base_clusters": 6},
        {"n_base_clusters": None},
        {"select_features": False},
        {"n_landmarks": 50},
    ],
)
def test_other_settings_find_three_groups_too(settings):
    X, truth = groups(n=180)
    forest = chosen(X, range(2, 7), **settings)
    assert forest.n_clusters_ == 3
    assert forest.n_clusters_evidence_.candidates == (2, 3, 4, 5, 6)
    assert adjusted_rand_score(truth, forest.labels_) == 1


def test_many_rows_are_judged_by_some(lower_limits):
    lower_limits(large_rows=1000, sample_rows=800, least_sample=800)
    X, truth = groups(4, n=1500)
    forest = chosen(X, n_estimators=60)
    assert forest.n_clusters_ == 4
    assert adjusted_rand_score(truth, forest.labels_) > 0.98


def test_levels_of_a_category_are_no_valleys():
    """A category that goes with the groups, but not always, does not split them by its levels."""
    rng, group = np.random.default_rng(0), np.arange(6000) % 3
    numbers = {f"x{j}": 3.0 * np.array([0, 1, 2])[(group + j) % 3] + rng.normal(size=6000) for j in range(4)}
    usual = rng.random(6000) < 0.7
    channel = np.array(["app", "web", "store"])[np.where(usual, group, rng.integers(0, 3, 6000))]
    forest = chosen(pd.DataFrame({**numbers, "channel": pd.Categorical(channel)}))
    evidence = forest.n_clusters_evidence_.to_frame()
    assert forest.n_clusters_ == 3
    assert evidence.loc[3, "valley_p_value"] < 1e-10
    assert (evidence.loc[4:, "valley_p_value"].dropna() > 0.01).all()
