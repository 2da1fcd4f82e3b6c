"""Wide sparse tables reduced to components: texts, whose clusters columns alone do not show."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from clusterforests import ClusterForest
from clusterforests.table.sparse_reduction import find_reduction, is_reducible, unit_rows


def texts(n=1200, shared=1216, own=200, seed=0):
    """Draw texts of four topics with words by Zipf's law, two of five from the topic and some from another."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, n)
    common, topical = (1 / np.arange(1, count + 1) for count in (shared, own))
    lines = []
    for topic in truth:
        length = int(rng.integers(20, 120))
        about = rng.binomial(length, 0.4)
        words = [f"common{w}" for w in rng.choice(shared, length - about, p=common / common.sum())]
        words += [f"topic{topic}{w}" for w in rng.choice(own, about, p=topical / topical.sum())]
        words += [f"topic{rng.integers(4)}{w}" for w in rng.choice(own, 1 + length // 20, p=topical / topical.sum())]
        lines.append(" ".join(words))
    return TfidfVectorizer().fit_transform(lines), truth


@pytest.fixture(scope="module")
def corpus():
    return texts(500)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_topics_are_found_and_counted(seed):
    X, truth = texts(seed=seed)
    forest = ClusterForest(random_state=0).fit(X)
    assert forest.n_clusters_ == 4
    assert adjusted_rand_score(truth, forest.labels_) > 0.98
    assert "50 components as TruncatedSVD does" in forest.chosen_params_["scale"].reason
    assert "of 50 components" in forest.chosen_params_["select_features"].reason


def test_components_are_those_of_a_singular_value_decomposition(corpus):
    X, _ = corpus
    found = find_reduction(X, None).vectors
    expected = TruncatedSVD(50, algorithm="arpack", random_state=0).fit(normalize(X)).components_
    overlap = np.linalg.svd(found[:, :10].T @ expected[:10].T, compute_uv=False)
    assert overlap.min() > 0.99
    assert found.T @ found == pytest.approx(np.eye(50), abs=1e-6)


def test_order_repetition_weights_and_units_do_not_matter(corpus):
    X, _ = corpus
    found = find_reduction(X, None).vectors
    order = np.random.default_rng(0).permutation(X.shape[0])
    assert np.array_equal(find_reduction(X[order], None).vectors, found)
    assert np.array_equal(find_reduction(X * 2.0**900, None).vectors, found)
    twice = sparse.vstack([X, X[:100]]).tocsr()
    weights = np.where(np.arange(X.shape[0]) < 100, 2.0, 1.0)
    assert np.array_equal(find_reduction(X, weights).vectors, find_reduction(twice, None).vectors)
    some = find_reduction(X, None, most_rows=200).vectors
    assert np.array_equal(find_reduction(X[order], None, most_rows=200).vectors, some)


def test_rows_are_reduced_on_their_own(corpus):
    X, _ = corpus
    reduction = find_reduction(X, None)
    whole = reduction.apply(X)
    assert np.array_equal(reduction.apply(X[7:9]), whole[7:9])
    assert np.array_equal(reduction.apply(X[7:9].toarray()), whole[7:9])
    assert np.square(whole).sum(axis=1) == pytest.approx(1)
    assert not reduction.apply(X[:1] * 0).any()
    assert not unit_rows(X[:1] * 0).nnz


def test_new_rows_models_threads_and_blocks(corpus, tmp_path, lower_limits):
    X, _ = corpus
    forest = ClusterForest(4, n_estimators=40, random_state=0).fit(X)
    for given in (X, X.tocsc(), X.toarray()):
        assert (forest.predict(given) == forest.labels_).all()
    assert (ClusterForest(4, n_estimators=40, random_state=0, n_jobs=2).fit(X).labels_ == forest.labels_).all()
    forest.save(tmp_path / "m.cf")
    loaded = ClusterForest.load(tmp_path / "m.cf")
    assert (loaded.predict_proba(X[:50]) == forest.predict_proba(X[:50])).all()
    assert adjusted_rand_score(forest.recut(3).labels_, forest.recut(3).predict(X)) == 1
    with pytest.raises(ValueError, match=f"{X.shape[1]} features"):
        loaded.predict(X[:, :300])
    lower_limits(large_rows=100)
    large = ClusterForest(4, n_estimators=40, random_state=0).fit(X)
    assert large.partitions_.dtype == np.int8
    assert adjusted_rand_score(large.labels_, forest.labels_) > 0.9


def test_words_are_scored(corpus):
    X, truth = corpus
    forest = ClusterForest(4, n_estimators=40, random_state=0).fit(X)
    assert forest.feature_importances_.shape == forest.feature_pvalues_.shape == (X.shape[1],)
    assert np.isnan(forest.feature_pvalues_).all()
    assert all(len(features) == X.shape[1] for features in forest.estimators_features_)
    dense = normalize(X).toarray()
    word = int(forest.feature_importances_.argmax())
    groups = [dense[forest.labels_ == k, word] for k in range(4)]
    between = sum(len(g) * (g.mean() - dense[:, word].mean()) ** 2 for g in groups)
    share = between / np.square(dense[:, word] - dense[:, word].mean()).sum()
    n = len(truth)
    assert forest.feature_importances_[word] == pytest.approx(1 - (1 - share) * (n - 1) / (n - 4))


def test_other_tables_are_left_as_they_are(corpus):
    X, _ = corpus
    assert is_reducible(X)
    broken = X.copy()
    broken.data[0] = np.nan
    for given in (X.toarray(), X[:, :100], sparse.csr_array(np.ones((20, 400))), broken, X * 1j):
        assert not is_reducible(given)
    forest = ClusterForest(4, n_estimators=4, random_state=0, scale="rank").fit(X[:, :300])
    assert forest.chosen_params_["scale"].reason == "given"
    assert forest._predictor.reduction is None
