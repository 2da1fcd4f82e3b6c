"""Random streams: the same numbers in any order of work."""

import numpy as np
import pytest

from clusterforests._utils.random import Purpose, integers, permutations, root_seed, stream, uniform


def test_streams_depend_on_the_counters_alone():
    rows, columns = np.arange(5)[:, None], np.arange(7)
    whole = stream(3, Purpose.K_ROWS, rows, columns)
    assert whole.shape == (5, 7)
    assert (whole[4, 2:3] == stream(3, Purpose.K_ROWS, 4, 2)).all()
    assert (stream(stream(3, Purpose.K_ROWS), 4, 2) == stream(3, Purpose.K_ROWS, 4, 2)).all()
    assert len(np.unique(np.concatenate([whole, stream(4, Purpose.K_ROWS, rows, columns)]))) == 70


def test_numbers_are_spread_evenly():
    keys = stream(0, np.arange(100_000))
    drawn = uniform(keys)
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert np.histogram(drawn, 10, (0, 1))[0] == pytest.approx(10_000, rel=0.05)
    assert (np.unique(integers(keys, 7)) == np.arange(7)).all()


def test_permutations():
    found = permutations(stream(0, np.arange(50)), 20)
    assert found.shape == (50, 20)
    assert (np.sort(found, axis=1) == np.arange(20)).all()
    assert len(np.unique(found, axis=0)) == 50


@pytest.mark.parametrize(
    "make", [lambda: 5, lambda: np.int64(5), lambda: np.random.RandomState(5), lambda: np.random.default_rng(5)]
)
def test_the_same_random_state_gives_the_same_seed(make):
    assert root_seed(make()) == root_seed(make())
    assert 0 <= root_seed(make()) < 2**64


def test_fresh_entropy_and_bad_random_states():
    assert root_seed(None) != root_seed(None)
    for bad in (-1, 1.5, "seed", True):
        with pytest.raises(ValueError, match=f"random_state={bad!r}"):
            root_seed(bad)
