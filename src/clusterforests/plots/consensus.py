"""How often rows land together, and how surely each belongs."""

from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from clusterforests._base.typing import FloatArray, IndexArray
from clusterforests.backends import CpuBackend
from clusterforests.combining.affinity import affinity, collapse, sharpness_for
from clusterforests.combining.graph import Graph
from clusterforests.estimator import ClusterForest
from clusterforests.plots.rows import surest_first, thin
from clusterforests.plots.style import (
    MOST_LISTED,
    SHARES,
    axes_for,
    block_image,
    check_request,
    cluster_color,
    cluster_marker,
    ink,
    label_blocks,
    legend_below,
    paper,
    plain,
    some_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


GAP = 0.015  # of the rows, between the bars of two clusters
NUMBER = np.array([0.06, 0.045])  # width and height of a number, of what is drawn
MANY_ROWS = 300  # dots get smaller


def consensus_heatmap(
    forest: ClusterForest, *, max_rows: int = 1000, colorbar: bool = True, ax: "Axes | None" = None
) -> "Axes":
    """How often two rows land together: the shares P, rows ordered by cluster, within a cluster the surest first.

    Parameters
    ----------
    forest : ClusterForest
        Fitted.
    max_rows : int, default=1000
        Of more rows a fixed sample of this many is drawn, as large a share of every cluster.
    colorbar : bool, default=True
        Whether to add one beside the Axes.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_request(ax, forest, max_rows=max_rows)
    rows, sizes = surest_first(forest, max_rows)
    P = forest.coassociation(rows, rows)
    ax = axes_for(ax, 6.4, 5.2)
    image = block_image(ax, P, sizes, [str(c) for c in range(len(sizes))], "white", cmap=SHARES, vmin=0, vmax=1)
    text = f"cluster ({some_of(len(rows), len(forest.labels_), 'rows')})"
    ax.set(xlabel=text, ylabel="cluster", title="How often two rows land together")
    ax.spines[:].set_visible(False)
    if colorbar:
        bar = ax.figure.colorbar(image, ax=ax, label="share of trees", shrink=0.85)
        bar.outline.set_visible(False)
    return ax


def item_consensus(forest: ClusterForest, *, max_rows: int = 1000, ax: "Axes | None" = None) -> "Axes":
    """How surely each row belongs: a bar for each row as long as its `item_consensus_`, by cluster, longest first.

    Parameters
    ----------
    forest : ClusterForest
        Fitted.
    max_rows : int, default=1000
        Of more rows a fixed sample of this many is drawn, as large a share of every cluster.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_request(ax, forest, max_rows=max_rows)
    rows = thin(forest.labels_, max_rows)
    labels, sure, means = forest.labels_[rows], forest.item_consensus_[rows], forest.cluster_consensus_
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
            label="_" if cluster else "mean share of trees of two rows of the cluster",
        )
        middles.append(top + size / 2)
        top += size + gap
    label_blocks(ax, middles, top, [str(c) for c in range(len(sizes))], sides="y")
    ax.set(xlim=(0, 1), ylim=(top - gap, 0), xlabel="share of trees that a row has with its cluster, on average")
    ax.set(ylabel=f"cluster ({some_of(len(rows), len(forest.labels_), 'rows')})", title="How surely each row belongs")
    ax.spines["left"].set_visible(False)
    legend_below(ax)
    return ax


def spectral_embedding(forest: ClusterForest, *, max_rows: int = 1000, ax: "Axes | None" = None) -> "Axes":
    """Rows in the plane: the two eigenvectors of the consensus graph after the first, which says nothing.

    Rows that are connected alike are close together. The graph is that of the rows drawn.

    Parameters
    ----------
    forest : ClusterForest
        Fitted.
    max_rows : int, default=1000
        Of more rows a fixed sample of this many is drawn, as large a share of every cluster.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_request(ax, forest, max_rows=max_rows)
    rows = thin(forest.labels_, max_rows)
    labels, places = forest.labels_[rows], _coordinates(forest, rows)
    ax = plain(axes_for(ax, 6.4, 5.2))
    size = 30 if len(rows) <= MANY_ROWS else 14
    for cluster in range(forest.n_clusters_):
        x, y = places[labels == cluster].T
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
    if forest.n_clusters_ > MOST_LISTED:
        _number(ax, np.array([np.median(places[labels == c], axis=0) for c in range(forest.n_clusters_)]))
    if 1 < forest.n_clusters_ <= MOST_LISTED:
        ax.legend(title="cluster", loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    ax.set(xlabel="second eigenvector", ylabel="third eigenvector", xticks=[], yticks=[])
    ax.set_title(f"Consensus graph of {some_of(len(rows), len(forest.labels_), 'rows')}")
    return ax


def _number(ax: "Axes", middles: FloatArray) -> None:
    """The number of each cluster beside its middle; of those that would lie on each other the largest cluster's."""
    span = np.maximum([ax.dataLim.width, ax.dataLim.height], np.finfo(float).tiny)
    numbered: list[int] = []
    for cluster, middle in enumerate(middles):
        apart = np.abs(middles[numbered] - middle) >= NUMBER * span
        if apart.any(axis=1).all():
            place = (float(middle[0]), float(middle[1]))
            ax.annotate(str(cluster), place, xytext=(4, 4), textcoords="offset points", fontsize=9, color=ink(ax))
            numbered.append(cluster)


def _coordinates(forest: ClusterForest, rows: IndexArray) -> FloatArray:
    """Entries of the eigenvectors of D^-1 W, whose first is constant; 0 where there are fewer than three."""
    backend = CpuBackend(forest.n_jobs)
    signatures = collapse(np.ascontiguousarray(forest.partitions_[:, rows], dtype=np.int32))
    sharpness = sharpness_for(forest.sharpness, len(forest.partitions_))
    W = affinity(backend, signatures, forest.selection_["threshold"].value, sharpness)
    graph = Graph(backend, W, signatures.weights)
    nodes = len(signatures)
    found = np.zeros((nodes, 2))
    count = min(2, nodes - 1)
    if count:
        vectors = scipy.linalg.eigh(graph.deflated(), subset_by_index=[nodes - count, nodes - 1])[1][:, ::-1]
        found[:, :count] = vectors / np.sqrt(graph.weights * graph.degrees)[:, None]
    # An eigenvector's sign is arbitrary.
    found *= np.where(found[np.abs(found).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    return found[signatures.inverse]
