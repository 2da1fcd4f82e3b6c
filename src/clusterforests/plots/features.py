"""Which features are informative, which ones the trees use, and how strong each one is alone."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray
from clusterforests._utils.validation import check_parameters, integer, warn_caller
from clusterforests.estimator import ClusterForest
from clusterforests.forest_view import ForestView, view_of
from clusterforests.inspection.arguments import check_names
from clusterforests.inspection.separation import noise_strength, single_feature_kappas
from clusterforests.plots.style import (
    BLUE,
    SHARES,
    axes_for,
    check_drawing,
    ink,
    legend_below,
    name_bars,
    plain,
    some_of,
)
from clusterforests.rows.fitted_table import take_rows
from clusterforests.table.frames import is_dask

# The fitted table as numbers, with a name for each column.


class NamedColumns(NamedTuple):
    """Columns of numbers, NaN where a cell is missing. A category has a column per level, or one if it has two."""

    values: FloatArray
    names: list[str]


def feature_names(view: ForestView, given: Sequence[Any] | None = None) -> list[str]:
    """Return the given names, or those of the fitted frame, or numbers."""
    return check_names(view.feature_names if given is None else given, view.n_features)


def named_columns(view: ForestView, X: Any, given: Sequence[Any] | None = None) -> NamedColumns:
    """Encode X, which must be the table that the forest was fitted on; warn if it may not quite be."""
    for caveat in view.forest.check_table(X):
        warn_caller(caveat)
    encoded = view.encode(take_rows(X, np.arange(len(view.labels))) if is_dask(X) else X)
    features = feature_names(view, given)
    return NamedColumns(encoded.values, [column.title(features) for column in view.columns()])


if TYPE_CHECKING:
    from matplotlib.axes import Axes


BINS = 20


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
        If False, a bar for each feature: the share of a tree's features that it makes up, averaged over the trees. If
        True, a column for each tree, with its features marked; the colour says how many times, if any tree has one
        more than once.
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
    named, use = feature_names(view, names), view.feature_use()
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
    *,
    max_features: int = 20,
    names: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw how informative each feature is: its `feature_importances_`.

    A bar is the share of the feature's variance that lies between clusters found without it, above what shuffled rows
    give. Features that do not pass the test have no bar, but their p-value.

    Parameters
    ----------
    forest : ClusterForest
        Fitted.
    max_features : int, default=20
        Number of features drawn, the highest importance first, then the lowest p-value.
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
    named, importance, p_values = feature_names(view, names), view.feature_importances, view.feature_pvalues
    order = np.lexsort((p_values, -importance))[:max_features]
    ax = plain(axes_for(ax, 7.2, _height(len(order))))
    ax.barh(np.arange(len(order)), 100 * importance[order], color=BLUE, height=0.75)
    ax.set_xlim(0, max(1.0, ax.get_xlim()[1]))
    for place, j in enumerate(order):
        if importance[j] == 0:
            ax.text(0, place, f"  p = {p_values[j]:.2g}", va="center", color=ink(ax), alpha=0.7, fontsize="small")
    name_bars(ax, [named[j] for j in order])
    ax.set_xlabel("variance between clusters found without it, %")
    ax.set_ylabel(_some_features(len(order), len(named)))
    ax.set_title(f"Informative features: {(importance > 0).sum():,} of {len(named):,}")
    ax.spines["left"].set_visible(False)
    return ax


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


# How the trees grew.

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def kappa_growth(forest: ClusterForest, *, ax: "Axes | None" = None) -> "Axes":
    """Draw kappa during growth: a line for each tree, ending where the tree stopped, and the median of all trees.

    A tree that has stopped enters the median with the kappa it reached.

    Parameters
    ----------
    forest : ClusterForest
        Fitted.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_drawing(ax)
    from matplotlib.ticker import MaxNLocator

    view = view_of(forest)
    path = np.where(np.isinf(view.kappa_path), np.nan, view.kappa_path)
    rounds = np.arange(path.shape[1])
    last = np.isfinite(path).sum(axis=1) - 1
    reached = path.copy()
    for r in rounds[1:]:
        reached[:, r] = np.where(np.isnan(path[:, r]), reached[:, r - 1], path[:, r])
    ax = plain(axes_for(ax, 6.4, 4.2))
    alpha = min(0.6, max(0.15, 30 / len(path)))
    ax.plot(rounds, path.T, color=BLUE, alpha=alpha, linewidth=1, label=["a tree"] + ["_"] * (len(path) - 1))
    ends = path[np.arange(len(path)), np.maximum(last, 0)]
    ax.plot(last, ends, "o", color=BLUE, markersize=3, alpha=min(1.0, 3 * alpha), label="where it stopped")
    ax.plot(rounds, np.nanmedian(reached, axis=0), color=ink(ax), linewidth=2, label="median of all trees")
    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    corrected = ", corrected for the number of features" if view.settings["quality"].value == "corrected" else ""
    ax.set(xlabel="rounds of growth after the first draw", ylabel=f"kappa{corrected}", xlim=(-0.2, len(rounds) - 0.8))
    ax.set_title(f"How {some_of(len(path), len(path), 'trees')} grew")
    for handle in legend_below(ax).legend_handles:
        if handle is not None:
            handle.set_alpha(1.0)
    return ax
