"""Messy frames through `TableReader` and `ClusterForest`: columns that are dropped change nothing, words are ranks."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from clusterforests import ClusterForest, TableReader

AGREEMENT = np.array(["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"])
pytestmark = pytest.mark.filterwarnings("ignore:Column .* is dropped", "ignore:The clusters repeat")


def model(n_clusters=3, n_estimators=30, **settings):
    return make_pipeline(TableReader(**settings), ClusterForest(n_clusters, n_estimators=n_estimators, random_state=0))


def test_words_with_an_order_are_their_ranks():
    rng = np.random.default_rng(0)
    ranks = np.clip(2 * rng.integers(0, 3, 150)[:, None] + rng.integers(-1, 2, (150, 6)), 0, 4)
    names = [f"q{j}" for j in range(6)]
    words = pd.DataFrame(AGREEMENT[ranks], columns=names)
    expected = model().fit(pd.DataFrame(ranks + 1, columns=names))[-1].labels_
    assert np.array_equal(model().fit(words)[-1].labels_, expected)
    types = words.apply(lambda column: pd.Categorical(column, categories=AGREEMENT, ordered=True))
    assert np.array_equal(model().fit(types)[-1].labels_, expected)
    assert np.array_equal(model()[-1].fit(types).labels_, expected)


def overlapping(n, seed=0):
    """Draw clusters that overlap, so that any difference of the draws would show, with columns to drop."""
    rng, group = np.random.default_rng(seed), np.arange(n) % 3
    used = {f"x{j}": rng.normal(size=n) + 1.3 * (group == j % 3) for j in range(5)}
    dropped = {"nr": np.arange(n), "customer_id": rng.permutation(n) * 7 + 100_000, "one": np.ones(n)}
    dropped["comment"] = [f"text of row {i}, which nobody reads" for i in range(n)]
    return pd.DataFrame(used), pd.DataFrame({**dropped, **used})


@pytest.mark.parametrize("large", [False, True])
def test_columns_that_are_dropped_change_nothing(lower_limits, large):
    if large:
        lower_limits(large_rows=200)
    X, more = overlapping(400)
    plain = clone(model()[-1]).fit(X)
    with_more = model().fit(more)
    assert list(with_more[0].dropped_columns_) == ["nr", "customer_id", "one", "comment"]
    assert np.array_equal(plain.labels_, with_more[-1].labels_)
    assert np.array_equal(plain.partitions_, with_more[-1].partitions_)
    assert np.array_equal(with_more.predict(more.assign(nr=7).drop(columns="comment")), plain.labels_)


def test_a_category_may_be_numbers_beside_words():
    """Rows of True and 1 without text were one level for `predict` where they were two for `fit`."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 400)
    for levels in ((True, 1, "oak"), (True, 1, 0.5), ("oak", "elm", 1.5)):
        words = pd.Series([levels[g] for g in group], dtype=object)
        X = pd.DataFrame({**dict.fromkeys("abc", words), "x": rng.normal(size=400), "y": rng.normal(size=400)})
        fitted = model(overrides=dict.fromkeys("abc", "category")).fit(X)
        assert len(np.unique(fitted[-1].labels_)) == 3
        shares = fitted.predict_proba(X)
        for rows in (group < 2, group == 0, group == 1, group > 0):
            assert np.array_equal(fitted.predict_proba(X[rows]), shares[rows])


def test_new_words_are_missing():
    rng, group = np.random.default_rng(0), np.arange(120) % 2
    size = np.array(["low", "medium", "high"])[np.clip(group + rng.integers(0, 2, 120), 0, 2)]
    X = pd.DataFrame({"size": size, "x": 5.0 * group + rng.normal(size=120), "y": 4.0 * group + rng.normal(size=120)})
    fitted = model(2, 20).fit(X)
    with pytest.warns(UserWarning, match="Column 'size': 'enormous' .* missing"):
        labels = fitted.predict(X.assign(size=["enormous", *size[1:]]))
    assert np.array_equal(labels, fitted.predict(X.assign(size=[None, *size[1:]])))
