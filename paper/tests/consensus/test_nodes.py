"""Clusters as columns of zeros and ones, and groups by the highest score, none of them empty."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from noisy_partitions import small_partitions

from paper.consensus.nodes import best_nonempty_groups, incidence


@given(partitions=small_partitions(-1))
@settings(max_examples=60)
def test_incidence(partitions):
    found = incidence(partitions)
    columns = [
        (t, c, partitions[t] == c) for t in range(len(partitions)) for c in range(3) if (partitions[t] == c).any()
    ]
    assert found.rows.toarray().T.tolist() == [member.tolist() for _, _, member in columns]
    owners = found.partitions.toarray()
    assert owners.sum() == len(columns)
    assert all(owners[t, j] == 1 for j, (t, _, _) in enumerate(columns))


@given(
    scores=arrays(np.int8, st.tuples(st.integers(3, 5), st.integers(1, 3)), elements=st.integers(0, 4)),
    weights=arrays(np.int8, 5, elements=st.integers(1, 3)),
)
@settings(max_examples=100)
def test_best_nonempty_groups(scores, weights):
    scores, weights = scores.astype(float), weights[: len(scores)].astype(float)
    m, k = scores.shape
    full = (g for g in itertools.product(range(k), repeat=m) if len(set(g)) == k)
    best = max(weights @ scores[np.arange(m), list(g)] for g in full)
    found = best_nonempty_groups(scores, weights)
    assert len(set(found)) == k
    assert weights @ scores[np.arange(m), found] == best
    if len(set(scores.argmax(axis=1))) == k:
        assert (found == scores.argmax(axis=1)).all()


def test_an_empty_group_takes_the_row_that_loses_least():
    scores = np.array([[2.0, 0.0], [1.0, 0.0]])
    assert best_nonempty_groups(scores, np.array([1.0, 1.0])).tolist() == [0, 1]
    assert best_nonempty_groups(scores, np.array([1.0, 3.0])).tolist() == [1, 0]
