"""Pictures over the number of clusters K."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from clusterforests import diagnostics
from clusterforests._base.parameters import check_parameters, several
from clusterforests._base.typing import IndexArray, IntArray
from clusterforests.diagnostics.distribution import sample_rows
from clusterforests.estimator import ClusterForest
from clusterforests.n_clusters.search import NClustersEvidence
from clusterforests.plots.rows import thin
from clusterforests.plots.style import (
    BLUE,
    CLUSTERS,
    GREY,
    axes_for,
    check_request,
    cluster_color,
    ink,
    plain,
    some_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LINES = ("-", "--", "-.", ":")  # a second sign beside the colour
MOST_CURVES = 12  # in a legend


def consensus_cdf(
    forests: ClusterForest | Sequence[ClusterForest], *, max_rows: int = 2000, ax: "Axes | None" = None
) -> "Axes":
    """The distribution of P over pairs of rows (Monti et al. 2003), a curve for each forest.

    Where nearly all pairs are together in nearly all trees or in nearly none, it is flat in between. The legend has the
    share of pairs between 0.1 and 0.9 (PAC).

    Parameters
    ----------
    forests : ClusterForest or sequence of ClusterForest
        Fitted, such as for several numbers of clusters.
    max_rows : int, default=2000
        Of more rows a fixed random sample of this many is used.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    given = _by_number(forests, ax, max_rows=max_rows)
    curves = [_distribution(forest, max_rows) for forest in given]
    ax = plain(axes_for(ax, 6.4, 4.2))
    for i, (forest, curve) in enumerate(zip(given, curves, strict=True)):
        label = f"K = {forest.n_clusters_}, PAC {diagnostics.pac(curve):.2f}"
        style = LINES[(i + i // len(CLUSTERS)) % len(LINES)]
        ax.step(curve.points, curve.cdf, style, where="post", color=cluster_color(i), linewidth=2, label=label)
    ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="share of trees in which two rows are together")
    total = len(given[0].labels_)
    ax.set_ylabel(f"share of the pairs of {some_of(curves[0].n_rows, total, 'rows')}")
    ax.set_title("Consensus distribution")
    if len(given) <= MOST_CURVES:
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
    return ax


def delta_area(
    source: ClusterForest | NClustersEvidence | Sequence[ClusterForest],
    *,
    max_rows: int = 2000,
    ax: "Axes | None" = None,
) -> "Axes":
    """How much the area under the consensus distribution grows with the number of clusters (Monti et al. 2003).

    Parameters
    ----------
    source : ClusterForest, NClustersEvidence or sequence of ClusterForest
        A forest that chose its number of clusters, or its `n_clusters_evidence_`; or forests fitted for consecutive
        numbers of clusters.
    max_rows : int, default=2000
        Of more rows a fixed random sample of this many is used, where forests are given.
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
        check_request(ax, max_rows=max_rows)
        numbers, growth, chosen = np.array(evidence.candidates), evidence.evidence["delta_area"], evidence.n_clusters
    else:
        given = _by_number(source, ax, max_rows=max_rows)
        numbers = np.array([forest.n_clusters_ for forest in given])
        if len(given) < 2 or (np.diff(numbers) != 1).any():
            raise ValueError(
                f"source has forests of {', '.join(map(str, numbers))} clusters. Give forests fitted for consecutive "
                "numbers of clusters, or one that chose it, such as ClusterForest('auto')."
            )
        growth = diagnostics.delta_area([diagnostics.cdf_area(_distribution(f, max_rows)) for f in given])
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
    """Which cluster each row is in for every number of clusters K.

    A line for each K. Rows are ordered by their clusters at the smallest K, among equals by those at the next, and so
    on; a cluster has the colour of that one of the line above with which it shares most rows, so that new clusters
    have new colours.

    Parameters
    ----------
    forests : ClusterForest or sequence of ClusterForest
        One fitted forest, whose trees are combined anew for every K; or forests of the same rows, each with its K.
    n_clusters : sequence of int, default=range(2, 9)
        The numbers K, for one forest. Those that its trees cannot tell apart are left out.
    max_rows : int, default=1000
        Of more rows a fixed sample of this many is drawn; one forest is combined anew for these.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    given = _by_number(forests, ax, max_rows=max_rows)
    check_parameters({"n_clusters": n_clusters}, {"n_clusters": several(1)})
    total = len(given[0].labels_)
    if any(len(forest.labels_) != total for forest in given):
        raise ValueError("forests were fitted on different numbers of rows. Fit them on the same table.")
    rows = thin(given[0].labels_, max_rows)
    if isinstance(forests, ClusterForest):
        numbers, labels = _cut_for_each(forests, rows, n_clusters)
    else:
        numbers, labels = [f.n_clusters_ for f in given], [f.labels_[rows] for f in given]
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
    ax.set(ylabel="number of clusters K", xticks=[], title="Which cluster rows are in")
    ax.set_xlabel(f"{some_of(len(rows), total, 'rows')}, by cluster")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


def followed(labels: Sequence[IntArray]) -> IntArray:
    """Colour numbers, (n_labelings, n_rows): clusters keep the number of the one before that they overlap most with."""
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


def _cut_for_each(
    forest: ClusterForest, rows: IndexArray, n_clusters: Sequence[int]
) -> tuple[list[int], list[IntArray]]:
    partitions = np.ascontiguousarray(forest.partitions_[:, rows])
    apart = np.unique(partitions, axis=1).shape[1]
    numbers = sorted({int(k) for k in n_clusters if k <= apart})
    if not numbers:
        raise ValueError(f"n_clusters={n_clusters!r}: the trees tell only {apart} groups of rows apart. Lower it.")
    ones = np.zeros(len(rows), dtype=np.int32)
    return numbers, [ones if k == 1 else forest._cut_again(partitions, k) for k in numbers]


def _by_number(forests: Any, ax: Any, **counts: Any) -> list[ClusterForest]:
    """One forest or several, by their numbers of clusters; checked."""
    check_request(ax, **counts)
    given = [forests] if isinstance(forests, ClusterForest) else list(forests)
    if not given:
        raise ValueError("forests is empty. Give one fitted forest or more.")
    for forest in given:
        check_request(ax, forest)
    return sorted(given, key=lambda forest: forest.n_clusters_)


def _distribution(forest: ClusterForest, max_rows: int) -> diagnostics.ConsensusCdf:
    """Of as many rows as are looked at: the labels of all would be checked one by one."""
    rows = sample_rows(len(forest.labels_), max_rows, 0, forest._weights)
    weights = None if forest._weights is None else forest._weights[rows]
    return diagnostics.consensus_cdf(forest.partitions_[:, rows].astype(np.int32), weights=weights, max_rows=max_rows)
