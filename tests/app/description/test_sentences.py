"""The answer and the caveats, in words."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from clusterforests import ClusterForest, describe
from clusterforests.app.description.sentences import constraints_kept, dominated, informative_features


def test_caveats():
    X = np.random.default_rng(1).normal(size=(80, 6))
    forest = ClusterForest(8, n_estimators=6, random_state=0).fit(X).set_params(random_state=None)
    assert (forest.stability(2).clusters < 0.6).any()
    said = " ".join(describe(forest, X).caveats)
    assert "8 clusters were requested, not discovered" in said
    assert "not reliable" in said
    assert "No random_state was set" in said


@pytest.mark.parametrize(
    ("importances", "usable", "said"),
    [
        ([0.5, 0.4, 0, 0], 2, "2 of 4 columns are .* the other 2 were left out"),
        ([0.5, 0.4, 0, 0], 4, "2 of 4 columns are .* used all columns"),
        ([0.5, 0.4, 0, 0], 3, "2 of 4 columns are .* used 3 of them"),
        ([0.5, 0.4, 0.1, 0.2], 4, "All 4 columns"),
        ([0, 0, 0, 0], 4, "No column is associated .* used all columns"),
        ([0.5], 1, "only one column"),
    ],
)
def test_informative_features(importances, usable, said):
    n = len(importances)
    used, scores = [np.arange(usable)], np.array(importances)
    forest = SimpleNamespace(estimators_features_=used, feature_importances_=scores, feature_pvalues_=np.full(n, 0.5))
    table = SimpleNamespace(n_features=n, words_of_text=False)
    assert re.search(said, informative_features(forest, table, "column"))
    forest.feature_pvalues_ = np.full(n, np.nan)
    assert "saved before columns were tested" in informative_features(forest, table, "column")


@pytest.mark.parametrize(
    ("features", "said"),
    [
        ({}, ""),
        ({1: 0.95}, "The clusters repeat column 'b': its values are the clusters. To find others, leave it out."),
        (
            {0: 0.95, 2: 1.0},
            "The clusters repeat column 'a' and column 3: the values of each are the clusters. To find others, leave "
            "them out.",
        ),
    ],
)
def test_dominant_columns(features, said):
    forest = SimpleNamespace(dominant_features_=features)
    assert dominated(forest, ["a", "b", "column 3"]) == said


def test_dominant_columns_are_named_at_the_top(blobs):
    X, truth = blobs
    table = np.column_stack([X, truth])
    with pytest.warns(UserWarning, match=f"clusters repeat column {X.shape[1]}"):
        forest = ClusterForest(3, n_estimators=20, random_state=0).fit(table)
    said = f"The clusters repeat column {X.shape[1] + 1}: its values are the clusters."
    assert said in describe(forest, table).answer


ROWS = np.random.default_rng(0).normal(np.repeat([[0.0], [9.0]], 30, axis=0), size=(60, 3))


@pytest.mark.parametrize(
    ("settings", "given", "sentence"),
    [
        ({}, {}, ""),
        ({}, {"must_link": [(0, 1), (1, 2), (40, 41)]}, "Kept as asked: 5 rows together in 2 groups."),
        ({}, {"cannot_link": [(0, 40)]}, "Kept as asked: 1 pair of rows or groups apart."),
        (
            {},
            {"known_labels": ["x, y" if i == 0 else 7 if i == 50 else None for i in range(60)]},
            "Kept as asked: 2 rows in the clusters of their known classes "
            '("x, y" is cluster {first} and 7 is cluster {last}).',
        ),
        ({"min_cluster_size": 25}, {}, "Kept as asked: clusters of at least 25 rows."),
        (
            {"min_cluster_size": 0.25, "max_cluster_size": 0.75},
            {"sample_weight": np.full(60, 1000.0)},
            "Kept as asked: clusters of at least 15,000 and at most 45,000 in weight.",
        ),
    ],
)
def test_constraints_that_were_kept(settings, given, sentence):
    forest = ClusterForest(2, n_estimators=10, random_state=0, **settings).fit(ROWS, **given)
    labels = forest.labels_
    said = sentence.format(first=labels[0], last=labels[50])
    assert (constraints_kept(forest) if said else "") == said
    assert (said in describe(forest, ROWS).caveats) == bool(said)


def test_many_classes_are_not_all_listed():
    known = np.full(60, -1)
    known[:7] = range(7)
    forest = ClusterForest(7, n_estimators=10, random_state=0).fit(ROWS, known_labels=known)
    assert constraints_kept(forest).endswith(", ...).")
    assert constraints_kept(forest).count("is cluster") == 6
