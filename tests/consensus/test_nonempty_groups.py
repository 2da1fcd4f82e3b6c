"""Groups by the highest score, none empty, against all labellings."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from clusterforests.consensus.normalized_cut import best_nonempty_groups


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
