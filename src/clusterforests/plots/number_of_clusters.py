"""How the clusters change with their number K."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray
from clusterforests._utils.validation import check_parameters, either, none, several
from clusterforests.estimator import ClusterForest
from clusterforests.inspection import HalfCuts, pac
from clusterforests.inspection import consensus_cdf as distribution_of
from clusterforests.inspection.cluster_tree import NUMBERS, ClusterTree, Split, follow
from clusterforests.inspection.stability import STABILITY_ROWS
from clusterforests.plots.style import (
    CLUSTER_COLORS,
    as_text,
    axes_for,
    check_drawing,
    cluster_color,
    ink,
    ink_on,
    plain,
    some_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path

GAP, GAPS = 0.02, 0.25  # between two clusters, and at most between all of a level, as shares of all rows
BAR = 0.26  # height of a cluster, as a share of the distance between levels
CHARACTER, MARGIN = 0.018, 0.01  # the share of the width that a character of a label needs, and that beside a label
NAMED = 24  # characters of a feature's name
LINE = 30  # characters beside a level
MOST_SPLITS = 3  # that are described between two levels
MOST_CHILDREN = 4  # that are listed


def cluster_tree(
    forest: ClusterForest,
    X: Any = None,
    n_clusters: Sequence[int] = NUMBERS,
    *,
    names: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw which clusters split from which as their number K grows.

    There is a line for each K. The width of a cluster is its share of the rows (of their weight), and the width of a
    band that of the rows that two clusters have in common. A cluster takes the colour of the cluster in the line above
    that it shares most rows with. With X, each split is named on the right, with the features that drive it.

    Parameters
    ----------
    forest : ClusterForest
        Fitted.
    X : array-like of shape (n_samples, n_features) or None, default=None
        The table that it was fitted on, to name the features whose means differ most between the parts of a cluster.
    n_clusters : sequence of int, default=range(2, 9)
        The values of K. Those beyond the groups that the trees tell apart are left out.
    names : sequence of str or None, default=None
        Names of the features; None means those of the frame that the forest was fitted on.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_drawing(forest, ax)
    tree = forest.cluster_tree(X, n_clusters, names=names)
    levels = len(tree.n_clusters)
    ax = axes_for(ax, 8.0 if X is not None else 6.4, 1.2 + 0.85 * min(levels, 20))
    colors = follow(tree.overlaps, tree.n_clusters[0])
    left = _left_edges(tree, colors)
    low, high = _limits(tree, left)
    for step in range(levels - 1):
        _draw_bands(ax, tree, step, left, colors)
    for level in range(levels):
        texts = [f"{size:,.0f}" if forest.sample_weight_ is None else f"{size:,.3g}" for size in tree.sizes[level]]
        _draw_clusters(ax, level, tree.sizes[level], left[level], colors[level], texts, high - low)
    _name_splits(ax, tree)
    ax.set_yticks(np.arange(levels), [str(k) for k in tree.n_clusters])
    ax.set(xlim=(low, high), ylim=(levels - 1 + BAR, -BAR), xticks=[], ylabel="number of clusters K")
    n = forest.partitions_.shape[1]
    rows = some_of(n, n, "rows" if forest.sample_weight_ is None else "weighted rows")
    ax.set(title="How the clusters split", xlabel=f"{rows}, by cluster")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


def _left_edges(tree: ClusterTree, colors: Sequence[IndexArray]) -> list[FloatArray]:
    """Place the left ends of the clusters of each level: each below the clusters that it comes from."""
    gap = min(GAP, GAPS / max(tree.n_clusters)) * tree.sizes[0].sum()
    left_edges: list[FloatArray] = []
    for level, sizes in enumerate(tree.sizes):
        order = np.arange(len(sizes))
        if level > 0:
            above = left_edges[-1] + tree.sizes[level - 1] / 2
            overlap = tree.overlaps[level - 1]
            origin = above[overlap.argmax(axis=0)]
            mean = above @ overlap / np.maximum(sizes, np.finfo(float).tiny)
            kept = np.isin(colors[level], colors[level - 1])
            order = np.lexsort((~kept, mean, origin))
        width = sizes.sum() + gap * (len(sizes) - 1)
        left = np.empty(len(sizes))
        left[order] = np.cumsum(sizes[order] + gap) - sizes[order] - gap - width / 2
        left_edges.append(left)
    return left_edges


def _limits(tree: ClusterTree, left: Sequence[FloatArray]) -> tuple[float, float]:
    ends = [(left_edges.min(), (left_edges + sizes).max()) for left_edges, sizes in zip(left, tree.sizes, strict=True)]
    return min(a for a, _ in ends), max(b for _, b in ends)


def _draw_bands(
    ax: "Axes", tree: ClusterTree, step: int, left: Sequence[FloatArray], colors: Sequence[IndexArray]
) -> None:
    """Join the clusters of two levels by bands as wide as what they share, in the order of their other ends."""
    from matplotlib.patches import PathPatch

    overlap = tree.overlaps[step]
    start, end = left[step].copy(), left[step + 1].copy()
    for a in np.argsort(left[step]):
        for b in np.argsort(left[step + 1]):
            width = overlap[a, b]
            if width > 0:
                band = _band(start[a], end[b], width, step + BAR / 2, step + 1 - BAR / 2)
                ax.add_patch(
                    PathPatch(band, facecolor=cluster_color(int(colors[step + 1][b])), alpha=0.35, linewidth=0)
                )
                start[a] += width
                end[b] += width


def _band(upper: float, lower: float, width: float, top: float, bottom: float) -> "Path":
    from matplotlib.path import Path

    middle = (top + bottom) / 2
    right = [(upper + width, top), (upper + width, middle), (lower + width, middle), (lower + width, bottom)]
    back = [(lower, bottom), (lower, middle), (upper, middle), (upper, top)]
    curve = [Path.CURVE4] * 3
    return Path([*right, *back, right[0]], [Path.MOVETO, *curve, Path.LINETO, *curve, Path.CLOSEPOLY])


def _draw_clusters(
    ax: "Axes",
    level: int,
    sizes: FloatArray,
    left: FloatArray,
    colors: IndexArray,
    texts: Sequence[str],
    width: float,
) -> None:
    """Draw the clusters of a level, with their numbers, and their sizes, where there is room."""
    shades = [cluster_color(int(c)) for c in colors]
    ax.barh(level, sizes, left=left, height=BAR, color=shades, linewidth=0)
    for cluster, (edge, size) in enumerate(zip(left, sizes, strict=True)):
        room = (size / width - MARGIN) / CHARACTER
        text = next((text for text in (f"{cluster}: {texts[cluster]}", str(cluster)) if len(text) <= room), None)
        if text is not None:
            shown = ax.text(edge + size / 2, level, text, ha="center", va="center", fontsize=8, weight="bold")
            shown.set_color(ink_on(shades[cluster]))


def _name_splits(ax: "Axes", tree: ClusterTree) -> None:
    """Write on the right, between two levels, which clusters split there and by which features."""
    for step in range(len(tree.overlaps)):
        here = [split for split in tree.splits if split.step == step and split.features]
        lines = [line for split in here[:MOST_SPLITS] for line in _described(split)]
        if len(here) > MOST_SPLITS:
            lines.append(f"and {len(here) - MOST_SPLITS} more")
        if lines:
            beside = ax.get_yaxis_transform()
            ax.text(1.02, step + 0.5, "\n".join(lines), transform=beside, va="center", fontsize=8, color=ink(ax))


def _described(split: Split) -> list[str]:
    few = len(split.children) <= MOST_CHILDREN
    children = " + ".join(map(str, split.children)) if few else f"{len(split.children)} clusters"
    by = ", ".join(as_text(feature.name, NAMED) for feature in split.features)
    return [f"{split.parent} → {children}, by", *textwrap.wrap(by, LINE)]


LINES = ("-", "--", "-.", ":")  # told apart without colour
MAX_CURVES = 12  # in a legend


def consensus_cdf(
    forest: ClusterForest,
    n_clusters: Sequence[int] | None = None,
    *,
    max_rows: int = STABILITY_ROWS,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the distribution of the consensus M over pairs of rows (Monti et al. 2003), a curve for each K.

    M is the share of half forests that put two rows into the same cluster. If the halves find the same clusters, the
    curve is flat between 0 and 1. The legend gives the share of pairs between 0.1 and 0.9 (PAC).

    Parameters
    ----------
    forest : ClusterForest
        Fitted.
    n_clusters : sequence of int or None, default=None
        The values of K that it is cut into, such as range(2, 9). None means its own K alone. Those beyond the groups
        that its trees, or half of them, tell apart are left out.
    max_rows : int, default=500
        If there are more rows, a fixed random sample of this many is used.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_drawing(forest, ax, max_rows=max_rows)
    check_parameters({"n_clusters": n_clusters}, {"n_clusters": either(none(), several(1))})
    numbers = [forest.n_clusters_] if n_clusters is None else sorted(set(map(int, n_clusters)))
    curves = _halves(forest, numbers, max_rows)
    ax = plain(axes_for(ax, 6.4, 4.2))
    for i, cuts in enumerate(curves):
        curve = distribution_of(cuts)
        style = LINES[(i + i // len(CLUSTER_COLORS)) % len(LINES)]
        label = f"K = {cuts.n_clusters}, PAC {pac(cuts):.2f}"
        ax.step(curve.points, curve.cdf, style, where="post", color=cluster_color(i), linewidth=2, label=label)
    ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="share of half forests that put two rows together")
    ax.set_ylabel(f"share of the pairs of {some_of(len(curves[0].rows), forest.partitions_.shape[1], 'rows')}")
    ax.set_title("Consensus distribution")
    if len(curves) <= MAX_CURVES:
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return ax


def _halves(forest: Any, numbers: Sequence[int], max_rows: int) -> list[HalfCuts]:
    """Cut random halves of the trees into each number, up to the first that they can no longer be cut into."""
    found: list[HalfCuts] = []
    problem = None
    for number in numbers:
        try:
            cut = forest if number == forest.n_clusters_ else forest.recut(number)
            found.append(cut.half_cuts(max_rows=max_rows))
        except ValueError as error:
            if found:
                break
            problem = problem or error
    if problem is not None and not found:
        raise problem
    return found
