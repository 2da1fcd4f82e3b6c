"""One look for all pictures: colours that work for colour-blind readers, in print, and on light and dark pages."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from clusterforests._utils.arrays import FloatArray
from clusterforests._utils.validation import check_parameters, integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

# Okabe and Ito's colours.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY = "#8C8C8C"  # for what is there only for comparison

# Colours of the clusters, in order. Neighbours differ in lightness too, and all are visible on white and on black.
CLUSTER_COLORS = (BLUE, ORANGE, GREEN, PURPLE, "#7D4FA8", SKY, VERMILION, "#8A6D3B", "#A9B22E", "#C0385E")
MARKERS = "osD^vPX*<>"  # told apart without colour; shifted by one every ten clusters
SHARES = "cividis"  # for shares: lightness increases throughout
SIGNED = "PuOr_r"  # for values around 0
LIGHTNESS = (0.299, 0.587, 0.114)  # weights of red, green and blue
NAME_LENGTH = 32
MAX_LEGEND = 10  # clusters in a legend
LEGEND_BELOW = 38  # points
ROOM = {"x": 0.06, "y": 0.035}  # the share of an axis that a label needs


def check_drawing(forest: Any, ax: Any, **counts: Any) -> None:
    """Check what every picture needs: matplotlib, a fitted forest, Axes or None, and limits of at least 1."""
    if find_spec("matplotlib") is None:
        raise ImportError("Pictures need matplotlib: pip install clusterforests[plot].")
    check_is_fitted(forest)
    if ax is not None and not (hasattr(ax, "imshow") and hasattr(ax, "figure")):
        raise TypeError(f"ax must be a matplotlib Axes or None, not {type(ax).__name__}.")
    check_parameters(counts, dict.fromkeys(counts, integer(1)))


def axes_for(ax: "Axes | None", width: float, height: float) -> "Axes":
    """Return the given Axes, or those of a new figure of this size in inches."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    figure, made = plt.subplots(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)  # type: ignore[union-attr,call-arg]
    return made


def plain(ax: "Axes") -> "Axes":
    """Leave only the left and the lower spine."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def ink(ax: "Axes") -> Any:
    """Return the colour of text on these Axes: dark on a light page, light on a dark one."""
    return ax.xaxis.label.get_color()


def ink_on(color: Any) -> str:
    """Return the colour of text on a patch of this colour."""
    from matplotlib.colors import to_rgb

    return "black" if float(np.dot(to_rgb(color), LIGHTNESS)) > 0.5 else "white"


def paper(ax: "Axes") -> Any:
    """Return the background colour of these Axes."""
    return ax.get_facecolor()


def cluster_color(cluster: int) -> str:
    """Return a cluster's colour; they repeat after ten."""
    return CLUSTER_COLORS[cluster % len(CLUSTER_COLORS)]


def cluster_marker(cluster: int) -> str:
    """Return a cluster's marker; no two clusters share both colour and marker until there are a hundred."""
    return MARKERS[(cluster + cluster // len(CLUSTER_COLORS)) % len(MARKERS)]


def as_text(name: Any, length: int = NAME_LENGTH) -> str:
    """Make a name safe for matplotlib: on one line, not too long, a dollar sign stays a dollar sign."""
    line = "".join(c if c.isprintable() else " " for c in str(name)).strip()
    if len(line) > length:
        line = line[: length * 2 // 3].rstrip() + "…" + line[len(line) - length // 3 + 1 :].lstrip()
    return line.replace("$", r"\$")


def some_of(shown: int, total: int, what: str) -> str:
    """Return "178 rows", or "1,000 of 200,000 rows" if not all are shown."""
    count = f"{total:,}" if shown == total else f"{shown:,} of {total:,}"
    return f"{count} {what if total != 1 else what.removesuffix('s')}"


def legend_below(ax: "Axes") -> "Legend":
    """Put the legend where it hides nothing: below the axis and its label, whatever the size of the Axes."""
    from matplotlib.transforms import offset_copy

    below = offset_copy(ax.transAxes, ax.figure, y=-LEGEND_BELOW, units="points")  # type: ignore[arg-type]
    spacing = {"borderaxespad": 0, "columnspacing": 1.2, "handletextpad": 0.5}
    return ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, 0), bbox_transform=below, ncols=3, frameon=False, **spacing
    )


def name_bars(ax: "Axes", names: Sequence[str]) -> None:
    """Write names down the left side, the first at the top; smaller if there are many."""
    size = 10.0 if len(names) <= 20 else max(4.0, 200.0 / len(names))
    ax.set_yticks(np.arange(len(names)), [as_text(name) for name in names], fontsize=size)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def label_blocks(ax: "Axes", middles: npt.ArrayLike, length: float, labels: Sequence[str], sides: str = "xy") -> None:
    """Label blocks at their middles; where there is no room for all labels, skip those too close to the last."""
    positions = np.asarray(middles)
    for side in sides:
        shown: list[int] = []
        for i, position in enumerate(positions):
            if len(positions) <= MAX_LEGEND or not shown or position - positions[shown[-1]] >= ROOM[side] * length:
                shown.append(i)
        axis = {"x": ax.xaxis, "y": ax.yaxis}[side]
        axis.set_ticks(positions[shown].tolist(), [labels[i] for i in shown])
        ax.tick_params(axis=side, length=0)  # type: ignore[arg-type]


def block_image(
    ax: "Axes", matrix: FloatArray, sizes: npt.ArrayLike, labels: Sequence[str], color: Any, **style: Any
) -> Any:
    """Draw a square matrix whose rows and columns come in consecutive blocks, with lines between them."""
    image = ax.imshow(matrix, interpolation="nearest", **style)
    counts = np.asarray(sizes)
    ends = np.cumsum(counts)
    width = min(1.2, 8 / len(ends))
    for border in ends[:-1]:
        ax.axhline(border - 0.5, color=color, linewidth=width)
        ax.axvline(border - 0.5, color=color, linewidth=width)
    label_blocks(ax, ends - (counts + 1) / 2, len(matrix), labels)
    return image
