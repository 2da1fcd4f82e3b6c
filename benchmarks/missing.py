"""How much clusterings suffer when cells are missing at random, by the way in which missing cells are dealt with.

    python benchmarks/missing.py --out benchmarks/MISSING.md [--sets wine heart] [--seeds 8] [--share 0.3]

The paper's eight data sets. The same trees (random features, clusters varied from tree to tree, scales in turn) are
grown on the table with and without missing cells; the figure is by how many points the adjusted Rand index falls.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from clusterforests._utils.random import integers, permutations, stream, uniform
from clusterforests.backends import CpuBackend, KMeansJobs
from clusterforests.consensus.consensus_clustering import combine
from clusterforests.consensus.nodes import CutSettings
from clusterforests.table.feature_columns import FeatureColumns, numeric_table
from clusterforests.table.imputation import complete
from clusterforests.table.scaling import WAYS, fit_scaling
from paper.datasets import load_uci
from paper.datasets.uci import UCI_NAMES

TREES = 99
COPIES = 5
CUTS = ("average", "ncut")
BACKEND = CpuBackend(1)


@dataclass(frozen=True)
class Problem:
    """A table with missing cells in every view, and the trees that are to be grown on it."""

    values: np.ndarray
    table: np.ndarray
    views: FeatureColumns
    features: list[np.ndarray]
    clusters: np.ndarray
    seed: int

    def columns(self) -> list[np.ndarray]:
        return [self.views.columns(t, f) for t, f in enumerate(self.features)]


def in_views(values: np.ndarray) -> tuple[np.ndarray, FeatureColumns]:
    """Z-scores, ranges and ranks side by side, by the law of what is known of each column."""
    n, p = values.shape
    table = np.full((n, 3 * p), np.nan)
    for j, x in enumerate(values.T):
        known = np.sort(x[~np.isnan(x)])
        scaled = fit_scaling(numeric_table(known[:, None]), "mixed").apply(known[:, None])
        for v in range(len(WAYS["mixed"])):
            table[:, v * p + j] = np.interp(x, known, scaled[:, v])
    columns = np.arange(p, dtype=np.int32)
    return table, FeatureColumns(columns + p * np.arange(3, dtype=np.int32)[:, None], np.ones(p, np.int32), columns)


def make_problem(values: np.ndarray, n_clusters: int, per_tree: int, seed: int) -> Problem:
    n, p = values.shape
    trees = np.arange(TREES)
    orders = permutations(stream(seed, 0, trees), p)
    largest = max(n_clusters + 2, int(np.sqrt(n)))
    clusters = n_clusters + integers(stream(seed, 1, trees), largest - n_clusters + 1)
    table, views = in_views(values)
    return Problem(values, table, views, list(orders[:, :per_tree]), clusters.astype(np.int32), seed)


def with_holes(X: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Cells missing completely at random; a row keeps at least one."""
    n, p = X.shape
    draw = uniform(stream(seed, 2, np.arange(n)[:, None], np.arange(p)[None, :]))
    return np.where((draw < share) & (draw < draw.max(axis=1, keepdims=True)), np.nan, X)


def centers_and_labels(table: np.ndarray, columns: list[np.ndarray], problem: Problem):
    """K-means in every tree; a tree with too few distinct rows gets fewer clusters."""
    BACKEND.load(np.ascontiguousarray(table))
    clusters = np.minimum(problem.clusters, max(2, BACKEND.table.distinct // 2)).astype(np.int32)
    seeds = stream(problem.seed, 3, np.arange(len(columns)))
    while True:
        runs = BACKEND.kmeans(KMeansJobs(columns, clusters, seeds, 3, 100))
        if runs.solved.all():
            return runs.centers, BACKEND.assign(columns, runs.centers)
        clusters = np.where(runs.solved, clusters, np.maximum(1, 2 * clusters // 3)).astype(np.int32)


def nearest_known(rows: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """The nearest centre by the columns that a row has; -1 without any."""
    known = ~np.isnan(rows)
    filled = np.where(known, rows, 0.0)
    labels = (known.astype(float) @ (centers**2).T - 2 * filled @ centers.T).argmin(axis=1)
    return np.where(known.any(axis=1), labels, -1).astype(np.int32)


def means_filled(problem: Problem) -> np.ndarray:
    table = np.where(np.isnan(problem.table), np.nanmean(problem.table, axis=0), problem.table)
    return centers_and_labels(table, problem.columns(), problem)[1]


def rows_sit_out(problem: Problem) -> np.ndarray:
    """Each tree is grown on the rows that have all of its features; the others are not clustered there."""
    labels = np.full((TREES, len(problem.values)), -1, np.int32)
    for t, columns in enumerate(problem.columns()):
        part = problem.table[:, columns]
        whole = ~np.isnan(part).any(axis=1)
        if whole.sum() >= 4:
            one = replace(problem, clusters=problem.clusters[t : t + 1], seed=int(stream(problem.seed, 4, t)[0]))
            labels[t, whole] = centers_and_labels(part[whole], [np.arange(len(columns), dtype=np.int32)], one)[1][0]
    return labels


def partial_distances(problem: Problem) -> np.ndarray:
    """K-means whose distances and means leave missing cells out (k-POD), best of three starts."""
    return np.stack([_partial(problem, t, columns) for t, columns in enumerate(problem.columns())])


def _partial(problem: Problem, t: int, columns: np.ndarray) -> np.ndarray:
    rows = problem.table[:, columns]
    known = (~np.isnan(rows)).astype(float)
    filled = np.where(known > 0, rows, 0.0)
    mean = filled.sum(axis=0) / known.sum(axis=0)
    k = min(int(problem.clusters[t]), len(rows))
    best = (np.inf, np.empty(0))
    for start in permutations(stream(problem.seed, 5, t, np.arange(3)), len(rows))[:, :k]:
        centers = np.where(known[start] > 0, rows[start], mean)
        labels = np.full(len(rows), -1)
        for _ in range(60):
            apart = known @ (centers**2).T - 2 * filled @ centers.T
            new = apart.argmin(axis=1)
            if (new == labels).all():
                break
            labels = new
            member = np.zeros((k, len(rows)))
            member[labels, np.arange(len(rows))] = 1
            counts = member @ known
            centers = np.where(counts > 0, member @ filled / np.maximum(counts, 1), centers)
        best = min(best, (float(apart.min(axis=1).sum()), centers), key=lambda pair: pair[0])
    return nearest_known(rows, best[1])


def copies(problem: Problem) -> np.ndarray:
    """Tree after tree takes one of several copies, whose cells come from one of the five nearest rows at random."""
    p = problem.values.shape[1]
    gone = np.isnan(problem.values)
    known, z = (~gone).astype(float), np.nan_to_num(problem.table[:, :p])
    square = z**2 @ known.T
    apart = (square + square.T - 2 * z @ z.T + 4) / (known @ known.T + 2)
    np.fill_diagonal(apart, np.inf)
    tables = np.stack([problem.table] * COPIES)
    for j in np.flatnonzero(gone.any(axis=0)):
        rows, donors = np.flatnonzero(gone[:, j]), np.flatnonzero(~gone[:, j])
        near = donors[np.argsort(apart[np.ix_(rows, donors)], axis=1, kind="stable")[:, :5]]
        pick = integers(stream(problem.seed, 6, j, np.arange(COPIES)[:, None], rows[None, :]), near.shape[1])
        chosen = near[np.arange(len(rows))[None, :], pick]
        for column in problem.views.first[:, j]:
            tables[:, rows, column] = problem.table[chosen, column]
    offset = problem.table.shape[1] * (np.arange(TREES) // 3 % COPIES)
    columns = [(c + o).astype(np.int32) for c, o in zip(problem.columns(), offset, strict=True)]
    return centers_and_labels(np.hstack(list(tables)), columns, problem)[1]


def similar_rows(problem: Problem, *, partly: bool = False) -> np.ndarray:
    """What the package does; or the same K-means, and rows assigned by what they have."""
    table, _ = in_views(complete(numeric_table(problem.values))[0].values)
    _, labels = centers_and_labels(table, problem.columns(), problem)
    if not partly:
        return labels
    found = []
    for columns, own in zip(problem.columns(), labels, strict=True):
        centers = np.stack([table[:, columns][own == c].mean(axis=0) for c in range(own.max() + 1)])
        found.append(nearest_known(problem.table[:, columns], centers))
    return np.stack(found)


METHODS: dict[str, Callable[[Problem], np.ndarray]] = {
    "mean of the 5 nearest rows": similar_rows,
    "the same, assigned by known cells": lambda problem: similar_rows(problem, partly=True),
    "5 copies, each from a random near row": copies,
    "partial distances (k-POD)": partial_distances,
    "column means": means_filled,
    "rows sit out": rows_sit_out,
}


def scores(labels: np.ndarray, n_clusters: int, truth: np.ndarray) -> np.ndarray:
    """Adjusted Rand index of each cut, in percent. Rows that no tree clusters are a cluster; no clustering scores 0."""
    seen = (labels >= 0).any(axis=0)
    found = np.full((len(CUTS), len(truth)), -1)
    if len(np.unique(labels[:, seen], axis=1).T) >= n_clusters:
        labels = labels[(labels >= 0).any(axis=1)]
        for i, cut in enumerate(CUTS):
            found[i, seen] = combine(BACKEND, labels[:, seen], CutSettings(n_clusters, cut, 0.4)).labels
    return np.array([100 * adjusted_rand_score(truth, f) for f in found])


def measure(name: str, share: float, rule: str, seeds: range) -> dict[str, np.ndarray]:
    """For each method the falls of both cuts, and under "whole" the scores without missing cells; means over seeds."""
    data = load_uci(name)
    X = data.data[:, data.data.std(axis=0) > 0]
    k, p = len(np.unique(data.target)), X.shape[1]
    per_tree = max(2, round(np.sqrt(p)) if rule == "sqrt p" else p // 2)
    found: dict[str, list[np.ndarray]] = {}
    for seed in seeds:
        whole = scores(means_filled(make_problem(X, k, per_tree, seed)), k, data.target)
        found.setdefault("whole", []).append(whole)
        problem = make_problem(with_holes(X, share, seed), k, per_tree, seed)
        for method, grow in METHODS.items():
            found.setdefault(method, []).append(whole - scores(grow(problem), k, data.target))
    return {method: np.mean(rows, axis=0) for method, rows in found.items()}


def report(results: dict[tuple[str, str], dict[str, np.ndarray]], share: float, seeds: int) -> str:
    names = list(dict.fromkeys(name for _, name in results))
    lines = [f"# Missing cells: {share:.0%} at random", "", f"Fall of the ARI in points, means over {seeds} seeds.", ""]
    for rule in dict.fromkeys(rule for rule, _ in results):
        for i, cut in enumerate(CUTS):
            lines += [f"## {cut}, {rule} features a tree", "", "| | mean | " + " | ".join(names) + " |"]
            lines += ["|---" * (len(names) + 2) + "|"]
            for method in ("whole", *METHODS):
                row = np.array([results[rule, name][method][i] for name in names])
                title = "ARI without missing cells" if method == "whole" else method
                lines.append(f"| {title} | {row.mean():.1f} | " + " | ".join(f"{x:.1f}" for x in row) + " |")
            lines.append("")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--sets", nargs="+", default=list(UCI_NAMES), choices=UCI_NAMES)
    parser.add_argument("--rules", nargs="+", default=["sqrt p", "p / 2"], choices=["sqrt p", "p / 2"])
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--share", type=float, default=0.3)
    options = parser.parse_args()
    results = {}
    for rule in options.rules:
        for name in options.sets:
            results[rule, name] = measure(name, options.share, rule, range(options.seeds))
            print(rule, name, {m: r.round(1).tolist() for m, r in results[rule, name].items()}, flush=True)
    text = report(results, options.share, options.seeds)
    print(text)
    if options.out:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
