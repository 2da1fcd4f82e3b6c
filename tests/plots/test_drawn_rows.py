"""Which rows are drawn, and that a picture says so."""

import numpy as np
import pytest

from clusterforests import plots
from clusterforests.plots.consensus import rows_to_draw


def test_the_sample_is_proportional_and_fixed():
    labels = np.random.default_rng(0).permutation(np.repeat([0, 1, 2, 3], [600, 300, 99, 1])).astype(np.int32)
    rows = rows_to_draw(labels, 100)
    assert (np.diff(rows) > 0).all()
    assert np.bincount(labels[rows]).tolist() == [60, 30, 9, 1]
    assert np.array_equal(rows, rows_to_draw(labels, 100))
    assert rows_to_draw(labels, 1000).tolist() == list(range(1000))
    assert np.bincount(labels[rows_to_draw(labels, 4)]).tolist() == [1, 1, 1, 1]
    for size in (5, 17, 333, 999):
        assert len(rows_to_draw(labels, size)) == size
    with pytest.raises(ValueError, match="max_rows=3 is less than the number of clusters, 4"):
        rows_to_draw(labels, 3)


def test_axes_say_how_many_rows_are_shown(forest):
    for draw in (plots.consensus_heatmap, plots.item_consensus, plots.spectral_embedding, plots.tracking):
        shown = draw(forest, max_rows=30)
        said = shown.get_xlabel() + shown.get_ylabel() + shown.get_title()
        assert "30 of 150 rows" in said, draw.__name__
    assert plots.consensus_heatmap(forest, max_rows=30).images[0].get_array().shape == (30, 30)
    assert "of 20 of 150 rows" in plots.consensus_cdf(forest, max_rows=20).get_ylabel()
