"""The paper's theory against simulation: every table of its documentation page.

Seeds are fixed, so the same machine gives the same numbers every time. The tables take about two minutes on one core.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from paper.theory import (
    best_cutoff,
    break_even_strength,
    eigen_expansion,
    first_order_vector,
    kmeans_rule,
    misclustering_exponent,
    misclustering_probability,
    noise_norm,
    optimal_rule,
    perturbed_model,
    population_kappa,
    projected_vector,
    resolvent_residual,
    shifted_exponent,
    simulate_best_cutoff,
    simulate_kmeans_rule,
    simulate_misclustering,
    simulate_noise_rejection,
)

Table = tuple[list[str], list[list[Any]]]
Progress = Callable[[str], None]

# (gamma, sigma, sizes): sizes that gamma divides into whole clusters, at which the rate can be measured.
RATE_GRID: tuple[tuple[float, float, tuple[int, ...]], ...] = (
    (1.0, 2.0, (60, 100, 140, 180, 220)),
    (0.8, 1.5, (54, 81, 108, 135, 162)),
    (0.6, 1.25, (64, 96, 128, 160, 192)),
    (0.5, 1.0, (60, 90, 120, 150, 180)),
    (0.4, 0.8, (56, 84, 112, 140, 182)),
    (0.3, 0.6, (65, 104, 143, 182, 221)),
)
RATE_TRIALS = 2000


class RatePoint(NamedTuple):
    """One measured mis-clustering rate."""

    gamma: float
    sigma: float
    n_samples: int
    rate: float
    std_error: float


def theory_tables(progress: Progress | None = None) -> dict[str, Table]:
    """Every table of the theory page.

    Parameters
    ----------
    progress : callable, optional
        Called with the name of each table before it is computed.

    Returns
    -------
    dict of str to (header, rows)
    """
    tell = progress or (lambda name: None)
    tables: dict[str, Table] = {}
    simple: dict[str, Callable[[], Table]] = {
        "theorem1": _theorem1,
        "theorem1_weak_features": _weak_features,
        "lemma1": _lemma1,
        "expansions": _expansions,
        "lemma2": _lemma2,
        "lemma3": _lemma3,
        "remarks": _remarks,
    }
    for name, compute in simple.items():
        tell(name)
        tables[name] = compute()
    tell("theorem2")
    points = measure_rates()
    tables["theorem2"] = _theorem2(points)
    tables["slopes"] = _slopes(points)
    return tables


def measure_rates() -> list[RatePoint]:
    """Monte Carlo mis-clustering rates on the grid."""
    points = []
    for seed, (gamma, sigma, sizes) in enumerate(RATE_GRID):
        for n in sizes:
            found = simulate_misclustering(n, gamma, sigma, n_trials=RATE_TRIALS, random_state=1000 * seed + n)
            points.append(RatePoint(gamma, sigma, n, found.rate, found.std_error))
    return points


def _theorem1() -> Table:
    """One informative feature of mean |mu|, then 0 to 3 noise features; one more noise feature is proposed."""
    header = [
        "strength",
        "noise features",
        "n",
        "kappa, population",
        "kappa, simulated",
        "kappa with one more noise feature, population",
        "kappa with one more noise feature, simulated",
        "rejected",
        "s.e.",
    ]
    rows: list[list[Any]] = []
    for strength in (0.5, 1.0, 2.0):
        for noise in (0, 1, 3):
            mu = [strength] + [0.0] * noise
            for n in (10, 20, 100, 1000):
                trials = 1000 if n < 100 else 200 if n < 1000 else 50
                found = simulate_noise_rejection(n, mu, n_trials=trials, random_state=n)
                exact = population_kappa(mu), population_kappa([*mu, 0.0])
                sampled = found.kappa_before, found.kappa_after
                rows.append(
                    [strength, noise, n, exact[0], sampled[0], exact[1], sampled[1], found.rate, found.std_error]
                )
    return header, rows


def _weak_features() -> Table:
    """A feature of mean s joins p features of mean r: kappa wants s to pass a break-even value, not just 0."""
    header = ["features", "mean of each", "break-even mean", "mean / break-even", "n", "rejected", "s.e."]
    rows: list[list[Any]] = []
    for count, mean in ((1, 1.0), (2, 1.0), (5, 1.0), (2, 2.0)):
        mu = [mean] * count
        least = break_even_strength(mu)
        for ratio in (0.5, 0.9, 1.1, 1.5):
            found = simulate_noise_rejection(500, mu, candidate=ratio * least, n_trials=100, random_state=count)
            rows.append([count, mean, least, ratio, 500, found.rate, found.std_error])
    return header, rows


def _lemma1() -> Table:
    """The rule of K-means in the population, by optimisation, and on samples with one noise feature."""
    header = [
        "strength",
        "pi",
        "n",
        "angle to mu",
        "K-means offset",
        "optimal offset",
        "K-means risk",
        "optimal risk",
        "s.e. of risk",
    ]
    rows: list[list[Any]] = []
    for strength in (0.5, 1.0, 2.0):
        best = optimal_rule(strength)
        rule = kmeans_rule(strength)
        rows.append([strength, 0.5, "population", rule.angle, rule.offset, best.offset, rule.risk, best.risk, 0.0])
        for n in (50, 500, 5000):
            rule, error = simulate_kmeans_rule(n, [strength, 0.0], n_trials=100 if n < 5000 else 20, random_state=n)
            rows.append([strength, 0.5, n, rule.angle, rule.offset, best.offset, rule.risk, best.risk, error])
    for share in (0.4, 0.2):  # beyond the lemma: unequal clusters
        best, rule = optimal_rule(1.0, share=share), kmeans_rule(1.0, share=share)
        rows.append([1.0, share, "population", rule.angle, rule.offset, best.offset, rule.risk, best.risk, 0.0])
    return header, rows


def _theorem2(points: Iterable[RatePoint]) -> Table:
    """exp(n x exponent) is the theorem's own form; the tails keep what the limit drops."""
    header = [
        "gamma",
        "sigma",
        "n",
        "Monte Carlo",
        "s.e.",
        "printed exponent",
        "corrected exponent",
        "printed tail",
        "corrected tail",
        "second-order tail",
    ]
    rows: list[list[Any]] = []
    for gamma, sigma, n, rate, error in points:
        forms = [float(np.exp(n * misclustering_exponent(gamma, sigma, printed))) for printed in (True, False)]
        tails = [misclustering_probability(n, gamma, sigma, as_printed=printed) for printed in (True, False)]
        second = misclustering_probability(n, gamma, sigma, second_order=True)
        rows.append([gamma, sigma, n, rate, error, *forms, *tails, second])
    return header, rows


def _slopes(points: Sequence[RatePoint]) -> Table:
    """Slopes in n: of log rate as it is, and of -z^2/2.

    The tail Q(z) has a prefactor that falls like 1/z, so log rate is steeper than the exponent at every n that can
    be simulated. z is what the larger cluster's tail would need for the measured rate, (Q(z) + gamma Q(z/gamma)) /
    (1 + gamma) = rate; -z^2/2 is then a straight line in n with the exponent as its slope. Both fits are weighted by
    standard errors and have an intercept.
    """
    header = [
        "gamma",
        "sigma",
        "smallest n",
        "largest n",
        "raw slope of log rate",
        "slope of -z^2/2",
        "s.e.",
        "corrected exponent",
        "printed exponent",
        "slope / corrected",
        "slope / printed",
    ]
    rows: list[list[Any]] = []
    for gamma, sigma, sizes in RATE_GRID:
        here = [p for p in points if (p.gamma, p.sigma) == (gamma, sigma)]
        n = np.array([p.n_samples for p in here], dtype=float)
        rate = np.array([p.rate for p in here])
        error = np.array([p.std_error for p in here])
        z = np.array([_tail_quantile(r, gamma) for r in rate])
        # d rate / dz is minus the density of the tails, so the error of z^2/2 is z times error over that density.
        density = (norm.pdf(z) + norm.pdf(z / gamma)) / (1 + gamma)
        raw, _ = _weighted_slope(n, np.log(rate), error / rate)
        slope, slope_error = _weighted_slope(n, -(z**2) / 2, z * error / density)
        corrected, printed = (misclustering_exponent(gamma, sigma, as_printed) for as_printed in (False, True))
        setting = [gamma, sigma, sizes[0], sizes[-1]]
        rows.append([*setting, raw, slope, slope_error, corrected, printed, slope / corrected, slope / printed])
    return header, rows


def _tail_quantile(rate: float, gamma: float) -> float:
    return float(brentq(lambda z: (norm.sf(z) + gamma * norm.sf(z / gamma)) / (1 + gamma) - rate, 0.0, 10.0))


def _weighted_slope(x: Any, y: Any, error: Any) -> tuple[float, float]:
    weights = 1 / np.asarray(error) ** 2
    centered = x - np.average(x, weights=weights)
    squares = float((weights * centered**2).sum())
    return float((weights * centered * y).sum() / squares), float(squares**-0.5)


def _expansions() -> Table:
    """Leading terms against the exact spectrum; remainders should fall like nu^2 and nu."""
    header = ["gamma", "nu", "lambda2", "expansion of lambda2", "error / nu^2", "x1 and x2: largest scaled error / nu"]
    rows: list[list[Any]] = []
    for gamma in (1.0, 0.5):
        for nu in (0.1, 0.01, 0.001):
            model = perturbed_model(300, gamma, 1.0, nu=nu)
            exact, leading = model.spectrum, eigen_expansion(model)
            pairs = zip(exact.x1 + exact.x2, leading.x1 + leading.x2, strict=True)
            vector = max(abs(a - b) for a, b in pairs) * np.sqrt(300)
            gap = (exact.lambda2 - leading.lambda2) / nu**2
            rows.append([gamma, nu, exact.lambda2, leading.lambda2, gap, float(vector / nu)])
    return header, rows


def _lemma2() -> Table:
    """Largest entry of psi x2 - phi x2, mean over matrices, with phi as derived and as printed (nu=0.01, sigma=0.5)."""
    header = ["gamma", "n", "resolvent residual", "max error", "x n^(3/2)", "x n^2", "max error, printed sign", "x n"]
    rows: list[list[Any]] = []
    for gamma in (1.0, 0.5):
        for n, trials in ((48, 200), (96, 200), (192, 100), (384, 40), (768, 10)):
            model = perturbed_model(n, gamma, 0.5, nu=0.01)
            rng = np.random.default_rng(n)
            gaps = np.empty((trials, 2))
            for trial in range(trials):
                noise = model.draw_noise(rng)
                psi = projected_vector(model, noise)
                expanded = first_order_vector(model, noise), first_order_vector(model, noise, as_printed=True)
                gaps[trial] = [np.abs(psi - phi).max() for phi in expanded]
            error, printed = gaps.mean(axis=0).tolist()
            residual = resolvent_residual(model, 0.5 + 0.2j)
            rows.append([gamma, n, residual, error, error * n**1.5, error * n**2, printed, printed * n])
    return header, rows


def _lemma3() -> Table:
    header = ["n", "spectral norm / sqrt(n)"]
    return header, [[n, noise_norm(n, random_state=n)] for n in (50, 100, 200, 400, 800, 1600)]


def _remarks() -> Table:
    """What the text concludes from Theorem 2, looked at again. Predictions are second-order tails."""
    header = ["remark", "setting", "quantity", "predicted", "measured", "s.e."]
    parts = _rate_by_sigma(), _best_gamma(), _small_gamma(), _best_cutoffs(), _eigenvectors()
    return header, [[*row, *[""] * (len(header) - len(row))] for part in parts for row in part]


def _rate_by_sigma() -> Iterator[list[Any]]:
    for sigma in (1.0, 1.5, 2.0, 2.5):
        found = simulate_misclustering(108, 0.8, sigma, n_trials=1000, random_state=1)
        predicted = misclustering_probability(108, 0.8, sigma, second_order=True)
        setting = f"n=108, gamma=0.8, sigma={sigma:g}"
        yield ["1: rate grows with sigma", setting, "rate", predicted, found.rate, found.std_error]


def _best_gamma() -> Iterator[list[Any]]:
    remark = "2: best gamma"
    for name, printed in (("printed", True), ("corrected", False)):
        grid = np.linspace(0.001, 1, 1000)
        best = grid[np.argmin([misclustering_exponent(g, 1.0, printed) for g in grid])]
        inside = misclustering_exponent(1 - 1e-6, 1.0, printed) / misclustering_exponent(1.0, 1.0)
        yield [remark, f"{name} exponent", "best gamma in (0, 1]", float(best)]
        yield [remark, f"{name} exponent", "d log|exponent| / d gamma at 1", round((1 - inside) * 1e6, 3)]
    for n1, n2 in ((60, 60), (64, 56), (70, 50), (75, 45), (80, 40), (90, 30)):
        found = simulate_misclustering(120, n2 / n1, 1.5, n_trials=2000, random_state=2)
        predicted = misclustering_probability(120, n2 / n1, 1.5, second_order=True)
        yield [remark, f"n=120, sigma=1.5, gamma={n2 / n1:.3f}", "rate", predicted, found.rate, found.std_error]


def _small_gamma() -> Iterator[list[Any]]:
    found = simulate_misclustering(220, 0.1, 0.5, n_trials=300, random_state=3)
    predicted = misclustering_probability(220, 0.1, 0.5, second_order=True)
    yield ["3: small gamma fails", "n=220, gamma=0.1, sigma=0.5", "rate", predicted, found.rate, found.std_error]


def _best_cutoffs() -> Iterator[list[Any]]:
    for gamma, sigma in ((0.75, 2.0), (0.5, 1.75), (0.25, 1.2)):
        remark = "cutoff", f"n=140, gamma={gamma:g}, sigma={sigma:g}"
        gain = simulate_best_cutoff(140, gamma, sigma, n_trials=1500, random_state=4)
        cutoffs = np.linspace(0, 0.5, 101).tolist()
        tails = [misclustering_probability(140, gamma, sigma, second_order=True, cutoff=c) for c in cutoffs]
        finite = cutoffs[int(np.argmin(tails))]
        yield [*remark, "best cutoff / x2 of smaller cluster, n to infinity", best_cutoff(gamma)]
        yield [*remark, "best cutoff / x2 of smaller cluster, this n", finite, gain.cutoff]
        predicted = misclustering_probability(140, gamma, sigma, second_order=True)
        yield [*remark, "rate at 0", predicted, gain.rate_at_zero, gain.std_error_at_zero]
        predicted = misclustering_probability(140, gamma, sigma, second_order=True, cutoff=best_cutoff(gamma))
        yield [*remark, "rate at best cutoff", predicted, gain.rate, gain.std_error]
        ratio = shifted_exponent(gamma, sigma) / misclustering_exponent(gamma, sigma)
        yield [*remark, "exponent at best cutoff / at 0", ratio]


def _eigenvectors() -> Iterator[list[Any]]:
    for nu in (0.001, 0.01, 0.05, 0.2):
        for vector in ("projection", "eigenvector"):
            found = simulate_misclustering(120, 0.8, 1.5, n_trials=500, nu=nu, vector=vector, random_state=5)
            setting = f"n=120, gamma=0.8, sigma=1.5, nu={nu:g}"
            yield ["psi x2 or second eigenvector", setting, f"rate of the {vector}", "", found.rate, found.std_error]
