"""Hashes of rows and ends of columns in one pass."""

import numpy as np
import pytest

from clusterforests import _core


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("rows", [0, 1, 255, 256, 257, 3000])
def test_the_core_finds_the_ends_of_columns(rows, threads):
    rng = np.random.default_rng(rows)
    table = rng.choice([-np.inf, -3.0, -0.0, 0.0, 1e-310, 2.5, np.inf], (rows, 7))
    table[:, 0] = np.where(rng.random(rows) < 0.9, np.nan, 1.0)
    table[:, 1] = -0.0
    table[rows - 1 :, 2] = np.nan
    keys, low, high = _core.scan_rows(table, threads)
    assert (keys == _core.hash_rows(table, 1)).all()
    np.testing.assert_array_equal(low, table.min(axis=0, initial=np.inf))
    np.testing.assert_array_equal(high, table.max(axis=0, initial=-np.inf))
    if rows:
        assert not np.signbit([low[1], high[1]]).any()
