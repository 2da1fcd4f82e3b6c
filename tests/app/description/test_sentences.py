"""The answer and the caveats, in words."""

from dataclasses import replace

import numpy as np
import pytest

from clusterforests import ClusterForest, describe
from clusterforests.app.description.sentences import informative_features, repeated
from clusterforests.forest_view import view_of


def test_cautions():
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
        ([0.5, 0.4, 0, 0], 2, "2 of 4 columns are informative; the other 2 were left out of the trees."),
        ([0.5, 0.4, 0, 0], 4, "2 of 4 columns are informative; the trees used all columns."),
        ([0.5, 0.4, 0, 0], 3, "2 of 4 columns are informative; the trees used 3 of them."),
        ([0.5, 0.4, 0.1, 0.2], 4, "All 4 columns are informative."),
        (
            [0, 0, 0, 0],
            4,
            "No column is associated with the others, so none is known to be informative; the trees used all columns.",
        ),
        ([0.5], 1, "There is only one column."),
    ],
)
def test_informative_features(importances, usable, said):
    X = np.random.default_rng(0).normal(size=(20, 4))
    view = view_of(ClusterForest(2, n_estimators=5, random_state=0).fit(X))
    n = len(importances)
    changes = {"feature_importances": np.array(importances), "feature_pvalues": np.full(n, 0.5), "n_features": n}
    view = replace(view, usable_features=np.arange(usable), encoded_features=list(range(n)), **changes)
    assert informative_features(view, "column") == said
    older = replace(view, feature_pvalues=np.full(n, np.nan))
    assert "saved before columns were tested" in informative_features(older, "column")


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
def test_repeated_columns(blobs, features, said):
    forest = ClusterForest(3, n_estimators=5, random_state=0).fit(blobs[0])
    view = replace(view_of(forest), repeated_features=features)
    assert repeated(view, ["a", "b", "column 3"]) == said


def test_repeated_columns_are_named_at_the_top(blobs):
    X, truth = blobs
    table = np.column_stack([X, truth])
    with pytest.warns(UserWarning, match=f"clusters repeat column {X.shape[1]}"):
        forest = ClusterForest(3, n_estimators=20, random_state=0).fit(table)
    said = f"The clusters repeat column {X.shape[1] + 1}: its values are the clusters."
    assert said in describe(forest, table).answer
