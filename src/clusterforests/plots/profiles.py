"""What each cluster is like."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray
from clusterforests.estimator import ClusterForest
from clusterforests.forest_view import view_of
from clusterforests.inspection import feature_separation
from clusterforests.plots.features import named_columns
from clusterforests.plots.style import SIGNED, axes_for, check_drawing, ink_on, name_bars, some_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MAX_NUMBERED = 12  # clusters whose cells have room for a number


def cluster_profiles(
    forest: ClusterForest,
    X: Any,
    *,
    max_features: int = 20,
    names: Sequence[str] | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the mean z-score of features in each cluster.

    The features are those that set a cluster apart from the rest most clearly (`diagnostics.feature_separation`). The
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
    check_drawing(ax, max_features=max_features)
    view = view_of(forest)
    table = named_columns(view, X, names)
    weights = np.ones(len(table.values)) if view.weights is None else view.weights
    clusters = feature_separation(table.values, view.labels, view.weights).clusters
    order = distinguishing_features(clusters.share, max_features)
    means = mean_z_scores(table.values[:, order], view.labels, weights)
    k, shown = means.shape
    ax = axes_for(ax, min(2.6 + 0.75 * k, 12.0) if k > 4 else 6.4, 1.6 + 0.26 * min(shown, 40))
    limit = max(1.0, float(np.abs(means).max()))
    image = ax.imshow(means.T, cmap=SIGNED, vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")
    if k <= MAX_NUMBERED:
        for (cluster, feature), z in np.ndenumerate(means):
            color = ink_on(image.to_rgba(np.asarray(z)))
            text = f"{z:+.1f}" if abs(z) >= 0.05 else "0.0"
            ax.text(cluster, feature, text, ha="center", va="center", color=color, fontsize=9)
    name_bars(ax, [table.names[j] for j in order])
    sizes = np.bincount(view.labels)
    step = 1 if k <= 20 else 5
    ticks = np.arange(0, k, step)
    ax.set_xticks(ticks, [f"{c}\n{sizes[c]:,}" if k <= MAX_NUMBERED else str(c) for c in ticks])
    ax.tick_params(axis="x", length=0)
    ax.spines[:].set_visible(False)
    ax.set(xlabel="cluster and number of rows" if k <= MAX_NUMBERED else "cluster", title="What each cluster is like")
    if shown < len(table.names):
        ax.set_ylabel(some_of(shown, len(table.names), "features"))
    bar = ax.figure.colorbar(image, ax=ax, label="mean z-score", shrink=0.85)
    bar.outline.set_visible(False)
    return ax


def distinguishing_features(shares: FloatArray, most: int) -> IndexArray:
    """Order columns by the cluster they set apart most, the best first; shares are (n_clusters, n_columns).

    If there are more than `most`, the clusters choose in turn, each the best one that is left.
    """
    ranks = np.argsort(-shares, axis=1, kind="stable")
    chosen: list[int] = []
    for column in ranks.T.ravel().tolist():
        if column not in chosen:
            chosen.append(column)
        if len(chosen) == min(most, shares.shape[1]):
            break
    columns = np.array(chosen)
    owner = shares[:, columns].argmax(axis=0)
    return columns[np.lexsort((-shares.max(axis=0)[columns], owner))]


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
