"""How the trees grew."""

from typing import TYPE_CHECKING

import numpy as np

from clusterforests.estimator import ClusterForest
from clusterforests.forest_view import view_of
from clusterforests.plots.style import BLUE, axes_for, check_drawing, ink, legend_below, plain, some_of

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
