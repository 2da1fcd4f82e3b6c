"""Names as text, and colours that work in grey and on dark pages."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from clusterforests import plots
from clusterforests.plots.style import CLUSTER_COLORS, as_text


def test_text():
    assert as_text("a$b$") == r"a\$b\$"
    assert as_text("x" * 200) == "x" * 21 + "…" + "x" * 9
    figure = plt.figure()
    drawn = figure.text(0, 0, as_text("$x_1$"))
    assert drawn._preprocess_math(drawn.get_text()) == ("$x_1$", False)


def test_dark_pages(forest):
    with plt.style.context("dark_background"):
        shown = plots.feature_use(forest)
    assert shown.lines[0].get_color() == "white"


def test_colours_of_clusters_differ_from_their_neighbours_in_grey():
    rgb = np.array([matplotlib.colors.to_rgb(color) for color in CLUSTER_COLORS])
    grey = rgb @ [0.299, 0.587, 0.114]
    assert len(set(CLUSTER_COLORS)) == 10
    assert np.abs(np.diff(grey[:4])).min() > 0.1
    assert grey.min() > 0.3
    assert grey.max() < 0.72


def test_axes_must_be_axes(forest):
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes or None, not ndarray"):
        plots.feature_use(forest, ax=plt.subplots(1, 2)[1])
