"""Means over seeds, and one method against others over the tables that both have."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from peers import PEERS
from runner import Row
from scipy.stats import rankdata
from variants import BEFORE, DEFAULT

from clusterforests._utils.random import integers, stream

FloatArray = npt.NDArray[np.float64]
Scores = dict[str, float]  # a mean score by set

RESAMPLES = 10_000
CLEAR = 1.0  # points by which a set counts as won or lost
REACHED = 10.0  # ARI that some method must reach for a set to count


class Method(NamedTuple):
    """A method with the input that it scores best with."""

    scaling: str
    scores: Scores


def means(rows: Iterable[Row], score: str = "ari") -> dict[tuple[str, str], Scores]:
    """Return means over seeds by (method, scaling), then by set; what was too slow or too large has none."""
    runs: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if not row.omitted:
            runs[row.method, row.scaling][row.set].append(getattr(row, score))
    return {key: {name: float(np.mean(found)) for name, found in sets.items()} for key, sets in runs.items()}


def at_their_best(rows: Iterable[Row], sets: Sequence[str]) -> dict[str, Method]:
    """Return every peer with the one input of better mean over the sets that it has with both, and ours."""
    wanted = set(sets)
    tried: dict[str, dict[str, Scores]] = defaultdict(dict)
    for (method, scaling), scores in means(row for row in rows if row.set in wanted).items():
        if method in PEERS or method in (DEFAULT, BEFORE):
            tried[method][scaling] = scores
    return {method: _better(inputs) for method, inputs in tried.items()}


def _better(inputs: Mapping[str, Scores]) -> Method:
    shared = set.intersection(*(set(scores) for scores in inputs.values()))

    def merit(scaling: str) -> tuple[float, int]:
        scores = inputs[scaling]
        return (float(np.mean([scores[name] for name in shared])) if shared else 0.0, len(scores))

    best = max(sorted(inputs), key=merit)
    return Method(best, inputs[best])


def counted(rows: Iterable[Row], sets: Sequence[str]) -> list[str]:
    """Return the sets on which some method reaches an ARI of 10, with either input; our variants have no say."""
    found = [s for (method, _), s in means(rows).items() if method in PEERS or method in (DEFAULT, BEFORE)]
    return [name for name in sets if any(scores.get(name, 0.0) >= REACHED for scores in found)]


class Difference(NamedTuple):
    """A mean difference over sets with its 95 % bootstrap interval, and the sets clearly won and lost."""

    mean: float
    low: float
    high: float
    won: int
    lost: int
    n_sets: int


def difference(ours: Scores, theirs: Scores, sets: Sequence[str]) -> Difference:
    """Compare two methods on those of the sets that both have."""
    apart = np.array([ours[name] - theirs[name] for name in sets if name in ours and name in theirs])
    n = len(apart)
    if n == 0:
        return Difference(np.nan, np.nan, np.nan, 0, 0, 0)
    drawn = apart[integers(stream(0, np.arange(RESAMPLES)[:, None], np.arange(n)), n)].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    won, lost = int((apart > CLEAR).sum()), int((apart < -CLEAR).sum())
    return Difference(float(apart.mean()), float(low), float(high), won, lost, n)


def mean_over(scores: Scores, sets: Iterable[str]) -> float:
    found = [scores[name] for name in sets if name in scores]
    return float(np.mean(found)) if found else np.nan


class Standing(NamedTuple):
    rank: float  # mean over the sets that a method has, 1 the best; equal scores share the mean of their ranks
    best: int  # sets on which no method is better


def standings(methods: Mapping[str, Method], sets: Sequence[str]) -> dict[str, Standing]:
    """Rank the methods on every set, among those that have it."""
    ranks: dict[str, list[float]] = defaultdict(list)
    best: dict[str, int] = defaultdict(int)
    for name in sets:
        there = [method for method, (_, scores) in methods.items() if name in scores]
        values = np.array([methods[method].scores[name] for method in there])
        for method, rank, value in zip(there, rankdata(-values.round(6)), values, strict=True):
            ranks[method].append(float(rank))
            best[method] += bool(value > values.max() - 1e-6)
    return {method: Standing(float(np.mean(ranks[method])), best[method]) for method in ranks}


def paired(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of those (set, seed) that every method has, so that all are means over the same runs."""
    methods = {row.method for row in rows}
    seen: dict[tuple[str, int], set[str]] = defaultdict(set)
    for row in rows:
        seen[row.set, row.seed].add(row.method)
    return [row for row in rows if seen[row.set, row.seed] == methods]
