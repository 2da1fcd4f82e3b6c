"""Which features are informative, and what each cluster is like in them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray
from clusterforests._utils.validation import warn_caller
from clusterforests.estimator import ClusterForest
from clusterforests.inspection import feature_separation
from clusterforests.inspection.arguments import check_names
from clusterforests.plots.consensus import drawn_labels
from clusterforests.plots.style import BLUE, SIGNED, axes_for, check_drawing, ink, ink_on, name_bars, plain, some_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_NUMBERED = 12  # clusters whose cells have room for a number


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
    check_drawing(forest, ax, max_features=max_features)
    named = feature_names(forest, names)
    importance, p_values = forest.feature_importances_, forest.feature_pvalues_
    order = np.lexsort((p_values, -importance))[:max_features]
    ax = plain(axes_for(ax, 7.2, 1.6 + 0.24 * min(len(order), 40)))
    ax.barh(np.arange(len(order)), 100 * importance[order], color=BLUE, height=0.75)
    ax.set_xlim(0, max(1.0, ax.get_xlim()[1]))
    for line, j in enumerate(order):
        if importance[j] == 0:
            ax.text(0, line, f"  p = {p_values[j]:.2g}", va="center", color=ink(ax), alpha=0.7, fontsize="small")
    name_bars(ax, [named[j] for j in order])
    ax.set_xlabel("variance between clusters found without it, %")
    if len(order) < len(named):
        ax.set_ylabel(some_of(len(order), len(named), "features"))
    ax.set_title(f"Informative features: {(importance > 0).sum():,} of {len(named):,}")
    ax.spines["left"].set_visible(False)
    return ax


def feature_names(forest: Any, given: Sequence[Any] | None) -> list[str]:
    """Return the given names, or those of the fitted frame, or numbers."""
    return check_names(getattr(forest, "feature_names_in_", None) if given is None else given, forest.n_features_in_)


def cluster_profiles(
    forest: ClusterForest,
    X: Any,
    *,
    max_features: int = 20,
    names: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the mean z-score of features in each cluster.

    The features are those that set a cluster apart from the rest most clearly (`inspection.feature_separation`). The
    clusters choose in turn, and a feature is listed with the cluster that it sets apart most.

    Parameters
    ----------
    forest : ClusterForest
        Fitted.
    X : array-like of shape (n_samples, n_features)
        The table it was fitted on. A level of a category is a column of zeros and ones.
    max_features : int, default=20
        Number of features drawn.
    names : sequence of str or None, default=None
        Names of the features; None means those of the frame that the forest was fitted on.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a new figure.

    Returns
    -------
    ax : matplotlib Axes
    """
    check_drawing(forest, ax, max_features=max_features)
    for caveat in forest.check_table(X):
        warn_caller(caveat)
    table, titles, labels = forest.encode(X), feature_names(forest, names), drawn_labels(forest)
    named = [column.title(titles) for column in table.columns]
    weights = forest.sample_weight_
    # The columns that set clusters apart, and the means of their z-scores.
    shares = feature_separation(table.values, labels, weights).clusters
    order = distinguishing_features(shares, max_features)
    weights = np.ones(len(labels)) if weights is None else weights
    means = mean_z_scores(table.values[:, order], labels, weights)
    k, shown = means.shape
    ax = axes_for(ax, min(2.6 + 0.75 * k, 12.0) if k > 4 else 6.4, 1.6 + 0.26 * min(shown, 40))
    limit = max(1.0, float(np.abs(means).max()))
    image = ax.imshow(means.T, cmap=SIGNED, vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")
    if k <= MAX_NUMBERED:
        for (cluster, feature), z in np.ndenumerate(means):
            color = ink_on(image.to_rgba(np.asarray(z)))
            text = f"{z:+.1f}" if abs(z) >= 0.05 else "0.0"
            ax.text(cluster, feature, text, ha="center", va="center", color=color, fontsize=9)
    name_bars(ax, [named[j] for j in order])
    sizes = np.bincount(labels)
    ticks = np.arange(0, k, 1 if k <= 20 else 5)
    ax.set_xticks(ticks, [f"{c}\n{sizes[c]:,}" if k <= MAX_NUMBERED else str(c) for c in ticks])
    ax.tick_params(axis="x", length=0)
    ax.spines[:].set_visible(False)
    ax.set(xlabel="cluster and number of rows" if k <= MAX_NUMBERED else "cluster", title="What each cluster is like")
    if shown < len(named):
        ax.set_ylabel(some_of(shown, len(named), "features"))
    bar = ax.figure.colorbar(image, ax=ax, label="mean z-score", shrink=0.85)
    bar.outline.set_visible(False)
    return ax


def distinguishing_features(shares: FloatArray, most: int) -> IndexArray:
    """Order columns by the cluster they set apart most, the best first; shares are (n_clusters, n_columns).

    If there are more than `most`, the clusters choose in turn, each the best one that is left.
    """
    ranks = np.argsort(-shares, axis=1, kind="stable")
    chosen = np.array(list(dict.fromkeys(ranks.T.ravel().tolist()))[:most])
    owner = shares[:, chosen].argmax(axis=0)
    return chosen[np.lexsort((-shares.max(axis=0)[chosen], owner))]


def mean_z_scores(X: FloatArray, labels: IntArray, weights: FloatArray) -> FloatArray:
    """Average z-scores, (n_clusters, n_columns), over known cells; 0 for a constant column and where none is known."""
    known = ~np.isnan(X)
    w = weights[:, None] * known
    total = w.sum(axis=0)
    scale = np.max(np.abs(X), axis=0, where=known, initial=np.finfo(float).tiny)
    part = np.where(known, X, 0.0) / scale  # the squares of huge numbers would overflow
    centred = part - _over((w * part).sum(axis=0), total)
    deviation = np.sqrt(_over((w * centred**2).sum(axis=0), total))
    constant = np.max(X, axis=0, where=known, initial=-np.inf) <= np.min(X, axis=0, where=known, initial=np.inf)
    z = np.where(known & ~constant, _over(centred, deviation), 0.0)
    k = int(labels.max()) + 1
    sums, sizes = (np.array([part[labels == c].sum(axis=0) for c in range(k)]) for part in (w * z, w))
    return _over(sums, sizes)


def _over(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(a.shape, b.shape)), where=b > 0)
