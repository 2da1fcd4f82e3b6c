"""The lines of growth are the trees' kappas."""

import numpy as np
import pytest

from clusterforests import plots


def test_kappa_growth_follows_the_trees(forest):
    shown = plots.kappa_growth(forest)
    path = forest.kappa_path_
    assert path.shape[0] == 40
    for line, kappas in zip(shown.lines, path, strict=False):
        assert np.array_equal(line.get_ydata(), kappas, equal_nan=True)
    assert not (np.diff(path, axis=1) > 0).any()
    steps = np.isfinite(path)
    assert (steps[:, :-1] >= steps[:, 1:]).all()
    last = path[np.arange(40), steps.sum(axis=1) - 1]
    assert shown.lines[-2].get_ydata() == pytest.approx(last)
    assert shown.lines[-1].get_ydata()[-1] == pytest.approx(np.median(last))
