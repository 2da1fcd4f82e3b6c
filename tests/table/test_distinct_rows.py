"""Equal rows counted as one."""

import numpy as np

from clusterforests.table.feature_columns import distinct_rows


def test_distinct_rows():
    X = np.array([[1.0, np.nan], [0.0, 2.0], [1.0, -np.nan], [-0.0, 2.0], [3.0, 3.0]])
    found = distinct_rows(X, np.array([1.0, 2.0, 0.25, 4.0, 0.0]))
    weights = {tuple(np.nan_to_num(X[row], nan=9)): w for row, w in zip(*found, strict=True)}
    assert weights == {(1.0, 9.0): 1.25, (0.0, 2.0): 6.0}
    assert sorted(distinct_rows(X).weights) == [1, 2, 2]
