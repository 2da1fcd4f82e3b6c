"""The figures of the paper, from the results of the experiments."""

import io
import itertools
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from PIL import Image

from clusterforests._utils.arrays import FloatArray, IndexArray, IntArray
from clusterforests._utils.files import replacing
from clusterforests.consensus.affinity import affinity_scale_for, regularise
from clusterforests.paper_forest import PaperForest
from clusterforests.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION, block_image, plain
from paper.datasets import load_uci
from paper.experiments.profile import Profile, load_profile, noise_strength
from paper.experiments.simulations import SIMULATIONS, Simulation
from paper.experiments.spec import DATASETS
from paper.experiments.summary import METRICS, Results, rival_choice

# Figures as files: the same bytes every time, and nothing that someone would have to close.

COLORS = 32  # of a picture's palette, enough for lines and bars with smooth edges: a quarter of the bytes


def new_figure(width: float, height: float) -> Figure:
    """A figure of that many inches, without pyplot: nothing is kept that someone would have to close."""
    figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Figure, folder: Path, name: str) -> Path:
    """Write `name`.png; by rename, so that a kill leaves a whole file or none."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = io.BytesIO()
    # No version: a file changes only when the figure does.
    figure.savefig(drawn, format="png", metadata={"Software": None})
    path = folder / f"{name}.png"
    with Image.open(drawn) as image, replacing(path, "wb") as out:
        image.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(out, "png", optimize=True)
    return path


TITLES = {
    "soybean": "Soybean",
    "spect": "SPECT",
    "imgseg": "ImgSeg",
    "heart": "Heart",
    "wine": "Wine",
    "wdbc": "WDBC",
    "robot": "Robot",
    "madelon": "Madelon",
}
METRIC_NAMES = {"rho_r": "$\\rho_r$ (Rand index)", "rho_c": "$\\rho_c$ (accuracy)"}
# Shapes, not only colours: a copy may be black and white.
METHOD_STYLES = {"CF": ("o", BLUE), "RP": ("s", ORANGE), "bC2": ("^", GREEN), "EA": ("D", VERMILION)}


def paper_figures(
    scores: Results, vectors: Mapping[str, list[IntArray]], folder: Path, names: Collection[str] | None = None
) -> list[Path]:
    """Draw the figures of the paper's experiments as PNG, or some of them.

    `vectors` are the features of each clustering vector, for the simulations G1, G2 and G3. The same versions of the
    libraries write the same bytes.
    """
    sets = {s.name: (s, vectors[s.name]) for s in SIMULATIONS if s.name in vectors}
    figures: dict[str, Callable[[], Figure]] = {
        "soybean_affinity": soybean_figure,
        "simulation_g1": lambda: vectors_figure(*sets["G1"]),
        "simulation_g2_g3": lambda: totals_figure(sets["G2"], sets["G3"]),
        "gain_over_kmeans": lambda: gain_figure(scores),
        "feature_profiles": lambda: profile_figure({name: load_profile(name) for name in DATASETS}),
    }
    wanted = figures.keys() if names is None else names
    return [save(figures[name](), folder, name) for name in wanted]


def soybean_figure() -> Figure:
    """The affinity matrix of the soybean data, plants of one disease next to each other."""
    data = load_uci("soybean")
    forest = PaperForest(4, patience=1, random_state=0).fit(data.data)
    order = np.argsort(data.target, kind="stable")
    P = forest.coassociation(order, order)
    scale = affinity_scale_for(forest.affinity_scale, forest.n_estimators)
    return affinity_figure(P, regularise(P, forest.affinity_threshold, scale), data.target[order])


def affinity_figure(P: FloatArray, W: FloatArray, classes: npt.NDArray[np.str_]) -> Figure:
    """P and W side by side, W on a logarithmic scale; rows are sorted by class."""
    names, sizes = np.unique(classes, return_counts=True)
    figure = new_figure(10, 4.6)
    panels = figure.subplots(1, 2, sharey=True)
    scales = (Normalize(0, 1), LogNorm(1, float(W.max())))
    labels = ("share of clusterings", "weight")
    titles = ("P: average of the co-cluster matrices", "W: P after threshold and scaling")
    for axes, matrix, scale, label, title in zip(panels, (P, W), scales, labels, titles, strict=True):
        image = block_image(axes, matrix, sizes, names.tolist(), BLACK, cmap="Blues", norm=scale)
        axes.set(title=title, xlabel="rows by class")
        figure.colorbar(image, ax=axes, shrink=0.9, label=label)
    panels[0].set_ylabel("rows by class")
    return figure


def vectors_figure(simulation: Simulation, included: list[IntArray]) -> Figure:
    """Left the features of every clustering vector, right how often each feature occurs."""
    figure = new_figure(10, 6)
    left, right = figure.subplots(1, 2, width_ratios=[1.15, 1])
    features = np.concatenate(included)
    vectors = np.repeat(np.arange(len(included)), [len(vector) for vector in included])
    top = simulation.n_features - 5
    groups = (
        ("noise features", features < simulation.n_noise, "x", ORANGE, 10),
        ("informative features", (features >= simulation.n_noise) & (features < top), "o", BLUE, 4),
        ("the five with the largest $|\\mu|$", features >= top, "s", VERMILION, 4),
    )
    for label, chosen, marker, color, size in groups:
        plain(left).scatter(
            features[chosen] + 1, vectors[chosen] + 1, s=size, marker=marker, color=color, linewidths=0.8, label=label
        )
    left.set(xlabel="feature", ylabel="clustering vector", ylim=(0, simulation.n_vectors + 1))
    totals = np.bincount(features, minlength=simulation.n_features)
    _draw_totals(right, totals, simulation, top)
    for axes in (left, right):
        axes.set_xlim(-1, simulation.n_features + 2)
        if simulation.n_noise:
            axes.axvline(simulation.n_noise + 0.5, color=BLACK, linewidth=0.8, linestyle="--")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, markerscale=2)
    return figure


def totals_figure(*sets: tuple[Simulation, list[IntArray]]) -> Figure:
    """How often each feature occurs: by its number above, the informative ones by the size of their mean below."""
    figure = new_figure(10, 6.4)
    panels = figure.subplots(2, len(sets), squeeze=False)
    for (above, below), (simulation, included) in zip(panels.T, sets, strict=True):
        totals = np.bincount(np.concatenate(included), minlength=simulation.n_features)
        _draw_totals(above, totals, simulation, simulation.n_features)
        above.set_title(f"{simulation.name} (q = {simulation.n_candidates})")
        means, informative = np.abs(simulation.draw(0).mu)[simulation.n_noise :], totals[simulation.n_noise :]
        plain(below).vlines(means, 0, informative, color=BLUE, linewidth=2.5, alpha=0.6)
        below.plot(means, informative, "o", color=BLUE, markersize=6, clip_on=False)
        below.set(xlabel="$|\\mu|$ of an informative feature", ylabel=above.get_ylabel(), ylim=(0, None))
        below.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    return figure


def _draw_totals(axes: Axes, totals: IndexArray, simulation: Simulation, top: int) -> None:
    """Bars from feature `top` on have a colour of their own."""
    bounds = (0, simulation.n_noise, top, simulation.n_features)
    labels = ("noise features", "informative features", "strongest features")
    for label, color, (first, end) in zip(labels, (ORANGE, BLUE, VERMILION), itertools.pairwise(bounds), strict=True):
        if end > first:
            # One outline instead of a thousand bars, which take seconds; its line keeps thin bars visible.
            edges = np.arange(first, end + 1) + 0.5
            plain(axes).stairs(totals[first:end], edges, fill=True, color=color, linewidth=0.6, label=label)
    axes.set(xlabel="feature", ylabel=f"occurrences in {simulation.n_vectors} vectors", ylim=(0, None))


def gain_figure(results: Results) -> Figure:
    """Mean score minus that of K-means-1, data sets by their number of features; settings as in the tables."""
    order = sorted(DATASETS, key=lambda name: DATASETS[name][1])
    places = np.arange(len(order))
    figure = new_figure(10, 7)
    panels = figure.subplots(2, 1, sharex=True)
    for axes, metric in zip(panels, METRICS, strict=True):
        plain(axes).axhline(0, color=BLACK, linewidth=0.8)
        for shift, (method, (marker, color)) in zip((-0.27, -0.09, 0.09, 0.27), METHOD_STYLES.items(), strict=True):
            gains, errors = np.transpose([_gain(results, name, method, metric) for name in order])
            axes.vlines(places + shift, 0, gains, color=color, linewidth=2.5, alpha=0.6)
            axes.plot(places + shift, gains, marker, color=color, markersize=7, label=method)
            axes.errorbar(places + shift, gains, yerr=2 * errors, fmt="none", color=BLACK, linewidth=1)
        for place in places[1:]:
            axes.axvline(place - 0.5, color=GREY, linewidth=0.4, linestyle=":")
        axes.set(ylabel=f"gain in {METRIC_NAMES[metric]}, points", xlim=(-0.5, len(order) - 0.5))
    panels[-1].set_xticks(places, [f"{TITLES[name]}\n{DATASETS[name][1]}" for name in order])
    panels[-1].set_xlabel("data set and its number of features")
    handles, labels = panels[0].get_legend_handles_labels()
    title = "Mean gain over K-means-1, ± 2 s.e."
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False, title=title)
    return figure


def _gain(results: Results, dataset: str, method: str, metric: str) -> tuple[float, float]:
    """Over K-means-1, with its standard error."""
    choices = (rival_choice(dataset, name) for name in (method, "Kmeans1"))
    score, base = (results.score(dataset, choice, metric) for choice in choices)
    return score.value - base.value, float(np.hypot(score.error, base.error))


def profile_figure(profiles: Mapping[str, Profile]) -> Figure:
    """Histograms of the strengths of single features."""
    figure = new_figure(11, 5.6)
    for axes, (name, profile) in zip(figure.subplots(2, 4).flat, profiles.items(), strict=True):
        noise = noise_strength(DATASETS[name][2])
        measured, drawn = profile.strengths[~profile.drawn], profile.strengths[profile.drawn]
        _histogram(axes, {"measured": (measured, BLUE), "too few values: drawn at random": (drawn, ORANGE)}, noise)
        axes.set_title(f"{TITLES[name]} ({len(profile.strengths)} features)")
    figure.supxlabel("$\\kappa$ of the feature alone (left: strong)")
    figure.supylabel("number of features")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    return figure


def _histogram(ax: Axes, parts: dict[str, tuple[FloatArray, str]], noise: float) -> None:
    """Draw strengths in stacked bars, a colour for each part, and the strength of a feature without clusters."""
    strengths = [values for values, _ in parts.values()]
    largest = max([noise, *(float(values.max()) for values in strengths if len(values))])
    plain(ax).hist(
        strengths,
        np.linspace(0, largest * 1.02, 21).tolist(),
        stacked=True,
        color=[color for _, color in parts.values()],
        label=[label or "_" for label in parts],
        edgecolor=ax.get_facecolor(),
        linewidth=0.5,
    )
    ax.axvline(noise, color=BLACK, linestyle="--", linewidth=1.5, label="a Gaussian feature without clusters")
    ax.xaxis.set_major_locator(MaxNLocator(6))
    ax.yaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
