"""Checks of tables of numbers, weights of rows, and enough rows for the clusters."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from clusterforests.table.checks import check_clustering, check_enough_rows, check_numbers, check_weights, unmasked

X = np.arange(6.0).reshape(3, 2)


class Clusterer(BaseEstimator):
    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters


def test_a_plain_array_is_not_copied():
    estimator = BaseEstimator()
    estimator.feature_names_in_ = ["old"]
    assert check_numbers(estimator, X) is X
    assert estimator.n_features_in_ == 2
    assert not hasattr(estimator, "feature_names_in_")


@pytest.mark.parametrize(
    "make",
    [np.asfortranarray, lambda x: x.astype(np.int8), lambda x: x.tolist(), lambda x: x[::-1][::-1], pd.DataFrame],
)
def test_tables_become_plain_arrays(make):
    found = check_numbers(BaseEstimator(), make(X))
    assert (found == X).all()
    assert found.dtype == np.float64
    assert found.flags.c_contiguous


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.array([["2020-01-01"]], dtype="M8[D]"), "X holds dates or times .* days since a date, or drop them"),
        (pd.DataFrame({"a": [1.0], "b": ["x"]}), r"1 column\(s\) that are not numbers: 'b'\. Drop them or encode"),
        ([[1.0, np.nan]], "NaN"),
        ([[1.0, np.inf]], "infinity"),
        (np.empty((0, 2)), "0 sample"),
        (np.ma.masked_array([[1.0, 2.0]], [[False, True]]), "NaN"),
    ],
)
def test_other_tables_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        check_numbers(BaseEstimator(), table)


def test_masked_cells_are_missing():
    assert np.isnan(unmasked(np.ma.masked_array([1, 2], [False, True]))).tolist() == [False, True]
    assert unmasked(np.ma.masked_array(["a", "b"], [False, True])).tolist() == ["a", None]
    assert unmasked(X) is X


def test_weights():
    assert check_weights(None, 3) is None
    assert check_weights([1, 0, 2], 3).dtype == np.float64
    assert check_weights(2, 3).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (["a", "b", "c"], "must hold real numbers"),
        ([[1.0, 1.0, 1.0]], "1-dimensional, one weight per row; it has 2 dimensions"),
        ([1.0, 2.0], "has 2 entries but X has 3 rows"),
        ([1.0, -1.0, 1.0], "finite and not negative"),
        ([1.0, np.nan, 1.0], "finite and not negative"),
        ([0, 0, 0], "zero for every row"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        check_weights(weights, 3)


def test_clusters_need_rows():
    check_enough_rows(3, 3)
    assert check_clustering(Clusterer(3), X) is X
    with pytest.raises(ValueError, match="n_clusters=4 is more than the number of rows, n_samples=3"):
        check_clustering(Clusterer(4), X)
    with pytest.raises(ValueError, match="n_clusters=0 is not allowed"):
        check_clustering(Clusterer(0), X)


@pytest.mark.parametrize("weight", [1e155, 1e-200, 5e-324])
def test_weights_whose_products_would_overflow_or_vanish(weight):
    with pytest.raises(ValueError, match=r"largest sample_weight is .*between 1e-100 and 1e\+100\. Divide all weights"):
        check_weights(np.full(3, weight), 3)
    assert check_weights([1e100, 1e99, 0], 3).tolist() == [1e100, 1e99, 0]


def test_weights_that_are_lost_beside_others_count_as_nothing():
    with pytest.warns(UserWarning, match="2 rows weigh less than 1e-12 of the heaviest"):
        found = check_weights([1.0, 1e-200, 0.0, 1e-13, 1e-11], 5)
    assert found.tolist() == [1.0, 0.0, 0.0, 0.0, 1e-11]
    assert check_weights([1.0, 1e-13], 2, whole=False).tolist() == [1.0, 1e-13]  # a partition of a table
