"""How much a few known labels help, against K-means that starts from them; and whether random pairs are kept.

    python benchmarks/guidance.py --out benchmarks/guidance          # needs CLUSTERFORESTS_DATA, minutes
    python benchmarks/guidance.py --pairs 1000                       # minutes

Of each class 5 % of the rows, at least one, are known. K-means on z-scores starts from the means of the known rows of
each class, which stay in their cluster. Scores are adjusted Rand indices, in percent, of the rows that are not known.
"""

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from quality_data import SET_NAMES, load_set
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from stamp import current_commit, named, versions

from clusterforests import ClusterForest
from paper.experiments.runner import read_table, write_table

SHARE = 0.05
SEEDS = 3
STEPS = 100
Known = npt.NDArray[np.intp]


class Score(NamedTuple):
    """Scores on one set, averaged over the seeds: adjusted Rand index in percent; and the commit that they are of."""

    set: str
    known_rows: int
    kmeans: float
    forest_unguided: float
    forest: float
    commit: str


def known_rows(classes: Known, seed: int) -> Known:
    """Draw the rows whose class is known: the class, or -1."""
    rng = np.random.default_rng(seed)
    known = np.full(len(classes), -1)
    for number in range(classes.max() + 1):
        rows = np.flatnonzero(classes == number)
        known[rng.choice(rows, max(1, round(SHARE * len(rows))), replace=False)] = number
    return known


def seeded_kmeans(X: npt.NDArray[np.float64], known: Known) -> Known:
    """Run K-means from the means of the known rows, which do not leave their cluster."""
    k, fixed = known.max() + 1, known >= 0
    centers = np.array([X[known == number].mean(axis=0) for number in range(k)])
    labels = np.full(len(X), -1)
    for _ in range(STEPS):
        before = labels
        labels = ((centers**2).sum(axis=1) - 2 * X @ centers.T).argmin(axis=1)
        labels[fixed] = known[fixed]
        if np.array_equal(labels, before):
            break
        centers = np.array([X[labels == number].mean(axis=0) for number in range(k)])
    return labels


def z_scores(X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Scale to mean 0 and variance 1; missing cells become 0."""
    spread = np.nanstd(X, axis=0)
    return np.nan_to_num((X - np.nanmean(X, axis=0)) / np.where(spread > 0, spread, 1.0))


def score_set(name: str) -> Score:
    """Compare on one set."""
    data = load_set(name)
    classes = np.unique(data.classes, return_inverse=True)[1].ravel()
    found = []
    for seed in range(SEEDS):
        known = known_rows(classes, seed)
        forest = ClusterForest(data.n_clusters, random_state=seed)
        unguided = forest.fit(data.X).labels_
        guided = forest.fit(data.X, known_labels=known).labels_
        rows = known < 0
        others = seeded_kmeans(z_scores(data.X), known), unguided, guided
        found.append([100 * adjusted_rand_score(classes[rows], labels[rows]) for labels in others])
    return Score(name, int((known >= 0).sum()), *np.mean(found, axis=0).round(2).tolist(), current_commit())


def write_scores(folder: Path) -> None:
    """Score every set that is not scored yet, then write the means."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "scores.csv"
    scores = [_score(*row) for row in read_table(path, Score._fields)]
    for name in SET_NAMES:
        if name not in {score.set for score in scores}:
            scores.append(score_set(name))
            write_table(path, Score._fields, scores)
            print(*scores[-1], flush=True)
    (folder / "RESULTS.md").write_text(_results(scores), encoding="utf-8")


def _score(name: str, known_rows: str, *rest: str) -> Score:
    *found, commit = rest
    return Score(name, int(known_rows), *map(float, found), commit)


def _results(scores: list[Score]) -> str:
    gains = np.array([score.forest - score.kmeans for score in scores])
    own = np.array([score.forest - score.forest_unguided for score in scores])
    lines = [
        "# Known labels of a few rows",
        "",
        f"Of each class {SHARE:.0%} of the rows are known, at least one. Mean adjusted Rand index, in percent, of the "
        f"other rows of {len(scores)} sets,",
        f"over {SEEDS} draws. (`python benchmarks/guidance.py --out benchmarks/guidance`; each set: "
        "`scores.csv` beside this page)",
        "",
        "| method | mean |",
        "|---|---|",
        f"| K-means on z-scores from the means of the known rows | {_mean(scores, 'kmeans'):.1f} |",
        f"| ClusterForest without known labels | {_mean(scores, 'forest_unguided'):.1f} |",
        f"| **ClusterForest with known labels** | **{_mean(scores, 'forest'):.1f}** |",
        "",
        f"Against K-means it is better by more than half a point on {int((gains > 0.5).sum())} sets and worse on "
        f"{int((gains < -0.5).sum())};",
        f"against itself without labels on {int((own > 0.5).sum())} and {int((own < -0.5).sum())}. How far classes "
        "spread before the cut is refined was chosen on these sets.",
        "",
        f"Fits made from {_commits(scores)}. Written with {versions()}.",
        "",
    ]
    return "\n".join(lines)


def _commits(scores: list[Score]) -> str:
    return ", ".join(named(commit) for commit in sorted({score.commit for score in scores}))


def _mean(scores: list[Score], method: str) -> float:
    return float(np.mean([getattr(score, method) for score in scores]))


def try_pairs(count: int, n_rows: int = 120) -> None:
    """Fit tables with random pairs that agree with some labelling, and check every pair."""
    started, pairs = time.perf_counter(), 0
    for seed in range(count):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(2, 7))
        X, _ = make_blobs(n_rows, n_features=4, centers=k, random_state=seed)
        hidden = rng.integers(k, size=n_rows)
        drawn = rng.integers(n_rows, size=(int(rng.integers(1, 80)), 2))
        drawn = drawn[drawn[:, 0] != drawn[:, 1]]
        same = hidden[drawn[:, 0]] == hidden[drawn[:, 1]]
        forest = ClusterForest(k, n_estimators=50, random_state=seed)
        labels = forest.fit(X, must_link=drawn[same], cannot_link=drawn[~same]).labels_
        assert len(np.unique(labels)) == k
        assert np.array_equal(labels[drawn[:, 0]] == labels[drawn[:, 1]], same)
        pairs += len(drawn)
    print(f"{count} sets of {pairs} pairs in all: every pair kept, {time.perf_counter() - started:.0f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder for the scores of the sets")
    parser.add_argument("--pairs", type=int, default=0, help="number of tables with random pairs")
    given = parser.parse_args()
    if given.pairs:
        try_pairs(given.pairs)
    if given.out:
        write_scores(given.out)


if __name__ == "__main__":
    main()
