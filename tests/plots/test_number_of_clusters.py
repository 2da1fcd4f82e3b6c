"""Pictures over the number of clusters."""

import numpy as np
import pytest

from clusterforests import ClusterForest, PaperForest, plots
from clusterforests import inspection as diagnostics
from clusterforests.plots.number_of_clusters import followed


@pytest.fixture(scope="module")
def several(groups):
    return [PaperForest(k, n_estimators=20, random_state=0).fit(groups[0]) for k in (4, 2, 3)]


def test_cdf_of_several_forests(several):
    shown = plots.consensus_cdf(several)
    for line, forest in zip(shown.lines, sorted(several, key=lambda f: f.n_clusters_), strict=True):
        curve = diagnostics.consensus_cdf(forest)
        assert np.array_equal(line.get_ydata(), curve.cdf)
        assert line.get_label() == f"K = {forest.n_clusters_}, PAC {diagnostics.pac(curve):.2f}"


def test_delta_area(several, groups):
    shown = plots.delta_area(several)
    by_number = sorted(several, key=lambda f: f.n_clusters_)
    assert shown.lines[-1].get_xdata().tolist() == [2, 3, 4]
    assert shown.lines[-1].get_ydata() == pytest.approx(diagnostics.delta_area(by_number))
    auto = ClusterForest(range(1, 5), n_estimators=10, random_state=0).fit(groups[0])
    points, chosen = plots.delta_area(auto, range(2, 5)).lines[1:]
    assert points.get_ydata() == pytest.approx(diagnostics.delta_area([auto.recut(k) for k in (2, 3, 4)]))
    assert chosen.get_xdata()[0] == auto.n_clusters_
    assert len(plots.delta_area(auto, range(5, 7)).lines) == 2  # the chosen number is not among these
    with pytest.raises(ValueError, match="forests of 2, 4 clusters"):
        plots.delta_area(by_number[::2])


def test_one_forest_is_cut_into_each_number(forest):
    cuts = [forest.recut(k) for k in (2, 3, 4)]
    curves = [diagnostics.consensus_cdf(cut) for cut in cuts]
    shown = plots.consensus_cdf(forest, [4, 2, 3])
    assert all(np.array_equal(line.get_ydata(), curve.cdf) for line, curve in zip(shown.lines, curves, strict=True))
    assert [line.get_label()[:5] for line in shown.lines] == ["K = 2", "K = 3", "K = 4"]
    assert len(plots.consensus_cdf(forest).lines) == 1
    area = plots.delta_area(forest, [2, 3, 4])
    assert area.lines[-1].get_ydata() == pytest.approx(diagnostics.delta_area(curves))
    assert plots.delta_area(forest, max_rows=50).lines[-1].get_xdata().tolist() == list(range(2, 9))


def test_numbers_that_halves_cannot_be_cut_into_are_left_out(groups):
    X = groups[0][:6]
    forest = ClusterForest(2, n_estimators=4, random_state=0).fit(X)
    drawn = [int(line.get_label()[4]) for line in plots.consensus_cdf(forest, range(2, 9)).lines]
    assert drawn == list(range(2, 2 + len(drawn)))
    assert 1 <= len(drawn) < 7


def test_tracking(forest, several, tick_labels):
    shown = plots.tracking(several)
    assert tick_labels(shown.yaxis) == ["2", "3", "4"]
    colors = shown.images[0].get_array()
    by_number = sorted(several, key=lambda f: f.n_clusters_)
    labels = [f.labels_ for f in by_number]
    assert np.array_equal(colors, followed(labels)[:, np.lexsort(labels[::-1])])
    assert np.array_equal(np.sort(labels[0]), colors[0])
    one = plots.tracking(forest, [3, 1, 3])
    assert tick_labels(one.yaxis) == ["1", "3"]
    assert np.array_equal(np.bincount(one.images[0].get_array()[1]), np.bincount(forest.recut(3).labels_))


def test_colours_follow_clusters():
    a, b, c = np.array([0, 0, 0, 1, 1]), np.array([2, 2, 0, 1, 1]), np.array([0, 0, 0, 1, 2])
    assert followed([a, b, c]).tolist() == [[0, 0, 0, 1, 1], [0, 0, 2, 1, 1], [0, 0, 0, 1, 2]]
