"""How often rows are together, and how surely each belongs to its cluster."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.linalg

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray
from clusterforests._utils.devices import in_memory
from clusterforests._utils.random import representative_rows
from clusterforests.estimator import ClusterForest
from clusterforests.inspection import memberships
from clusterforests.inspection.memberships import nearest_clusters, own_membership, share_range
from clusterforests.plots.style import (
    MAX_LEGEND,
    SHARES,
    axes_for,
    block_image,
    check_drawing,
    cluster_color,
    cluster_marker,
    ink,
    label_blocks,
    legend_below,
    paper,
    plain,
    some_of,
)

# Which rows are drawn, and in which order.


class OrderedRows(NamedTuple):
    """Rows by cluster, the surest first within each, and how many of them each cluster has."""

    rows: IndexArray
    sizes: IndexArray


def drawn_labels(forest: Any) -> IntArray:
    """Return the cluster of each row; an outlier is drawn with the one in which its membership is highest."""
    labels = in_memory(forest.labels_)
    return labels if labels.min() >= 0 else nearest_clusters(labels, in_memory(forest.memberships_))


def rows_to_draw(labels: IntArray, max_rows: int) -> IndexArray:
    """Choose about max_rows rows: the same share of every cluster, but at least one row of each."""
    count = len(np.unique(labels))
    if count > max_rows:
        raise ValueError(f"max_rows={max_rows} is less than the number of clusters, {count}. Raise it.")
    return representative_rows(labels, max_rows, 1)


def surest_first(forest: Any, max_rows: int) -> OrderedRows:
    """Order the rows to draw. How sure a row is, is judged by the rows drawn."""
    everyone = drawn_labels(forest)
    rows = rows_to_draw(everyone, max_rows)
    labels = everyone[rows]
    partitions = np.ascontiguousarray(in_memory(forest.partitions_[:, rows]), dtype=np.int32)
    sure = own_membership(memberships(partitions, labels), labels)
    order = np.lexsort((-sure, labels))
    return OrderedRows(rows[order], np.bincount(labels))


if TYPE_CHECKING:
    from matplotlib.axes import Axes


GAP = 0.015  # between the bars of two clusters, as a share of the rows
NUMBER = np.array([0.06, 0.045])  # width and height of a number, as shares of the picture
SMALL_SHARES = 0.65  # exponent of the colour scale: trees with many groups give small shares, which must be visible
MANY_ROWS = 300  # with more, dots are smaller


def consensus_heatmap(
    forest: ClusterForest, *, max_rows: int = 1000, colorbar: bool = True, ax: "Axes | None" = None
) -> "Axes":
    """Draw how often two rows are together: the shares P, rows ordered by cluster and the surest first within each.

    Colours range from the lowest to the highest share of two different rows that are drawn.

    Parameters
    ----------
    forest : ClusterForest
        Fitted.
    max_rows : int, default=1000
        If there are more rows, a fixed sample of this many is drawn: the same share of every cluster.
    colorbar : bool, default=True
        Whether to add a colour bar beside the Axes.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_drawing(forest, ax, max_rows=max_rows)
    rows, sizes = surest_first(forest, max_rows)
    P = in_memory(forest.coassociation(rows, rows))
    ax = axes_for(ax, 6.4, 5.2)
    from matplotlib.colors import PowerNorm

    low, high = share_range(P)
    norm = PowerNorm(SMALL_SHARES, low, high, clip=True)
    image = block_image(ax, P, sizes, [str(c) for c in range(len(sizes))], "white", cmap=SHARES, norm=norm)
    text = f"cluster ({some_of(len(rows), forest.partitions_.shape[1], 'rows')})"
    ax.set(xlabel=text, ylabel="cluster", title="How often two rows are together")
    ax.spines[:].set_visible(False)
    if colorbar:
        text = f"share of trees, from {low:.2f} to {high:.2f}"
        bar = ax.figure.colorbar(image, ax=ax, label=text, shrink=0.85)
        bar.outline.set_visible(False)
    return ax


def item_consensus(forest: ClusterForest, *, max_rows: int = 1000, ax: "Axes | None" = None) -> "Axes":
    """Draw how surely each row belongs: a bar per row, as long as its `item_consensus_`, longest first in each cluster.

    Parameters
    ----------
    forest : ClusterForest
        Fitted.
    max_rows : int, default=1000
        If there are more rows, a fixed sample of this many is drawn: the same share of every cluster.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_drawing(forest, ax, max_rows=max_rows)
    everyone = drawn_labels(forest)
    rows = rows_to_draw(everyone, max_rows)
    labels, sure = everyone[rows], in_memory(forest.item_consensus_)[rows]
    means = in_memory(forest.cluster_consensus_)
    sizes = np.bincount(labels)
    gap = GAP * len(rows)
    ax = plain(axes_for(ax, 6.4, 5.2))
    top, middles = 0.0, []
    for cluster, size in enumerate(sizes):
        bars = np.sort(sure[labels == cluster])[::-1]
        edges = top + np.arange(size + 1)
        ax.stairs(bars, edges, orientation="horizontal", fill=True, color=cluster_color(cluster))
        ax.vlines(
            means[cluster],
            top,
            top + size,
            color=ink(ax),
            linewidth=1.5,
            linestyle="--",
            label="_" if cluster else "mean of the cluster",
        )
        middles.append(top + size / 2)
        top += size + gap
    label_blocks(ax, middles, top, [str(c) for c in range(len(sizes))], sides="y")
    ax.set(xlim=(0, 1), ylim=(top - gap, 0), xlabel="membership in the own cluster")
    ax.set(
        ylabel=f"cluster ({some_of(len(rows), forest.partitions_.shape[1], 'rows')})",
        title="How surely each row belongs",
    )
    ax.spines["left"].set_visible(False)
    legend_below(ax)
    return ax


def spectral_embedding(forest: ClusterForest, *, max_rows: int = 1000, ax: "Axes | None" = None) -> "Axes":
    """Draw the rows in the plane of the second and third eigenvectors of the graph of shares; the first is constant.

    Rows that are often together are close together. The weight of a link is the share of trees in which two of the rows
    drawn are together.

    Parameters
    ----------
    forest : ClusterForest
        Fitted.
    max_rows : int, default=1000
        If there are more rows, a fixed sample of this many is drawn: the same share of every cluster.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_drawing(forest, ax, max_rows=max_rows)
    everyone = drawn_labels(forest)
    rows = rows_to_draw(everyone, max_rows)
    labels, points = everyone[rows], _coordinates(in_memory(forest.coassociation(rows, rows)))
    ax = plain(axes_for(ax, 6.4, 5.2))
    size = 30 if len(rows) <= MANY_ROWS else 14
    for cluster in range(forest.n_clusters_):
        x, y = points[labels == cluster].T
        ax.scatter(
            x,
            y,
            s=size,
            color=cluster_color(cluster),
            marker=cluster_marker(cluster),
            linewidths=0.4,
            edgecolors=[paper(ax)],
            alpha=0.85,
            label=str(cluster),
        )
    if forest.n_clusters_ > MAX_LEGEND:
        _number(ax, np.array([np.median(points[labels == c], axis=0) for c in range(forest.n_clusters_)]))
    if 1 < forest.n_clusters_ <= MAX_LEGEND:
        ax.legend(title="cluster", loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    ax.set(xlabel="second eigenvector", ylabel="third eigenvector", xticks=[], yticks=[])
    ax.set_title(f"Graph of shares of {some_of(len(rows), forest.partitions_.shape[1], 'rows')}")
    return ax


def _number(ax: "Axes", middles: FloatArray) -> None:
    """Write each cluster's number beside its middle; where numbers would overlap, only the largest cluster's."""
    span = np.maximum([ax.dataLim.width, ax.dataLim.height], np.finfo(float).tiny)
    numbered: list[int] = []
    for cluster, middle in enumerate(middles):
        apart = np.abs(middles[numbered] - middle) >= NUMBER * span
        if apart.any(axis=1).all():
            point = (float(middle[0]), float(middle[1]))
            ax.annotate(str(cluster), point, xytext=(4, 4), textcoords="offset points", fontsize=9, color=ink(ax))
            numbered.append(cluster)


def _coordinates(P: FloatArray) -> FloatArray:
    """Return the entries of the second and third eigenvectors of D^-1 P; 0 where there are fewer than three."""
    degrees, found = np.sqrt(P.sum(axis=1)), np.zeros((len(P), 2))
    count = min(2, len(P) - 1)
    if count:
        # The first eigenvector, of eigenvalue 1, is taken out: that of clusters without a link has the same eigenvalue.
        first = degrees / np.linalg.norm(degrees)
        symmetric = P / np.outer(degrees, degrees) - np.outer(first, first)
        vectors = scipy.linalg.eigh(symmetric, subset_by_index=[len(P) - count, len(P) - 1])[1][:, ::-1]
        found[:, :count] = vectors / degrees[:, None]
    # An eigenvector's sign is arbitrary.
    found *= np.where(found[np.abs(found).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    return found
