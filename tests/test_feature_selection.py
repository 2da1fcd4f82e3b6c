"""SelectInformative as its users meet it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.feature_selection import f_classif
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from clusterforests import ClusterForest, PaperForest
from clusterforests.feature_selection import SelectInformative
from paper.datasets import make_g3
from paper.rivals import RandomForestProximity


@pytest.fixture(scope="module")
def data():
    return make_g3(200, n_noise=12, n_informative=4, random_state=0)


def forest(**changes):
    return PaperForest(2, **({"n_estimators": 40, "n_init": 2, "random_state": 0} | changes))


@parametrize_with_checks([SelectInformative(), SelectInformative(forest(n_estimators=5))])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("make", [forest, lambda: ClusterForest(2, n_estimators=40, random_state=0)])
def test_keeps_what_is_informative(data, make):
    selector = SelectInformative(make(), alpha=0.001).fit(data.data)
    assert (selector.get_support() == (data.mu != 0)).all()
    assert (selector.transform(data.data) == data.data[:, data.mu != 0]).all()
    assert (selector.scores_ == selector.estimator_.feature_importances_).all()
    assert (selector.pvalues_ == selector.estimator_.feature_pvalues_).all()
    assert ((selector.scores_ > 0) == (data.mu != 0)).all()


def small(seed):
    return ClusterForest(2, n_estimators=10, random_state=seed)


@pytest.mark.parametrize("make", [lambda seed: forest(random_state=seed), small])
def test_alpha_is_the_share_of_noise_that_is_kept(make):
    """Every informative feature passes, and noise does so as often as the level says."""
    kept = []
    for seed in range(20):
        table = make_g3(200, n_noise=20, n_informative=4, random_state=seed)
        selector = SelectInformative(make(seed), alpha=0.2).fit(table.data)
        assert (selector.pvalues_[table.mu != 0] < 1e-6).all()
        kept.append(selector.get_support()[table.mu == 0].mean())
    assert np.mean(kept) == pytest.approx(0.2, abs=0.05)


@pytest.mark.parametrize("make", [lambda seed: forest(random_state=seed), small])
def test_noise_alone_does_not_pass(make):
    """Clusters of noise differ in what made them; the test is not taken in."""
    rates, naive = [], []
    for seed in range(40):
        X = np.random.default_rng(seed).normal(size=(100, 10))
        selector = SelectInformative(make(seed)).fit(X)
        rates.append(np.mean(selector.pvalues_ < 0.05))
        naive.append(np.mean(f_classif(X, selector.estimator_.labels_)[1] < 0.05))
    assert np.mean(naive) > 0.15
    assert np.mean(rates) == pytest.approx(0.05, abs=0.03)


def test_correlated_noise_vouches_for_itself():
    """What the docstring warns of."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12))
    X[:, :4] += 2 * rng.normal(size=(200, 1))
    assert (SelectInformative(small(0)).fit(X).pvalues_[:4] < 1e-6).all()


def test_estimator_is_cloned(data):
    given = forest(n_estimators=10).fit(data.data[:, :5])
    labels = given.labels_.copy()
    selector = SelectInformative(given).fit(data.data)
    assert selector.estimator_ is not given
    assert given.n_features_in_ == 5
    assert (given.labels_ == labels).all()
    assert (selector.support_ == SelectInformative(clone(given)).fit(data.data).support_).all()


def test_min_features_takes_those_that_differ_most():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    X[:50, 2] += 20  # no other feature agrees with this one, so none can pass
    selector = SelectInformative(forest(n_candidates=10), alpha=0.0).fit(X)
    assert selector.get_support(indices=True).tolist() == [2]
    assert SelectInformative(forest(), alpha=0.0, min_features=3).fit(X).get_support().sum() == 3


class Scored(BaseEstimator):
    """An estimator that is no forest, whose clusters differ in the last feature."""

    def fit(self, X, y=None):
        self.labels_ = (X[:, 3] > 0).astype(int)
        self.feature_importances_, self.feature_pvalues_ = np.array([0.1, 0.3, 0, 0]), np.array([0.2, 0.001, 1, 1])
        return self


@pytest.mark.parametrize(("least", "kept"), [(1, [1]), (2, [0, 1]), (3, [0, 1, 3]), (4, [0, 1, 2, 3])])
def test_min_features_go_by_score_then_by_separation(least, kept):
    X = np.random.default_rng(0).normal(size=(30, 4))
    selector = SelectInformative(Scored(), min_features=least).fit(X)
    assert selector.get_support(indices=True).tolist() == kept


def test_pipeline_and_names(data):
    frame = pd.DataFrame(data.data, columns=data.feature_names)
    steps = make_pipeline(SelectInformative(forest(), alpha=0.001), KMeans(2, n_init=3, random_state=0))
    assert adjusted_rand_score(data.target, steps.fit_predict(frame)) > 0.9
    selector = steps[0].set_output(transform="pandas")
    assert list(selector.get_feature_names_out()) == ["signal1", "signal2", "signal3", "signal4"]
    assert list(selector.transform(frame).columns) == ["signal1", "signal2", "signal3", "signal4"]
    assert list(selector.estimator_.feature_names_in_) == data.feature_names


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 1.5}, "alpha=1.5"),
        ({"min_features": 0}, "min_features=0"),
        ({"min_features": 17}, "min_features=17 is more than the 16 features"),
        ({"estimator": "forest"}, "estimator='forest'"),
        ({"estimator": KMeans(2, n_init=1)}, "has no feature_importances_, feature_pvalues_ after fit"),
        ({"estimator": RandomForestProximity(2, n_estimators=5)}, "has no feature_pvalues_ after fit"),
    ],
)
def test_bad_parameters_are_named(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        SelectInformative(**parameters).fit(data.data)
