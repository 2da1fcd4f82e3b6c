"""The figures of the theory page."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from clusterforests.plots.style import BLACK, BLUE, GREEN, ORANGE, SKY, VERMILION, plain
from paper.experiments.figures import new_figure, save
from paper.experiments.theory import RATE_GRID, RatePoint, Table, measure_rates
from paper.theory import (
    break_even_strength,
    misclustering_probability,
    population_centers,
    population_kappa,
    simulate_noise_rejection,
)


def theory_figures(folder: str | Path, tables: dict[str, Table] | None = None) -> list[Path]:
    """Draw the figures of the theory page, as PNG.

    Parameters
    ----------
    folder : path
        Where to write; made if it does not exist.
    tables : dict, optional
        What `theory_tables` returned, to draw its rates instead of measuring them again.

    Returns
    -------
    list of Path
        The files written. The same versions of the libraries write the same bytes.
    """
    points = measure_rates() if tables is None else [RatePoint(*row[:5]) for row in tables["theorem2"][1]]
    figures = {
        "theory_misclustering": _rate_figure(points),
        "theory_rules": _rules_figure(),
        "theory_noise": _noise_figure(),
    }
    return [save(figure, Path(folder), name) for name, figure in figures.items()]


def _rate_figure(points: Sequence[RatePoint]) -> Figure:
    figure = new_figure(10, 6.4)
    for axes, (gamma, sigma, sizes) in zip(figure.subplots(2, 3).flat, RATE_GRID, strict=True):
        here = [p for p in points if (p.gamma, p.sigma) == (gamma, sigma)]
        n = np.arange(sizes[0], sizes[-1] + 1)
        curves: tuple[tuple[str, str, str, dict[str, bool]], ...] = (
            ("corrected ($\\gamma^3$)", "-", BLUE, {}),
            ("printed ($\\gamma^2$)", ":", VERMILION, {"as_printed": True}),
            ("corrected, second order", "--", GREEN, {"second_order": True}),
        )
        for label, style, color, form in curves:
            tail = [misclustering_probability(int(i), gamma, sigma, **form) for i in n]
            plain(axes).plot(n, tail, style, color=color, label=label, linewidth=2)
        axes.errorbar(
            [p.n_samples for p in here],
            [p.rate for p in here],
            yerr=[2 * p.std_error for p in here],
            fmt="o",
            color=BLACK,
            markersize=4,
            capsize=3,
            label="Monte Carlo, ± 2 s.e.",
        )
        agree = " (both forms agree)" if gamma == 1 else ""
        axes.set(yscale="log", ylim=(2e-6, 0.3), title=f"$\\gamma = {gamma:g}$, $\\sigma = {sigma:g}${agree}")
    figure.supxlabel("rows, $n$")
    figure.supylabel("mis-clustering rate")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    return figure


def _rules_figure() -> Figure:
    """The paper's figure on Lemma 1."""
    figure = new_figure(10, 5)
    left, right = figure.subplots(1, 2)
    mu = np.array([0.66, 0.3])
    centers = population_centers(mu)
    rng = np.random.default_rng(0)
    for sign, color, marker in ((1, ORANGE, "o"), (-1, SKY, "^")):
        cloud = sign * mu + rng.standard_normal((120, 2))
        left.scatter(*cloud.T, s=14, color=color, marker=marker, alpha=0.55, linewidths=0)
    boundary = np.array([[-mu[1], mu[0]], [mu[1], -mu[0]]]) / np.linalg.norm(mu) * 3.6
    for axes in (left, right):
        plain(axes).plot(*boundary.T, color=BLACK, linewidth=5, alpha=0.3, label="optimal rule $h^*$")
        axes.plot(*boundary.T, color=BLACK, linewidth=1.5, linestyle="--", label="K-means rule")
        axes.plot(*np.stack([mu, -mu]).T, "D", color=GREEN, markersize=8, label="$\\mu_0, \\mu_1$: component means")
        axes.plot(*centers.T, "*", color=VERMILION, markersize=15, label="$\\mu_0^*, \\mu_1^*$: K-means centres")
        axes.set(aspect="equal", xlabel="feature 1", ylabel="feature 2")
    left.set(xlim=(-3.8, 3.8), ylim=(-3.2, 3.2))
    right.set(xlim=(-1.8, 1.8), ylim=(-1.2, 1.8))
    x = np.array([0.35, 1.4])
    for points, color, style in (((mu, -mu), GREEN, "-"), (centers, VERMILION, ":")):
        for point in points:
            right.plot(*np.stack([x, point]).T, style, color=color, linewidth=1.8)
    right.plot(*x, "o", color=BLACK, markersize=7)
    right.annotate("$X$", x, xytext=(6, 6), textcoords="offset points", fontsize=12)
    offsets = ((mu, "$\\mu_1$", (-10, -20)), (-mu, "$\\mu_0$", (4, -18)))
    starred = ((centers[0], "$\\mu_1^*$", (8, 4)), (centers[1], "$\\mu_0^*$", (-24, -14)))
    for point, text, shift in offsets + starred:
        right.annotate(text, point, xytext=shift, textcoords="offset points", fontsize=12)
    left.set_title("Both rules cut along the same line")
    right.set_title("$X$ is nearer to $\\mu_1$ exactly when it is nearer to $\\mu_1^*$")
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    return figure


def _noise_figure() -> Figure:
    figure = new_figure(10, 4.4)
    left, right = figure.subplots(1, 2)
    styles = ((0.5, "s", VERMILION), (1.0, "o", BLUE), (2.0, "^", GREEN))
    counts = np.arange(7)
    for strength, marker, color in styles:
        exact = [population_kappa([strength] + [0.0] * k) for k in counts]
        sampled = [
            simulate_noise_rejection(500, [strength] + [0.0] * k, n_trials=30, random_state=int(k)).kappa_before
            for k in counts
        ]
        plain(left).plot(counts, exact, "-", color=color, linewidth=2, label=f"|μ| = {strength:g}, population")
        left.plot(counts, sampled, marker, color=color, markersize=7, fillstyle="none", label="simulated, n = 500")
        ratios = np.linspace(0, 1.75, 8)
        least = break_even_strength([strength] * 2)
        found = [
            simulate_noise_rejection(200, [strength] * 2, candidate=r * least, n_trials=150, random_state=7)
            for r in ratios
        ]
        plain(right).errorbar(
            ratios,
            [f.rate for f in found],
            yerr=[2 * f.std_error for f in found],
            fmt=f"-{marker}",
            color=color,
            fillstyle="none",
            capsize=3,
            label=f"{strength:g}, {strength:g}: {least:.2f}",
        )
    right.axvline(1, color=BLACK, linewidth=1, linestyle="--")
    left.set(xlabel="noise features beside one informative feature", ylabel="κ = SS$_W$ / SS$_B$")
    left.set_title("Every noise feature raises κ")
    right.set(xlabel="mean of the proposed feature / break-even mean", ylabel="share rejected (n = 200)")
    right.set_title("κ rejects noise (0) and weak features too")
    left.legend(frameon=False, fontsize=9)
    title = "means in the vector: break-even"
    right.legend(frameon=False, fontsize=9, loc="center left", title=title, title_fontsize=9)
    return figure
