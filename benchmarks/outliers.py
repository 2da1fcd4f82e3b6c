"""Rows that belong to no cluster: uniform noise among blobs, against HDBSCAN.

Blobs in 2, 5 and 10 features with 5 % of the rows drawn evenly over their bounding box; the same without. HDBSCAN
(scikit-learn's) is given the min_cluster_size, of five, that is best for it on each table. The oracle knows where the
blobs are, and calls rows outliers that are as far from every blob as one in a thousand of its rows. Noise that falls
into a blob cannot be told from it, so recall is given of all noise, and of the noise outside the blobs.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2
from sklearn.cluster import HDBSCAN

from benchmarks.pages import RESULTS, stamp
from clusterforests import ClusterForest

NOISE = 0.05
FEATURES = 2, 5, 10
CLEAN_FEATURES = *FEATURES, 20, 50  # of the tables without noise: a cluster has then few rows for its many directions
CLUSTERS = 3, 4, 6
ROWS = 1000, 5000
SEEDS = range(100, 103)
SMALLEST = 5, 10, 25, 50, 100
APART = 8  # standard deviations between the centres of two blobs, at least
LEVEL = 0.001
KINDS: dict[str, Callable[[np.random.Generator, tuple[int, int]], npt.NDArray[np.float64]]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "uniform": lambda rng, shape: rng.uniform(-np.sqrt(3), np.sqrt(3), shape),
    "Student's t, 5 degrees of freedom": lambda rng, shape: rng.standard_t(5, size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
}
Floats = npt.NDArray[np.float64]
Found = npt.NDArray[np.bool_]


class Blobs(NamedTuple):
    X: Floats
    noise: Found
    centers: Floats
    spread: float
    n_clusters: int


class Rates(NamedTuple):
    precision: float
    recall: float
    outside: float  # recall of the noise that is outside the blobs
    false_alarms: float  # of the rows that are no noise

    @property
    def both(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.precision * self.recall / max(1e-9, self.precision + self.recall)


def draw(n_rows: int, n_features: int, n_clusters: int, seed: int, noise: float, kind: str = "normal") -> Blobs:
    """Draw clusters whose centres lie apart; in two features they are tighter, so that noise has room."""
    rng = np.random.default_rng(seed)
    spread = 0.25 if n_features == 2 else 0.5
    while True:
        centers = rng.uniform(-8, 8, (n_clusters, n_features))
        gaps = np.linalg.norm(centers[:, None] - centers, axis=2)[np.triu_indices(n_clusters, 1)]
        if gaps.min() > APART * spread:
            break
    X = centers[rng.integers(n_clusters, size=n_rows)] + spread * KINDS[kind](rng, (n_rows, n_features))
    others = rng.uniform(X.min(axis=0), X.max(axis=0), (round(noise * n_rows / (1 - noise)), n_features))
    is_noise = np.arange(n_rows + len(others)) >= n_rows
    return Blobs(np.vstack([X, others]), is_noise, centers, spread, n_clusters)


def rates(found: Found, table: Blobs) -> Rates:
    noise, outside = table.noise, table.noise & far(table)
    hits = int((found & noise).sum())
    recall = hits / max(1, noise.sum()), (found & outside).sum() / max(1, outside.sum())
    return Rates(hits / max(1, found.sum()), *recall, float(found[~noise].mean()))


def far(table: Blobs) -> Found:
    """Mark the rows that are outside the blobs, as only someone knows who drew them."""
    squared = ((table.X[:, None] - table.centers) ** 2).sum(axis=2).min(axis=1) / table.spread**2
    return squared > chi2.isf(LEVEL, table.X.shape[1])


def ours(table: Blobs) -> Rates:
    forest = ClusterForest(table.n_clusters, contamination="auto", random_state=0).fit(table.X)
    return rates(forest.labels_ < 0, table)


def hdbscan(table: Blobs) -> Rates:
    """Take the best of several sizes; on a table without noise, the one with fewest false alarms."""
    found = [rates(HDBSCAN(min_cluster_size=size, copy=True).fit(table.X).labels_ < 0, table) for size in SMALLEST]
    return max(found, key=lambda rate: (rate.both, -rate.false_alarms))


def oracle(table: Blobs) -> Rates:
    return rates(far(table), table)


METHODS: dict[str, Callable[[Blobs], Rates]] = {"ClusterForest": ours, "HDBSCAN": hdbscan, "oracle": oracle}


def compare() -> str:
    """Run every method on every table; return the document."""
    lines = [
        "# Rows that belong to no cluster",
        "",
        f"{NOISE:.0%} uniform noise over the bounding box of normal clusters ({_listed(CLUSTERS)} clusters, "
        f"{_listed(ROWS)} rows, {len(SEEDS)} tables each).",
        "Precision and recall are those of the rows called outliers, in the mean (worst table). Noise that falls "
        "into a cluster cannot be told from it: the second",
        "recall is that of the noise outside the clusters. The last column is the share of rows called outliers on the "
        "same tables without noise. HDBSCAN has the best",
        "`min_cluster_size` of five for each table, known from the answer; ClusterForest is given the number of "
        "clusters; the oracle knows the clusters.",
        "(`make bench TOPICS=outliers`)",
        "",
        "| features | method | precision | recall | recall outside | without noise |",
        "|---|---|---|---|---|---|",
    ]
    for d in FEATURES:
        for name, method in METHODS.items():
            noisy = [method(draw(n, d, k, seed, NOISE)) for n in ROWS for k in CLUSTERS for seed in SEEDS]
            clean = [method(draw(n, d, k, seed, 0.0)) for n in ROWS for k in CLUSTERS for seed in SEEDS]
            cells = [f"{mean:.2f} ({low:.2f})" for mean, low in zip(np.mean(noisy, 0), np.min(noisy, 0), strict=True)]
            alarms = [rate.false_alarms for rate in clean]
            cells[-1] = f"{np.mean(alarms):.2%} ({max(alarms):.2%})"
            lines.append(f"| {d} | {name} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return "\n".join([*lines, "", *other_shapes(), "", stamp(), ""])


def other_shapes() -> list[str]:
    """Count false alarms on clean clusters that are not normal."""
    lines = [
        f"Rows of clean clusters ({ROWS[0]:,} rows, {_listed(CLUSTERS)} clusters) that ClusterForest calls outliers, "
        "by the distribution of each feature:",
        "",
        "| features | " + " | ".join(KINDS) + " |",
        "|---|" + "---|" * len(KINDS),
    ]
    for d in CLEAN_FEATURES:
        tables = {kind: [draw(ROWS[0], d, k, seed, 0.0, kind) for k in CLUSTERS for seed in SEEDS] for kind in KINDS}
        alarms = [np.mean([ours(table).false_alarms for table in given]) for given in tables.values()]
        lines.append(f"| {d} | " + " | ".join(f"{share:.1%}" for share in alarms) + " |")
        print(lines[-1], flush=True)
    return lines


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(f"{number:,}" for number in numbers[:-1]) + f" or {numbers[-1]:,}"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the page")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "outliers.md").write_text(compare(), encoding="utf-8")
