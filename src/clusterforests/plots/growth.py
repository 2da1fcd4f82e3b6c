"""How the trees grew."""

from typing import TYPE_CHECKING

import numpy as np

from clusterforests.estimator import ClusterForest
from clusterforests.plots.style import BLUE, axes_for, check_request, ink, legend_below, plain, some_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def kappa_growth(forest: ClusterForest, *, ax: "Axes | None" = None) -> "Axes":
    """kappa along growth: a line for each tree, ending where the tree stopped, and the median of all trees.

    In the median a tree that has stopped counts with the kappa it reached.

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
    check_request(ax, forest)
    from matplotlib.ticker import MaxNLocator

    path = np.where(np.isinf(forest.kappa_path_), np.nan, forest.kappa_path_)
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
    middle = np.nanmedian(reached, axis=0)
    ax.plot(rounds, middle, color=ink(ax), linewidth=2, label="median of all trees")
    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    corrected = ", corrected for the number of features" if forest.selection_["quality"].value == "corrected" else ""
    ax.set(xlabel="rounds of growth after the first draw", ylabel=f"kappa{corrected}", xlim=(-0.2, len(rounds) - 0.8))
    ax.set_title(f"How {some_of(len(path), len(path), 'trees')} grew")
    for handle in legend_below(ax).legend_handles:
        if handle is not None:
            handle.set_alpha(1.0)
    return ax
