"""Fits of tables of every kind, small and large: the same as of the array of float64."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from table_kinds import KINDS, NAMES, X, mapped

from clusterforests import ClusterForest


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("kind", [*KINDS, "mapped"])
def test_fits_and_predictions_are_equal(kind, large, lower_limits, tmp_path):
    if large:
        lower_limits(large_rows=100, block_bytes=8 * 5 * 300)
    table = mapped(X, tmp_path) if kind == "mapped" else KINDS[kind](X)
    settings = {"n_estimators": 15, "random_state": 0, "n_jobs": 2}
    plain = ClusterForest(3, **settings).fit(X)
    forest = ClusterForest(3, **settings).fit(table)
    assert (forest.partitions_ == plain.partitions_).all()
    assert (forest.labels_ == plain.labels_).all()
    assert (forest.predict(table) == plain.labels_).all()
    if hasattr(table, "column_names") or isinstance(table, (pd.DataFrame, pl.DataFrame)):
        assert forest.feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize("make", [pd.DataFrame.copy, pl.from_pandas, pa.Table.from_pandas])
def test_missing_cells_and_categories_go_the_other_way(make, lower_limits):
    cells = {
        "a": X[:, 0].tolist(),
        "b": [None, *X[1:, 1].tolist()],
        "c": pd.Categorical(np.where(X[:, 2] > 0, "x", "y")),
    }
    table = make(pd.DataFrame(cells))
    small = ClusterForest(3, n_estimators=9, random_state=0).fit(table)
    lower_limits(large_rows=100)
    forest = ClusterForest(3, n_estimators=9, random_state=0).fit(table)
    assert forest.partitions_.dtype == np.int8
    assert small.partitions_.dtype == np.int32
    assert len(np.unique(forest.labels_)) == 3
