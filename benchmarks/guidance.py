"""How much a few known labels help, against K-means that starts from them.

Of each class 5 % of the rows, at least one, are known. K-means on z-scores starts from the means of the known rows of
each class, which stay in their cluster. Scores are adjusted Rand indices, in percent, of the rows that are not known.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from benchmarks.labelled_sets import SET_NAMES, load_set
from benchmarks.pages import RESULTS, stamp, table
from clusterforests import ClusterForest

SHARE = 0.05
SEEDS = 3
STEPS = 100
Known = npt.NDArray[np.intp]


class Score(NamedTuple):
    """Scores on one set, averaged over the seeds: adjusted Rand index in percent."""

    set: str
    known_rows: int
    kmeans: float
    forest_unguided: float
    forest: float


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
    return Score(name, int((known >= 0).sum()), *np.mean(found, axis=0).round(2).tolist())


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of summary and page")
    parser.add_argument("--sets", nargs="*", choices=SET_NAMES, default=SET_NAMES, metavar="SET")
    parser.add_argument("--again", action="store_true", help="compute anew what is there already")
    given = parser.parse_args(arguments)
    path = given.out / "guidance.csv"
    scores = pd.read_csv(path, index_col="set") if path.exists() else pd.DataFrame(columns=Score._fields[1:])
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.sets:
        if name not in scores.index or given.again:
            scores.loc[name] = score_set(name)[1:]
            scores.to_csv(path, index_label="set")
            print(name, *scores.loc[name], flush=True)
    (given.out / "guidance.md").write_text(report(scores), encoding="utf-8")


def report(scores: pd.DataFrame) -> str:
    """Return the page."""
    means = scores[["kmeans", "forest_unguided", "forest"]].mean()
    gains, own = scores["forest"] - scores["kmeans"], scores["forest"] - scores["forest_unguided"]
    lines = [
        ["K-means on z-scores from the means of the known rows", f"{means['kmeans']:.1f}"],
        ["ClusterForest without known labels", f"{means['forest_unguided']:.1f}"],
        ["**ClusterForest with known labels**", f"**{means['forest']:.1f}**"],
    ]
    return f"""\
# Known labels of a few rows

Written by `make bench TOPICS=guidance`. Of each class {SHARE:.0%} of the rows are known, at least one. Mean adjusted
Rand index, in percent, of the other rows of {len(scores)} sets, over {SEEDS} draws. How far classes spread before the
cut is refined was chosen on these sets. {stamp()}

{table(["method", "mean"], lines)}
Against K-means it is better by more than half a point on {int((gains > 0.5).sum())} sets and worse on
{int((gains < -0.5).sum())}; against itself without labels on {int((own > 0.5).sum())} and {int((own < -0.5).sum())}.
"""
