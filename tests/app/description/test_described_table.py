"""Which rows of a large table the description and the report read."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from clusterforests import ClusterForest
from clusterforests._utils.random import representative_rows
from clusterforests.app.description.clustering import measure
from clusterforests.app.description.described_table import read_table
from clusterforests.app.description.description import describe_clusters


def test_large_table_is_read_in_part():
    X = np.random.default_rng(0).normal(size=(900, 3)) + 9 * np.repeat([[0], [1]], 450, axis=0)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    forest = ClusterForest(2, n_estimators=20, random_state=0).fit(frame)
    clustering = measure(forest, 2)
    table = read_table(clustering, frame, None, None, sample_rows=200)
    assert np.array_equal(table.rows, representative_rows(forest.labels_, 200, 5))
    assert np.array_equal(table.values, X[table.rows])
    told = describe_clusters(clustering, table)
    inside = forest.labels_[table.rows] == 0
    trait = next(trait for trait in told.clusters[0].traits if trait.column == "a")
    assert trait.inside == np.median(table.values[inside, 0])
    assert trait.outside == np.median(table.values[~inside, 0])
    assert (told.n_rows, told.n_rows_read) == (900, len(table.rows))
    for wrong in (frame.rename(columns={"a": "z"}), frame[["a", "b"]]):
        with pytest.raises(ValueError, match="feature names"):
            read_table(clustering, wrong, None, None, sample_rows=200)


def test_the_sample_keeps_every_cluster():
    labels = np.repeat([0, 1, 2], [9000, 990, 10])
    rows = representative_rows(labels, 100, 4)
    assert np.bincount(labels[rows]).tolist() == [90, 9, 4]
    assert (np.diff(rows) > 0).all()
    assert len(representative_rows(np.arange(1000), 100, 4)) == 100
    assert representative_rows(labels[:5], 100, 4).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("kind", ["array", "sparse", "pandas", "polars", "arrow", "list"])
def test_only_the_sampled_rows_are_read(kind):
    X = np.random.default_rng(0).normal(size=(60, 3)) + 9 * np.repeat([[0], [1]], 30, axis=0)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    tables = {
        "array": lambda: X,
        "sparse": lambda: scipy.sparse.csc_array(X),
        "pandas": lambda: frame,
        "polars": lambda: pl.from_pandas(frame),
        "arrow": lambda: pa.Table.from_pandas(frame),
        "list": X.tolist,
    }
    table = tables[kind]()
    forest = ClusterForest(2, n_estimators=10, random_state=0).fit(table)
    found = read_table(measure(forest, 2), table, None, None, sample_rows=20)
    assert 15 <= len(found.rows) <= 25
    assert np.array_equal(found.values, X[found.rows])
