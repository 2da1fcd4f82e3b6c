"""Means over seeds, and one method against others over the sets."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from quality_runner import Row
from scipy.stats import rankdata

from clusterforests._base.random import integers, stream
from clusterforests.experiments.summary import printed

FloatArray = npt.NDArray[np.float64]
Scores = Mapping[str, float]  # a mean score by set

RESAMPLES = 10_000
CLEAR = 1.0  # points by which a set counts as won or lost


def means(rows: Iterable[Row], score: str = "ari") -> dict[tuple[str, str], dict[str, float]]:
    """Mean over seeds by (method, scaling), then by set."""
    runs: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        runs[row.method, row.scaling][row.set].append(getattr(row, score))
    return {key: {name: float(np.mean(found)) for name, found in sets.items()} for key, sets in runs.items()}


def paired(rows: Sequence[Row]) -> list[Row]:
    """The rows of those (set, seed) that every method has, so that all methods are means over the same runs."""
    methods = {row.method for row in rows}
    seen: dict[tuple[str, int], set[str]] = defaultdict(set)
    for row in rows:
        seen[row.set, row.seed].add(row.method)
    return [row for row in rows if seen[row.set, row.seed] == methods]


def shared_sets(scores: Iterable[Scores], order: Sequence[str]) -> list[str]:
    """The sets that all of them have."""
    common = set.intersection(*(set(one) for one in scores))
    return [name for name in order if name in common]


@dataclass(frozen=True)
class Reading:
    """Every peer with its better of raw and z-scored input, in one of two readings of "better"."""

    title: str
    sets: list[str]
    scores: dict[str, FloatArray]  # by peer, in the order of the sets
    scaling: dict[str, str]


def better_once(scores: Mapping[tuple[str, str], Scores], sets: Sequence[str]) -> Reading:
    """One scaling for each peer: the one with the better mean over the sets."""
    chosen: dict[str, FloatArray] = {}
    scaling: dict[str, str] = {}
    for (peer, how), found in sorted(scores.items()):
        values = np.array([found[name] for name in sets])
        if peer not in chosen or values.mean() > chosen[peer].mean():
            chosen[peer], scaling[peer] = values, how
    return Reading("one scaling per method", list(sets), chosen, scaling)


def better_each(scores: Mapping[tuple[str, str], Scores], sets: Sequence[str]) -> Reading:
    """On every set the scaling that scores better there: only the labels can tell, and the peers get the benefit."""
    tried: dict[str, list[FloatArray]] = defaultdict(list)
    for (peer, _), found in sorted(scores.items()):
        tried[peer].append(np.array([found[name] for name in sets]))
    chosen = {peer: np.max(values, axis=0) for peer, values in tried.items()}
    return Reading("best scaling per set", list(sets), chosen, dict.fromkeys(chosen, "either"))


@dataclass(frozen=True)
class Difference:
    """A mean difference over sets with its 95 % bootstrap interval, and the sets clearly won and lost."""

    mean: float
    low: float
    high: float
    won: int
    lost: int


def difference(ours: FloatArray, theirs: FloatArray) -> Difference:
    apart = ours - theirs
    n = len(apart)
    drawn = apart[integers(stream(0, np.arange(RESAMPLES)[:, None], np.arange(n)), n)].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Difference(
        float(apart.mean()), float(low), float(high), int((apart > CLEAR).sum()), int((apart < -CLEAR).sum())
    )


def mean_ranks(scores: Mapping[str, FloatArray]) -> dict[str, float]:
    """Mean over sets of the rank by score, 1 the best; equal scores share the mean of their ranks."""
    ranks = rankdata([-values for values in scores.values()], axis=0).mean(axis=1)
    return dict(zip(scores, map(float, ranks), strict=True))


@dataclass(frozen=True)
class LeftOut:
    """For a set: the configuration with the best mean over the other sets, and its score here."""

    set: str
    configuration: str
    score: float


def leave_one_out(scores: Mapping[str, Scores], sets: Sequence[str]) -> list[LeftOut]:
    """Choosing among our configurations without the set that is scored; a tie goes to the first configuration."""
    if len(sets) < 2:
        raise ValueError(f"sets={list(sets)} must be at least two: the choice is made on the others.")
    picks = []
    for name in sets:
        others = [other for other in sets if other != name]
        best = max(scores, key=lambda configuration: np.mean([scores[configuration][other] for other in others]))
        picks.append(LeftOut(name, best, scores[best][name]))
    return picks


def best_printed() -> dict[str, float]:
    """The paper's accuracy (rho_c) with its best q, by set."""
    return {
        row["dataset"]: max(float(value) for column, value in row.items() if column.startswith("q"))
        for row in printed("competition")
        if row["metric"] == "rho_c"
    }
