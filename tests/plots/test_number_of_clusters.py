"""Pictures over the number of clusters."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_hex

from clusterforests import ClusterForest, plots
from clusterforests.inspection import consensus_cdf, pac
from clusterforests.inspection.cluster_tree import follow, shared_rows
from clusterforests.plots.style import cluster_color


def bars_of(shown, level):
    return [
        bar for bar in shown.patches if hasattr(bar, "get_width") and round(bar.get_y() + bar.get_height() / 2) == level
    ]


def test_clusters_bands_and_colours(forest, groups, tick_labels):
    shown = plots.cluster_tree(forest, n_clusters=[2, 3, 5])
    assert tick_labels(shown.yaxis) == ["2", "3", "5"]
    assert shown.get_xlabel() == "150 rows, by cluster"
    labels = [forest.recut(k).labels_ for k in (2, 3, 5)]
    numbers = follow([shared_rows(a, b) for a, b in pairwise(labels)], 2)
    colors = [names[found] for names, found in zip(numbers, labels, strict=True)]
    for level, found in enumerate(labels):
        bars = bars_of(shown, level)
        assert [bar.get_width() for bar in bars] == np.bincount(found).tolist()
        first = [int(np.flatnonzero(found == c)[0]) for c in range(len(bars))]
        drawn = [to_hex(bar.get_facecolor(), keep_alpha=False).upper() for bar in bars]
        assert drawn == [cluster_color(int(colors[level][row])) for row in first]
        ends = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars)
        assert all(a[1] < b[0] for a, b in pairwise(ends))
    shared = sum(len(np.unique(np.stack(pair), axis=1).T) for pair in pairwise(labels))
    assert sum(not hasattr(patch, "get_width") for patch in shown.patches) == shared
    assert {text.get_text() for text in shown.texts} >= {f"{c}: {n}" for c, n in enumerate(np.bincount(labels[1]))}


def test_bands_fill_the_clusters_at_both_ends(forest):
    shown = plots.cluster_tree(forest, n_clusters=[2, 4])
    bands = [patch.get_path().vertices for patch in shown.patches if not hasattr(patch, "get_width")]
    for level, (left, right) in enumerate([(7, 0), (4, 3)]):
        covered = sum(band[right][0] - band[left][0] for band in bands)
        assert covered == pytest.approx(sum(bar.get_width() for bar in bars_of(shown, level)))


def test_splits_are_named_beside_their_step(forest, groups):
    X, _ = groups
    names = ["left $", "right", *"abcd"]
    shown = plots.cluster_tree(forest, X, [2, 3], names=names)
    beside = [text for text in shown.texts if "→" in text.get_text()]
    split = forest.cluster_tree(X, [2, 3], names=names).splits[0]
    assert [text.get_position() for text in beside] == [(1.02, 0.5)]
    head, *features = beside[0].get_text().split("\n")
    assert head == f"{split.parent} → {split.children[0]} + {split.children[1]}, by"
    assert " ".join(features).replace("\\", "").split(", ") == [feature.name for feature in split.features]
    many = plots.cluster_tree(forest, X, [2, 20])
    lines = next(text.get_text() for text in many.texts if "→" in text.get_text())
    assert "clusters, by" in lines


def test_labels_lie_within_their_clusters():
    rng = np.random.default_rng(0)
    X = np.repeat(20 * rng.normal(size=(40, 3)), 5, axis=0) + rng.normal(size=(200, 3))
    shown = plots.cluster_tree(ClusterForest(5, n_estimators=20, random_state=0).fit(X), X, [2, 9, 40])
    renderer = shown.figure.canvas.get_renderer()
    shown.figure.canvas.draw()
    bars = [bar.get_window_extent(renderer) for level in range(3) for bar in bars_of(shown, level)]
    inside = [text for text in shown.texts if "→" not in text.get_text()]
    assert len(inside) > 10
    for text in inside:
        box = text.get_window_extent(renderer)
        assert any(bar.x0 <= box.x0 and box.x1 <= bar.x1 and bar.y0 <= box.y0 and box.y1 <= bar.y1 for bar in bars)
    beside = [text.get_window_extent(renderer) for text in shown.texts if "→" in text.get_text()]
    assert all(not a.overlaps(b) for a in beside for b in bars)
    assert not beside[0].overlaps(beside[1])
    assert max(box.x1 for box in beside) <= shown.figure.bbox.x1


def test_weights_are_said(groups):
    X, truth = groups
    forest = ClusterForest(3, n_estimators=20, random_state=0).fit(X, sample_weight=0.5 + truth)
    shown = plots.cluster_tree(forest, n_clusters=[1, 3])
    assert shown.get_xlabel() == "150 weighted rows, by cluster"
    assert sum(bar.get_width() for bar in bars_of(shown, 0)) == pytest.approx((0.5 + truth).sum())
    assert shown.texts[0].get_text() == "0: 205"


def test_one_curve_for_each_number(forest):
    shown = plots.consensus_cdf(forest, [4, 2, 3])
    for line, k in zip(shown.lines, (2, 3, 4), strict=True):
        cuts = forest.recut(k).half_cuts()
        assert np.array_equal(line.get_ydata(), consensus_cdf(cuts).cdf)
        assert line.get_label() == f"K = {k}, PAC {pac(cuts):.2f}"
    assert len(plots.consensus_cdf(forest).lines) == 1


def test_numbers_that_halves_cannot_be_cut_into_are_left_out(groups):
    forest = ClusterForest(2, n_estimators=4, random_state=0).fit(groups[0][:6])
    drawn = [int(line.get_label()[4]) for line in plots.consensus_cdf(forest, range(2, 9)).lines]
    assert drawn == list(range(2, 2 + len(drawn)))
    assert 1 <= len(drawn) < 7
