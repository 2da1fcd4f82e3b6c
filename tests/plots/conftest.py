"""Fixtures of the plots' tests."""

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

import matplotlib.pyplot as plt

from clusterforests import ClusterForest


@pytest.fixture(autouse=True)
def no_figure_left():
    """Begin without the figures of other tests: a figure made by us is one more."""
    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture
def ax():
    return plt.subplots(layout="constrained")[1]


@pytest.fixture(scope="module")
def groups():
    truth = np.repeat([0, 1, 2], [60, 50, 40])
    X = np.random.default_rng(0).normal(size=(150, 6))
    X[:, :2] += np.array([[0, 8], [8, 16], [16, 0]])[truth]
    return X, truth


@pytest.fixture(scope="module")
def forest(groups):
    return ClusterForest(3, n_estimators=40, random_state=0).fit(groups[0])


@pytest.fixture
def tick_labels():
    """The texts along an axis."""
    return lambda axis: [label.get_text() for label in axis.get_ticklabels()]
