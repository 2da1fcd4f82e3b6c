"""How the clusters change with their number K."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from clusterforests import diagnostics
from clusterforests._base.parameters import check_parameters, several
from clusterforests._base.typing import IndexArray, IntArray
from clusterforests.diagnostics.half_forests import MAX_ROWS
from clusterforests.estimator import ClusterForest
from clusterforests.forest_view import ForestView, view_of
from clusterforests.n_clusters.evidence import NClustersEvidence
from clusterforests.plots.drawn_rows import rows_to_draw
from clusterforests.plots.style import (
    BLUE,
    CLUSTER_COLORS,
    GREY,
    axes_for,
    check_drawing,
    cluster_color,
    ink,
    plain,
    some_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LINES = ("-", "--", "-.", ":")  # told apart without colour
MAX_CURVES = 12  # in a legend


def consensus_cdf(
    forests: ClusterForest | Sequence[ClusterForest], *, max_rows: int = MAX_ROWS, ax: "Axes | None" = None
) -> "Axes":
    """Draw the distribution of the consensus M over pairs of rows (Monti et al. 2003), a curve for each forest.

    M is the share of half forests that put two rows into the same cluster. If the halves find the same clusters, the
    curve is flat between 0 and 1. The legend gives the share of pairs between 0.1 and 0.9 (PAC).

    Parameters
    ----------
    forests : ClusterForest or sequence of ClusterForest
        Fitted, for instance with several numbers of clusters.
    max_rows : int, default=500
        If there are more rows, a fixed random sample of this many is used.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    given = _by_number(forests, ax, max_rows=max_rows)
    curves = [diagnostics.consensus_cdf(view.forest, max_rows=max_rows) for view in given]
    ax = plain(axes_for(ax, 6.4, 4.2))
    for i, (view, curve) in enumerate(zip(given, curves, strict=True)):
        label = f"K = {view.n_clusters}, PAC {diagnostics.pac(curve):.2f}"
        style = LINES[(i + i // len(CLUSTER_COLORS)) % len(LINES)]
        ax.step(curve.points, curve.cdf, style, where="post", color=cluster_color(i), linewidth=2, label=label)
    ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="share of half forests that put two rows together")
    total = len(given[0].labels)
    ax.set_ylabel(f"share of the pairs of {some_of(curves[0].n_rows, total, 'rows')}")
    ax.set_title("Consensus distribution")
    if len(given) <= MAX_CURVES:
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return ax


def delta_area(
    source: ClusterForest | NClustersEvidence | Sequence[ClusterForest],
    *,
    max_rows: int = MAX_ROWS,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw how much the area under the consensus distribution grows with the number of clusters (Monti et al. 2003).

    Parameters
    ----------
    source : ClusterForest, NClustersEvidence or sequence of ClusterForest
        A forest that chose its number of clusters, or its `n_clusters_evidence_`; or forests fitted for consecutive
        numbers of clusters.
    max_rows : int, default=500
        If forests of more rows are given, a fixed random sample of this many is used.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    chosen = None
    evidence: NClustersEvidence | None = getattr(source, "n_clusters_evidence_", None)
    if isinstance(source, NClustersEvidence):
        evidence = source
    if evidence is not None:
        check_drawing(ax, max_rows=max_rows)
        numbers, growth, chosen = np.array(evidence.candidates), evidence.evidence["delta_area"], evidence.n_clusters
    else:
        given = _by_number(source, ax, max_rows=max_rows)
        numbers = np.array([view.n_clusters for view in given])
        if len(given) < 2 or (np.diff(numbers) != 1).any():
            raise ValueError(
                f"source has forests of {', '.join(map(str, numbers))} clusters. Pass forests with consecutive numbers "
                "of clusters, or one that chose its number, such as ClusterForest('auto')."
            )
        growth = diagnostics.delta_area([diagnostics.consensus_cdf(view.forest, max_rows=max_rows) for view in given])
    known = np.isfinite(growth)
    ax = plain(axes_for(ax, 6.4, 4.2))
    ax.axhline(0, color=GREY, linewidth=0.8)
    ax.plot(numbers[known], growth[known], "o-", color=BLUE, linewidth=2, markersize=7, clip_on=False)
    if chosen is not None:
        text = f"chosen: {chosen}"
        ax.axvline(chosen, color=ink(ax), linewidth=1.2, linestyle="--", label=text)
        ax.legend(loc="upper right", frameon=False)
    ax.set(xlabel="number of clusters K", ylabel="relative growth of the area (first: the area)")
    ax.set(title="Delta area", xticks=numbers, xlim=(numbers[0] - 0.4, numbers[-1] + 0.4))
    if not known.any():
        ax.text(0.5, 0.6, "too few rows to tell", transform=ax.transAxes, ha="center", color=ink(ax))
    return ax


def tracking(
    forests: ClusterForest | Sequence[ClusterForest],
    n_clusters: Sequence[int] = range(2, 9),
    *,
    max_rows: int = 1000,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw which cluster each row is in, for every number of clusters K.

    There is a line for each K. Rows are ordered by their clusters at the smallest K, then by those at the next, and so
    on. A cluster takes the colour of the cluster in the line above that it shares most rows with, so that new clusters
    have new colours.

    Parameters
    ----------
    forests : ClusterForest or sequence of ClusterForest
        One fitted forest, whose trees are combined again for every K; or forests of the same rows, each with its K.
    n_clusters : sequence of int, default=range(2, 9)
        The values of K, for one forest. Those beyond the groups that its trees tell apart are left out.
    max_rows : int, default=1000
        If there are more rows, a fixed sample of this many is drawn; one forest is combined again for these.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    given = _by_number(forests, ax, max_rows=max_rows)
    check_parameters({"n_clusters": n_clusters}, {"n_clusters": several(1)})
    total = len(given[0].labels)
    if any(len(view.labels) != total for view in given):
        raise ValueError("forests were fitted on different numbers of rows. Fit them on the same table.")
    rows = rows_to_draw(given[0].labels, max_rows)
    if isinstance(forests, ClusterForest):
        numbers, labels = _cut_for_each(given[0], rows, n_clusters)
    else:
        numbers, labels = [view.n_clusters for view in given], [view.labels[rows] for view in given]
    colors = followed(labels)
    shown = colors[:, np.lexsort(np.array(labels)[::-1])]
    from matplotlib.colors import ListedColormap

    ax = axes_for(ax, 6.4, 1.4 + 0.4 * min(len(numbers), 20))
    palette = ListedColormap([cluster_color(c) for c in range(int(colors.max()) + 1)])
    ax.imshow(
        shown, cmap=palette, vmin=-0.5, vmax=colors.max() + 0.5, aspect="auto", interpolation="nearest", origin="upper"
    )
    for border in range(1, len(numbers)):
        ax.axhline(border - 0.5, color=ax.get_facecolor(), linewidth=2.5)
    ax.set_yticks(np.arange(len(numbers)), [str(k) for k in numbers])
    ax.set(ylabel="number of clusters K", xticks=[], title="Which cluster each row is in")
    ax.set_xlabel(f"{some_of(len(rows), total, 'rows')}, by cluster")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


def followed(labels: Sequence[IntArray]) -> IntArray:
    """Number the colours, (n_labelings, n_rows): a cluster keeps the number of the previous one it overlaps most."""
    colors = np.empty((len(labels), len(labels[0])), dtype=np.int32)
    colors[0] = labels[0]
    for line, found in enumerate(labels[1:], start=1):
        before = colors[line - 1]
        overlap = np.zeros((int(found.max()) + 1, int(before.max()) + 1))
        np.add.at(overlap, (found, before), 1)
        new, old = linear_sum_assignment(overlap, maximize=True)
        names = np.full(len(overlap), -1)
        kept = overlap[new, old] > 0
        names[new[kept]] = old[kept]
        fresh = np.setdiff1d(np.arange(2 * len(overlap) + overlap.shape[1]), names[names >= 0])
        names[names < 0] = fresh[: int((names < 0).sum())]
        colors[line] = names[found]
    return colors


def _cut_for_each(view: ForestView, rows: IndexArray, n_clusters: Sequence[int]) -> tuple[list[int], list[IntArray]]:
    partitions = view.partitions(rows)
    apart = np.unique(partitions, axis=1).shape[1]
    numbers = sorted({int(k) for k in n_clusters if k <= apart})
    if not numbers:
        raise ValueError(f"n_clusters={n_clusters!r}: the trees tell only {apart} groups of rows apart. Lower it.")
    ones = np.zeros(len(rows), dtype=np.int32)
    return numbers, [ones if k == 1 else view.cut(partitions, k) for k in numbers]


def _by_number(forests: Any, ax: Any, **counts: Any) -> list[ForestView]:
    """Check one forest or several, and order them by their numbers of clusters."""
    check_drawing(ax, **counts)
    given = [forests] if isinstance(forests, ClusterForest) else list(forests)
    if not given:
        raise ValueError("forests is empty. Pass at least one fitted forest.")
    return sorted(map(view_of, given), key=lambda view: view.n_clusters)
