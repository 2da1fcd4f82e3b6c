"""The heatmap, the bars and the embedding show what the forest says, and which rows are drawn."""

import itertools

import numpy as np
import pytest

from clusterforests import ClusterForest, plots


def test_heatmap_is_ordered_by_cluster_and_sureness(forest, tick_labels):
    shown = plots.consensus_heatmap(forest)
    order = np.lexsort((-forest.item_consensus_, forest.labels_))
    assert np.array_equal(shown.images[0].get_array(), forest.coassociation(order, order))
    assert len(shown.figure.axes) == 2
    assert tick_labels(shown.xaxis) == ["0", "1", "2"]
    assert "150 rows" in shown.get_xlabel()
    assert len(plots.consensus_heatmap(forest, colorbar=False).figure.axes) == 1


def test_colours_of_the_heatmap_range_over_pairs_of_different_rows(forest):
    shown = plots.consensus_heatmap(forest)
    pairs = forest.coassociation()[~np.eye(150, dtype=bool)]
    assert shown.images[0].get_clim() == (pairs.min(), pairs.max())
    assert f"from {pairs.min():.2f} to {pairs.max():.2f}" in shown.figure.axes[1].get_ylabel()


def test_item_consensus_bars(forest):
    shown = plots.item_consensus(forest)
    for cluster, bars in enumerate(shown.patches):
        own = np.sort(forest.item_consensus_[forest.labels_ == cluster])[::-1]
        assert np.array_equal(bars.get_data().values, own)
        assert (np.diff(bars.get_data().edges) == 1).all()
    means = [line.get_segments()[0][0, 0] for line in shown.collections]
    assert means == pytest.approx(forest.cluster_consensus_)


def test_embedding_tells_clusters_apart_and_has_the_eigenvectors(groups):
    forest = ClusterForest(3, n_estimators=30, random_state=0).fit(groups[0])
    shown = plots.spectral_embedding(forest)
    places = np.vstack([np.asarray(dots.get_offsets()) for dots in shown.collections])
    order = np.argsort(forest.labels_, kind="stable")
    W = forest.coassociation(order, order)
    values = np.sort(np.linalg.eigvals(W / W.sum(axis=1, keepdims=True)).real)
    for vector, value in zip(places.T, values[-2:-4:-1], strict=True):
        assert W @ vector / W.sum(axis=1) == pytest.approx(value * vector, abs=1e-8)
        assert np.abs(vector).max() > 1e-3
    assert [len(dots.get_offsets()) for dots in shown.collections] == np.bincount(forest.labels_).tolist()


@pytest.mark.parametrize("draw", [plots.consensus_heatmap, plots.item_consensus, plots.spectral_embedding])
def test_numbers_of_many_clusters_do_not_overlap(draw):
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(40, 6)) * 9
    X = centers[np.sort(rng.integers(0, 40, 600))] + rng.normal(size=(600, 6))
    shown = draw(ClusterForest(40, n_estimators=20, random_state=0).fit(X))
    shown.figure.canvas.draw()
    for written in (shown.get_xticklabels(), shown.get_yticklabels(), shown.texts):
        boxes = [text.get_window_extent() for text in written if text.get_text()]
        assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    assert "0" in {text.get_text() for text in [*shown.get_yticklabels(), *shown.texts]}


def test_axes_say_how_many_rows_are_shown(forest):
    for draw in (plots.consensus_heatmap, plots.item_consensus, plots.spectral_embedding):
        shown = draw(forest, max_rows=30)
        said = shown.get_xlabel() + shown.get_ylabel() + shown.get_title()
        assert "30 of 150 rows" in said, draw.__name__
    assert plots.consensus_heatmap(forest, max_rows=30).images[0].get_array().shape == (30, 30)
    assert "of 20 of 150 rows" in plots.consensus_cdf(forest, max_rows=20).get_ylabel()
