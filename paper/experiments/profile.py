"""Feature profiles of the paper's data sets, and whether they tell a good q."""

from typing import NamedTuple

import numpy as np

from clusterforests.inspection.separation import Profile, feature_profile, noise_strength
from paper.datasets import load_uci
from paper.experiments.spec import CANDIDATES, DATASETS
from paper.experiments.summary import METRICS, Results, forest_choice


class Summary(NamedTuple):
    """A profile in numbers, beside what feature competition did."""

    dataset: str
    features: int
    clusters: int
    drawn: int
    low: float  # 10th percentile of the strengths
    high: float  # 90th
    spread: float  # high / low; infinite where low is 0, not a number where both are
    noise: float  # the strength that a Gaussian feature without clusters would have
    weak: float  # share of features that are not stronger than that
    best_q_rho_r: int
    gain_rho_r: float  # of the best q over q = 1, in percent points
    best_q_rho_c: int
    gain_rho_c: float


def load_profile(dataset: str) -> Profile:
    return feature_profile(load_uci(dataset).data, DATASETS[dataset][2])


def summarise(dataset: str, profile: Profile, forests: Results, patience: int = 1) -> Summary:
    clusters = DATASETS[dataset][2]
    low, high = np.quantile(profile.strengths, [0.1, 0.9]).tolist()
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = float(np.divide(high, low))
    noise = noise_strength(clusters)
    sweep = [best_competition(forests, dataset, metric, patience) for metric in METRICS]
    return Summary(
        dataset,
        len(profile.strengths),
        clusters,
        int(profile.drawn.sum()),
        low,
        high,
        spread,
        noise,
        float((profile.strengths >= noise).mean()),
        *sweep[0],
        *sweep[1],
    )


def best_competition(forests: Results, dataset: str, metric: str, patience: int) -> tuple[int, float]:
    """The q with the best mean, the smallest on ties, and what it gains over q = 1."""
    means = [forests.score(dataset, forest_choice(q, patience), metric).value for q in CANDIDATES]
    best = int(np.argmax(means))
    return CANDIDATES[best], means[best] - means[0]
