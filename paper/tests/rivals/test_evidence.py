"""Evidence accumulation against single linkage, and the paper's cells."""

import numpy as np
import pytest
import reference
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from paper.metrics import clustering_accuracy, rand_index
from paper.rivals import EvidenceAccumulation


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.9, None])
def test_evidence_is_single_linkage(threshold):
    X = np.random.default_rng(2).normal(size=(40, 3))
    fitted = EvidenceAccumulation(4, threshold=threshold, n_estimators=25, random_state=0).fit(X)
    P = reference.coassociation(fitted.partitions_, fitted.partitions_)
    tree = linkage(squareform(1 - P, checks=False), "single")
    if threshold is None:
        assert fitted.n_clusters_ == 4
        # Ties leave scipy a choice of groups, not of heights.
        height = tree[-3, 2]
        joined = fcluster(tree, tree[-4, 2], "distance")
        assert all(len(set(fitted.labels_[joined == group])) == 1 for group in set(joined)) or height == tree[-4, 2]
    else:
        expected = fcluster(tree, 1 - threshold + 1e-12, "distance")
        assert rand_index(expected, fitted.labels_) == 1
        assert fitted.n_clusters_ == expected.max()


def test_evidence_base_clusters():
    X = np.random.default_rng(2).normal(size=(50, 3))
    for given_clusters, found in ((None, 3), ("sqrt", 7), (5, 5)):
        fitted = EvidenceAccumulation(3, n_base_clusters=given_clusters, n_estimators=3, random_state=0).fit(X)
        assert (fitted.partitions_.max(axis=1) + 1 == found).all()


@pytest.mark.parametrize(("name", "k", "rho_r", "rho_c"), [("wine", 3, 71.87, 70.22), ("wdbc", 2, 75.04, 85.41)])
def test_evidence_gives_the_printed_cells(uci, name, k, rho_r, rho_c):
    data = uci(name)
    labels = EvidenceAccumulation(k, random_state=0).fit_predict(data.data)
    assert 100 * rand_index(data.target, labels) == pytest.approx(rho_r, abs=0.05)
    assert 100 * clustering_accuracy(data.target, labels) == pytest.approx(rho_c, abs=0.05)
