"""Samples of distinct rows, of a table as a whole and in pieces."""

import numpy as np
import pytest
import reference

from clusterforests._utils.arrays import row_keys
from clusterforests._utils.random import Purpose, stream, uniform
from clusterforests.table.row_sampling import (
    COUNTERS,
    LOST,
    WeightedKeys,
    distinct_keys,
    draw_keys,
    draw_rows,
    frequent_keys,
    key_uniforms,
    merge_keys,
    prune_counters,
    waiting_limit,
    waiting_times,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 6))
WHOLE = RNG.integers(0, 4, 3000).astype(np.float64)


@pytest.mark.parametrize("candidates", [2, 8])
@pytest.mark.parametrize("size", [50, 700, 5000])
@pytest.mark.parametrize("weights", [None, WHOLE])
def test_the_sample_is_that_of_the_oracle(size, weights, candidates):
    """With few candidates some rows are drawn only because they are a large share of the table."""
    rng = np.random.default_rng(1)
    rows = X[np.where(rng.random(3000) < 0.5, rng.integers(0, 12, 3000), rng.integers(0, 900, 3000))]
    keys = row_keys(rows)
    uniforms = uniform(stream(stream(5, Purpose.TABLE_SAMPLE), keys))
    given = np.ones(3000) if weights is None else weights
    expected_rows, expected_weights = reference.draw_rows(keys, uniforms, given, size, candidates)
    found = draw_rows(keys, weights, size, 5, candidates)
    assert (rows[found.rows] == rows[expected_rows]).all()
    np.testing.assert_allclose(found.weights, expected_weights, rtol=1e-12)
    assert set(draw_rows(keys, weights, 50, 6).rows) != set(draw_rows(keys, weights, 50, 5).rows)


@pytest.mark.parametrize("heavy", [0, 130, 1000, 3000])
@pytest.mark.parametrize("size", [40, 150])
def test_rows_that_are_sifted_have_the_sample_of_the_oracle(size, heavy):
    """Few rows are sorted, of which some are drawn only because they are a large share of the table."""
    rng = np.random.default_rng(2)
    keys = row_keys(rng.normal(size=(5000, 2)))
    keys[rng.permutation(5000)[:heavy]] = keys[np.argsort(key_uniforms(keys, 5))[2500]]
    rows, weights = reference.draw_rows(keys, key_uniforms(keys, 5), np.ones(5000), size, 2)
    found = draw_rows(keys, None, size, 5, 2)
    assert (keys[found.rows] == keys[rows]).all()
    np.testing.assert_allclose(found.weights, weights, rtol=1e-12)


def test_all_rows_equal_are_one():
    found = draw_rows(row_keys(np.ones((100_000, 2))), None, 16384, 0)
    assert found.weights.tolist() == [100_000]


def test_the_sample_has_the_masses_of_the_table():
    """A row that is 30 % of the table is always in the sample, with about 30 % of its weight; single rows weigh 1."""
    many = X[RNG.integers(0, 3000, 50_000)] + RNG.normal(size=(50_000, 6))
    many[:15_000] = 1.0
    for seed in range(5):
        found = draw_rows(row_keys(many), None, 2000, seed)
        repeated = (many[found.rows] == 1.0).all(axis=1)
        assert repeated.sum() == 1
        assert 0.25 < found.weights[repeated][0] / found.weights.sum() < 0.35
        assert (found.weights[~repeated] == 1).all()


@pytest.mark.parametrize("weights", [None, WHOLE])
def test_pieces_have_the_sample_of_the_whole(weights):
    keys = row_keys(X[RNG.integers(0, 400, 3000)])
    cuts = [slice(0, 10), slice(10, 1900), slice(1900, 3000)]
    pieces = [distinct_keys(keys[cut], None if weights is None else weights[cut])[0] for cut in cuts]
    merged, whole = merge_keys(pieces), distinct_keys(keys, weights)[0]
    assert (merged.names == whole.names).all()
    np.testing.assert_allclose(merged.weights, whole.weights, rtol=1e-14)
    waits = waiting_times(merged.names, 3)
    drawn = draw_keys(merged, waits, 30, waiting_limit(waits, 30), float(merged.weights.sum()))
    assert set(merged.names[drawn.positions]) == set(keys[draw_rows(keys, weights, 30, 3).rows])


def test_the_limit_leaves_as_many_candidates_as_asked():
    waits = waiting_times(np.arange(1000, dtype=np.uint64), 0)
    assert (waits < waiting_limit(waits, 20, candidates=4)).sum() == 80
    assert waiting_limit(waits, 250, candidates=4) == np.inf


@pytest.mark.parametrize("seed", range(5))
def test_pruned_counters_keep_every_frequent_key(seed):
    """However a table is cut into pieces, a key with a share of 1 / size keeps a counter that is short by few."""
    rng = np.random.default_rng(seed)
    size = 10
    keys = np.concatenate([rng.integers(0, 10**6, 20_000), np.repeat(np.arange(5) + 10**7, 2600)]).astype(np.uint64)
    rng.shuffle(keys)
    counters = WeightedKeys(np.empty(0, np.uint64), np.empty(0))
    for piece in np.array_split(keys, 13):
        counters = prune_counters(merge_keys([counters, frequent_keys(distinct_keys(piece)[0], size)]), size)
        assert len(counters.names) <= COUNTERS * size
    counted = dict(zip(counters.names.tolist(), counters.weights.tolist(), strict=True))
    for heavy in range(10**7, 10**7 + 5):
        assert 2600 - LOST * len(keys) / size <= counted.get(heavy, 0) <= 2600
