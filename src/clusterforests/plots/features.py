"""Which features the trees use, and which ones the clusters depend on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clusterforests import diagnostics
from clusterforests._base.parameters import check_parameters, integer
from clusterforests._base.typing import FloatArray, IndexArray
from clusterforests.diagnostics.feature_profile import noise_strength, single_feature_kappas
from clusterforests.estimator import ClusterForest
from clusterforests.forest_view import ForestView, view_of
from clusterforests.plots.drawn_rows import rows_to_draw
from clusterforests.plots.named_columns import NamedColumns, feature_names, named_columns
from clusterforests.plots.style import (
    BLUE,
    GREY,
    SHARES,
    axes_for,
    check_drawing,
    ink,
    legend_below,
    name_bars,
    plain,
    some_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


BINS = 20
LEVEL = 0.05  # for all features together
IMPORTANCE_ROWS = 500  # rows that the importance of features is measured on


def feature_use(
    forest: ClusterForest,
    *,
    per_tree: bool = False,
    max_features: int = 20,
    names: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw how much the trees use each feature, in total or tree by tree.

    Parameters
    ----------
    forest : ClusterForest
        Fitted.
    per_tree : bool, default=False
        If False, a bar for each feature: its `feature_importances_`. If True, a column for each tree, with its
        features marked; the colour says how many times, if any tree has a feature more than once.
    max_features : int, default=20
        Number of features drawn, the most used first.
    names : sequence of str or None, default=None
        Names of the features; None means those of the frame that the forest was fitted on.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_drawing(ax, max_features=max_features)
    view = view_of(forest)
    named, use = feature_names(view, names), view.feature_importances
    order = np.argsort(-use, kind="stable")[:max_features]
    ax = axes_for(ax, 7.2, _height(len(order)))
    if per_tree:
        _draw_trees(ax, view, order)
    else:
        plain(ax).barh(np.arange(len(order)), 100 * use[order], color=BLUE, height=0.75)
        ax.axvline(100 / len(use), color=ink(ax), linewidth=1.2, linestyle="--", label="if drawn at random")
        ax.set(xlabel="share of the trees' features, %", title="Which features the trees use")
        legend_below(ax)
        ax.spines["left"].set_visible(False)
    name_bars(ax, [named[j] for j in order])
    ax.set_ylabel(_some_features(len(order), len(named)))
    return ax


def _draw_trees(ax: "Axes", view: ForestView, order: IndexArray) -> None:
    from matplotlib.colors import ListedColormap

    counts = np.array([np.bincount(features, minlength=view.n_features) for features in view.tree_features])
    trees = np.argsort(view.kappas, kind="stable")
    marked = np.ma.masked_equal(counts[trees][:, order].T, 0)
    most = int(counts.max())
    cmap = ListedColormap([BLUE]) if most == 1 else SHARES
    image = ax.imshow(marked, cmap=cmap, aspect="auto", interpolation="nearest", vmin=0.5, vmax=most + 0.5)
    if most > 1:
        ax.figure.colorbar(image, ax=ax, label="times in the tree", shrink=0.85, ticks=range(1, most + 1))
    ax.set(xlabel=f"{some_of(len(trees), len(trees), 'trees')}, lowest kappa first", xticks=[])
    ax.set_title("Features of each tree")


def feature_importance(
    forest: ClusterForest,
    X: Any,
    *,
    max_features: int = 20,
    importance: diagnostics.FeatureImportance | None = None,
    names: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw how well each feature separates clusters that are found without it, compared with chance.

    A bar is the share of the feature's variance that lies between clusters, see `diagnostics.feature_importance`. The
    line across it is the same share with the feature's values shuffled: the mean and two standard deviations to either
    side. Bars show agreement between features: where the others hardly show the clusters, a short bar means little, and
    how much the trees use the feature (`feature_use`) means more.

    Parameters
    ----------
    forest : ClusterForest
        Fitted.
    X : array-like of shape (n_samples, n_features)
        The table it was fitted on. Each level of a category is drawn on its own.
    max_features : int, default=20
        Number of features drawn, those furthest above chance first.
    importance : FeatureImportance or None, default=None
        The result of `diagnostics.feature_importance` for the columns of X, if it is already known.
    names : sequence of str or None, default=None
        Names of the features; None means those of the frame that the forest was fitted on.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_drawing(ax, max_features=max_features)
    view = view_of(forest)
    table = named_columns(view, X, names)
    found = _importance(view, table) if importance is None else importance
    separation = found.separation.features
    if len(separation.share) != len(table.names):
        raise ValueError(f"importance is for {len(separation.share)} columns but X has {len(table.names)}.")
    order = np.lexsort((-separation.share, -separation.excess))[:max_features]
    share, null, spread = (100 * part[order] for part in (separation.share, separation.expected, separation.deviation))
    above = separation.p_value[order] < LEVEL / len(table.names)
    ax = plain(axes_for(ax, 7.2, _height(len(order))))
    for which, color, label in ((above, BLUE, "above chance"), (~above, GREY, "consistent with chance")):
        if which.any():
            ax.barh(np.flatnonzero(which), share[which], color=color, height=0.75, label=label)
    low = np.maximum(null - 2 * spread, 0)
    width = np.array([null - low, 2 * spread])
    marks = {"fmt": "none", "color": ink(ax), "elinewidth": 1.5, "capsize": 4}
    ax.errorbar(null, np.arange(len(order)), xerr=width, label="values shuffled: mean ± 2 s.d.", **marks)
    name_bars(ax, [table.names[j] for j in order])
    ax.set(xlim=(0, max(1.0, ax.get_xlim()[1])), xlabel="variance between clusters found without it, %")
    ax.set_ylabel(_some_features(len(order), len(table.names)))
    ax.set_title(f"What the clusters depend on ({some_of(found.n_rows, len(view.labels), 'rows')})")
    ax.spines["left"].set_visible(False)
    legend_below(ax)
    return ax


def _importance(view: ForestView, table: NamedColumns) -> diagnostics.FeatureImportance:
    """Measure on some rows of every cluster. A tree that has a category has all of its columns."""
    rows = rows_to_draw(view.labels, max(IMPORTANCE_ROWS, view.n_clusters))
    columns = [
        np.concatenate([np.arange(table.first[j], table.first[j] + table.widths[j]) for j in features])
        for features in view.tree_features
    ]
    return diagnostics.feature_importance(
        table.values[rows],
        view.labels[rows],
        view.partitions(rows).astype(np.int32),
        columns,
        combine=view.cut,
        weights=view.weights_of(rows),
        max_rows=max(4, len(rows)),
    )


def feature_profile(
    forest: ClusterForest, X: Any, *, n_clusters: int | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw how strong features are on their own: a histogram of the kappa that K-means reaches on each one alone.

    Parameters
    ----------
    forest : ClusterForest
        Fitted.
    X : array-like of shape (n_samples, n_features)
        The table it was fitted on. Each level of a category counts as a feature here.
    n_clusters : int or None, default=None
        Number of clusters for K-means; None means as many as the forest found, but at least 2. Features with fewer
        distinct values are not drawn.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_drawing(ax)
    view = view_of(forest)
    k = max(2, view.n_clusters) if n_clusters is None else n_clusters
    check_parameters({"n_clusters": k}, {"n_clusters": integer(2)})
    strengths = single_feature_kappas(named_columns(view, X).values, k)
    measured = strengths[np.isfinite(strengths)]
    ax = axes_for(ax, 6.4, 4.2)
    histogram(ax, {"": (measured, BLUE)}, noise_strength(k))
    left_out = len(strengths) - len(measured)
    missing = f"; {left_out:,} with fewer than {k} values not shown" if left_out else ""
    ax.set(xlabel=f"kappa of the feature alone, with {k} clusters (left: strong)", title="Strength of single features")
    ax.set_ylabel(f"features (of {len(strengths):,}{missing})")
    legend_below(ax)
    return ax


def histogram(ax: "Axes", parts: dict[str, tuple[FloatArray, str]], noise: float) -> None:
    """Draw strengths in stacked bars, a colour for each part, and the strength of a feature without clusters."""
    from matplotlib.ticker import MaxNLocator

    strengths = [values for values, _ in parts.values()]
    largest = max([noise, *(float(values.max()) for values in strengths if len(values))])
    plain(ax).hist(
        strengths,
        np.linspace(0, largest * 1.02, BINS + 1).tolist(),
        stacked=True,
        color=[color for _, color in parts.values()],
        label=[label or "_" for label in parts],
        edgecolor=ax.get_facecolor(),
        linewidth=0.5,
    )
    ax.axvline(noise, color=ink(ax), linestyle="--", linewidth=1.5, label="a Gaussian feature without clusters")
    ax.xaxis.set_major_locator(MaxNLocator(6))
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))


def _height(n_bars: int) -> float:
    return 1.6 + 0.24 * min(n_bars, 40)


def _some_features(shown: int, total: int) -> str:
    return some_of(shown, total, "features") if shown < total else ""
