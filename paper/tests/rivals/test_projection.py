"""Random projection ensembles."""

import numpy as np

from paper.metrics import clustering_accuracy, rand_index
from paper.rivals import RandomProjectionEnsemble


def test_projection_members_differ_and_do_not_depend_on_offset_or_scale(blobs):
    X, truth = blobs
    fitted = RandomProjectionEnsemble(3, n_components=2, n_estimators=40, linkage="average", random_state=0).fit(X)
    assert len(np.unique(fitted.partitions_, axis=0)) > 10
    moved = RandomProjectionEnsemble(3, n_components=2, n_estimators=40, linkage="average", random_state=0)
    assert rand_index(moved.fit_predict(X * 2.0**300 + 0.0), fitted.labels_) == 1
    assert clustering_accuracy(truth, fitted.labels_) > 0.9
