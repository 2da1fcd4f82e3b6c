"""Warnings point at the user's line, however deep they come from."""

import inspect
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from clusterforests import ClusterForest, HartiganWongKMeans, PaperForest

TWO_ROWS = np.repeat([[0.0, 1.0], [5.0, 2.0]], 4, axis=0)


class SometimesFails(KMeans):
    """Raises an exception for every other seed."""

    def fit_predict(self, X, y=None, sample_weight=None):
        if self.random_state % 2:
            raise RuntimeError("not today")
        return super().fit_predict(X)


def check(call, category=UserWarning):
    """The call, which must be on the line of this check, warns of that line, once."""
    line = inspect.currentframe().f_back.f_lineno
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert [(w.category, w.filename, w.lineno) for w in caught] == [(category, __file__, line)]


def test_fewer_rows_than_clusters():
    forest, kmeans = ClusterForest(3, n_estimators=5), HartiganWongKMeans(3)
    check(lambda: forest.fit(TWO_ROWS), ConvergenceWarning)
    check(lambda: forest.fit_predict(TWO_ROWS), ConvergenceWarning)
    check(lambda: kmeans.fit(TWO_ROWS), ConvergenceWarning)
    check(lambda: kmeans.fit_transform(TWO_ROWS), ConvergenceWarning)
    check(lambda: make_pipeline(StandardScaler(), forest).fit(TWO_ROWS), ConvergenceWarning)


def test_clusterings_that_fail(blobs):
    forest = PaperForest(3, estimator=SometimesFails(n_init=1), n_estimators=10, random_state=0)
    check(lambda: forest.fit(blobs[0]))
    check(lambda: forest.fit_predict(blobs[0]))
