"""What was kept is said in a sentence."""

import numpy as np
import pytest

from clusterforests import ClusterForest, describe
from clusterforests.app.description.sentences import guided
from clusterforests.forest_view import view_of

ROWS = np.random.default_rng(0).normal(np.repeat([[0.0], [9.0]], 30, axis=0), size=(60, 3))


@pytest.mark.parametrize(
    ("settings", "given", "sentence"),
    [
        ({}, {}, ""),
        ({}, {"must_link": [(0, 1), (1, 2), (40, 41)]}, "Kept as asked: 5 rows together in 2 groups."),
        ({}, {"cannot_link": [(0, 40)]}, "Kept as asked: 1 pair of rows or groups apart."),
        (
            {},
            {"known_labels": ["x, y" if i == 0 else 7 if i == 50 else None for i in range(60)]},
            "Kept as asked: 2 rows in the clusters of their known classes "
            '("x, y" is cluster {first} and 7 is cluster {last}).',
        ),
        ({"min_cluster_size": 25}, {}, "Kept as asked: clusters of at least 25 rows."),
        (
            {"min_cluster_size": 0.25, "max_cluster_size": 0.75},
            {"sample_weight": np.full(60, 1000.0)},
            "Kept as asked: clusters of at least 15,000 and at most 45,000 in weight.",
        ),
    ],
)
def test_sentences(settings, given, sentence):
    forest = ClusterForest(2, n_estimators=10, random_state=0, **settings).fit(ROWS, **given)
    labels = forest.labels_
    said = sentence.format(first=labels[0], last=labels[50])
    assert guided(view_of(forest)) == said
    assert (said in describe(forest, ROWS).caveats) == bool(said)


def test_many_classes_are_not_all_listed():
    known = np.full(60, -1)
    known[:7] = range(7)
    forest = ClusterForest(7, n_estimators=10, random_state=0).fit(ROWS, known_labels=known)
    assert guided(view_of(forest)).endswith(", ...).")
    assert guided(view_of(forest)).count("is cluster") == 6
