"""Bagged clustering against its plain version."""

import numpy as np
import reference

from clusterforests import HartiganWongKMeans
from paper.metrics import rand_index
from paper.rivals import BaggedClustering
from paper.rivals.medoids import partition_around_medoids


def test_bagging_counts_only_rows_of_the_sample(blobs):
    X, _ = blobs
    bagged = BaggedClustering(3, n_estimators=30, random_state=0).fit(X)
    absent = bagged.partitions_ < 0
    assert 0.3 < absent.mean() < 0.44  # exp(-1) of the rows are not in a bootstrap sample
    P = reference.coassociation(bagged.partitions_, bagged.partitions_)
    np.fill_diagonal(P, 1.0)
    plain = partition_around_medoids(1 - P, 3).labels
    assert rand_index(plain, bagged.labels_) == 1


def test_bagging_member_is_kmeans_of_its_sample(blobs):
    X, _ = blobs
    member = BaggedClustering(3, n_estimators=1, random_state=5).fit(X).partitions_[0]
    held = member >= 0
    alone = HartiganWongKMeans(3, random_state=0).fit_predict(X[held])
    assert rand_index(alone, member[held]) == 1
