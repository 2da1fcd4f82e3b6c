"""How the clusters change with their number K."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clusterforests import inspection as diagnostics
from clusterforests._utils.arrays import IntArray
from clusterforests.estimator import ClusterForest
from clusterforests.forest_view import ForestView, view_of
from clusterforests.inspection.cluster_tree import NUMBERS, follow, shared_rows
from clusterforests.inspection.stability import MAX_ROWS
from clusterforests.plots.consensus import rows_to_draw
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
from clusterforests.predictor import FittedForest, cut_for_each

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LINES = ("-", "--", "-.", ":")  # told apart without colour
MAX_CURVES = 12  # in a legend


class _Curve(NamedTuple):
    n_clusters: int
    distribution: diagnostics.ConsensusCdf


def consensus_cdf(
    forests: ClusterForest | Sequence[ClusterForest],
    n_clusters: Sequence[int] | None = None,
    *,
    max_rows: int = MAX_ROWS,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the distribution of the consensus M over pairs of rows (Monti et al. 2003), a curve for each K.

    M is the share of half forests that put two rows into the same cluster. If the halves find the same clusters, the
    curve is flat between 0 and 1. The legend gives the share of pairs between 0.1 and 0.9 (PAC).

    Parameters
    ----------
    forests : ClusterForest or sequence of ClusterForest
        One fitted forest, or forests of the same rows, each with its number of clusters K.
    n_clusters : sequence of int or None, default=None
        For one forest, the values of K that it is cut into, such as range(2, 9). None means its own K alone. Those
        beyond the groups that its trees, or half of them, tell apart are left out.
    max_rows : int, default=500
        If there are more rows, a fixed random sample of this many is used.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_drawing(ax, max_rows=max_rows)
    given = _by_number(forests, n_clusters)
    curves = _distributions(given, max_rows, all_needed=not _is_one(forests))
    ax = plain(axes_for(ax, 6.4, 4.2))
    for i, (number, curve) in enumerate(curves):
        label = f"K = {number}, PAC {diagnostics.pac(curve):.2f}"
        style = LINES[(i + i // len(CLUSTER_COLORS)) % len(LINES)]
        ax.step(curve.points, curve.cdf, style, where="post", color=cluster_color(i), linewidth=2, label=label)
    ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="share of half forests that put two rows together")
    total = len(given[0].labels)
    ax.set_ylabel(f"share of the pairs of {some_of(curves[0].distribution.n_rows, total, 'rows')}")
    ax.set_title("Consensus distribution")
    if len(curves) <= MAX_CURVES:
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return ax


def delta_area(
    forests: ClusterForest | Sequence[ClusterForest],
    n_clusters: Sequence[int] = NUMBERS,
    *,
    max_rows: int = MAX_ROWS,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw how much the area under the consensus distribution grows with the number of clusters (Monti et al. 2003).

    Parameters
    ----------
    forests : ClusterForest or sequence of ClusterForest
        One fitted forest, or forests of the same rows for consecutive values of K.
    n_clusters : sequence of int, default=range(2, 9)
        For one forest, the consecutive values of K that it is cut into. Those beyond the groups that its trees, or half
        of them, tell apart are left out.
    max_rows : int, default=500
        If there are more rows, a fixed random sample of this many is used.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_drawing(ax, max_rows=max_rows)
    given = _by_number(forests, n_clusters)
    _check_consecutive([view.n_clusters for view in given], one=_is_one(forests))
    curves = _distributions(given, max_rows, all_needed=not _is_one(forests))
    numbers = np.array([curve.n_clusters for curve in curves])
    growth = diagnostics.delta_area([curve.distribution for curve in curves])
    ax = plain(axes_for(ax, 6.4, 4.2))
    ax.axhline(0, color=GREY, linewidth=0.8)
    ax.plot(numbers, growth, "o-", color=BLUE, linewidth=2, markersize=7, clip_on=False)
    chosen = forests.n_clusters_ if _is_one(forests) and forests.n_clusters_evidence_ else None
    if chosen is not None and chosen in numbers:
        ax.axvline(chosen, color=ink(ax), linewidth=1.2, linestyle="--", label=f"chosen: {chosen}")
        ax.legend(loc="upper right", frameon=False)
    ax.set(xlabel="number of clusters K", ylabel="relative growth of the area (first: the area)")
    ax.set(title="Delta area", xticks=numbers, xlim=(numbers[0] - 0.4, numbers[-1] + 0.4))
    return ax


def tracking(
    forests: ClusterForest | Sequence[ClusterForest],
    n_clusters: Sequence[int] = NUMBERS,
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
        One fitted forest, which is cut into every K; or forests of the same rows, each with its K.
    n_clusters : sequence of int, default=range(2, 9)
        The values of K, for one forest. Those beyond the groups that its trees tell apart are left out.
    max_rows : int, default=1000
        If there are more rows, a fixed sample of this many is drawn.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_drawing(ax, max_rows=max_rows)
    given = _by_number(forests, n_clusters)
    total = len(given[0].labels)
    if any(len(view.labels) != total for view in given):
        raise ValueError("forests were fitted on different numbers of rows. Fit them on the same table.")
    rows = rows_to_draw(given[0].labels, max_rows)
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
    numbers = follow([shared_rows(a, b) for a, b in pairwise(labels)], int(labels[0].max()) + 1)
    return np.array([names[found] for names, found in zip(numbers, labels, strict=True)], dtype=np.int32)


def _is_one(source: Any) -> bool:
    return isinstance(source, FittedForest)


def _by_number(forests: Any, n_clusters: Sequence[int] | None) -> list[ForestView]:
    """Cut one forest into the given numbers of clusters, if any, or order several by their own."""
    if _is_one(forests):
        given = [forests] if n_clusters is None else cut_for_each(forests, n_clusters)
    else:
        given = list(forests)
    if not given:
        raise ValueError("forests is empty. Pass at least one fitted forest.")
    return sorted(map(view_of, given), key=lambda view: view.n_clusters)


def _check_consecutive(numbers: Sequence[int], *, one: bool) -> None:
    if (np.diff(numbers) != 1).any() or (len(numbers) < 2 and not one):
        what = "n_clusters has" if one else "there are forests of"
        raise ValueError(
            f"{what} {', '.join(map(str, numbers))} clusters. Pass one forest, or forests with consecutive numbers of "
            "clusters."
        )


def _distributions(given: Sequence[ForestView], max_rows: int, *, all_needed: bool) -> list[_Curve]:
    """Compute the consensus distributions: all, or those of the first run of K that half forests can be cut into."""
    curves: list[_Curve] = []
    problem = None
    for view in given:
        try:
            curves.append(_Curve(view.n_clusters, diagnostics.consensus_cdf(view.forest, max_rows=max_rows)))
        except ValueError as error:
            if all_needed:
                raise
            if curves:
                break
            problem = problem or error
    if problem is not None and not curves:
        raise problem
    return curves
