"""Each variant of our settings fits a table, and what it replaces is put back."""

import numpy as np
import pytest
from variants import DEFAULT, VARIANTS, replaced

from clusterforests import ClusterForest


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 30))
    X[:, :3] += 4 * np.eye(3)[rng.integers(0, 3, 150)]
    X[:, 3] += 6 * rng.integers(0, 2, 150)
    return X


def labels(name, X):
    settings, names = VARIANTS[name]
    with replaced(names):
        return ClusterForest(**{"n_clusters": 3, "n_estimators": 20, "random_state": 0} | settings).fit(X).labels_


@pytest.mark.parametrize("name", [name for name in VARIANTS if name != DEFAULT])
def test_a_variant_runs_and_leaves_the_default_alone(name, table):
    before = labels(DEFAULT, table)
    assert len(labels(name, table)) == len(table)
    assert (labels(DEFAULT, table) == before).all()
