import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from paper.metrics import clustering_accuracy, rand_index

labels = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=2, max_size=30)


@given(labels)
@settings(max_examples=100)
def test_against_brute_force(pairs):
    true, found = np.array(pairs).T
    assert clustering_accuracy(true, found) == pytest.approx(reference.accuracy(true, found))
    assert rand_index(true, found) == pytest.approx(reference.rand(true, found))


def test_known_values():
    assert clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 2]) == 0.75
    assert rand_index([0, 0, 1], [0, 1, 1]) == pytest.approx(1 / 3)
