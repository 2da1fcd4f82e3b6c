"""ConsensusClusterPlus, other packages of R and clusterforests side by side on one drawn table.

Needs R with ConsensusClusterPlus, clue and dbscan (Debian: r-bioc-consensusclusterplus, r-cran-clue, r-cran-dbscan).
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

from benchmarks.pages import RESULTS, stamp
from clusterforests import ClusterForest, consensus_clustering
from clusterforests.inspection import pac

SIZES = (40, 35, 25, 20)  # samples of each subtype
GENES, INFORMATIVE, SHIFT = 1_000, 20, 1.5  # 20 genes of each subtype are raised by 1.5 standard deviations
K, MAX_K, REPEATS, SEED = len(SIZES), 6, 100, 1
PEERS = (("hc", "pearson"), ("km", "euclidean"), ("pam", "pearson"))
Numbers = npt.NDArray[np.float64]


class Found(NamedTuple):
    """What a method says of the two tables."""

    name: str
    seconds: float
    labels: npt.NDArray[Any]
    cluster_consensus: Numbers
    item_consensus: Numbers
    pac: Numbers
    number: str
    on_noise: str


def draw(shift: float) -> tuple[Numbers, npt.NDArray[np.int64]]:
    """Draw samples of four subtypes, or without a shift samples of one kind."""
    rng = np.random.default_rng(SEED)
    kinds = np.repeat(np.arange(K), SIZES)
    X = rng.normal(size=(len(kinds), GENES))
    for kind in range(K):
        X[np.ix_(kinds == kind, range(kind * INFORMATIVE, (kind + 1) * INFORMATIVE))] += shift
    return X, kinds


def ask_r(X: Numbers, algorithm: str, distance: str) -> dict[str, Numbers]:
    """Run ConsensusClusterPlus for all numbers of clusters up to MAX_K."""
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder, "table"), Path(folder, "out")
        X.tofile(table)
        numbers = (MAX_K, REPEATS, SEED, K)
        command = ["Rscript", Path(__file__).with_suffix(".R"), table, *X.shape, algorithm, distance, *numbers, out]
        subprocess.run([str(part) for part in command], check=True, capture_output=True)
        lines = [line.split() for line in out.read_text().splitlines()]
    return {name: np.array(values, dtype=float) for name, *values in lines}


def lowest(values: Numbers) -> str:
    """Name the number of clusters whose PAC is lowest."""
    return f"{2 + int(np.argmin(values))} (lowest PAC)"


def peer(X: Numbers, noise: Numbers, algorithm: str, distance: str) -> Found:
    """Run ConsensusClusterPlus on both tables."""
    found, null = ask_r(X, algorithm, distance), ask_r(noise, algorithm, distance)
    parts = found["labels"], found["cluster_consensus"], found["item_consensus"], found["pac"]
    name = f'ConsensusClusterPlus, `clusterAlg="{algorithm}"`, `distance="{distance}"`'
    return Found(name, float(found["seconds"][0]), *parts, lowest(found["pac"]), lowest(null["pac"]))


def ours(X: Numbers, noise: Numbers) -> Found:
    """Run clusterforests on both tables: one forest, cut at every number of clusters."""
    started = time.process_time()
    forest = ClusterForest(range(1, MAX_K + 1), random_state=SEED, n_jobs=1).fit(X)
    at = {k: forest.recut(k) for k in range(2, MAX_K + 1)}
    four = at[K]
    parts = four.labels_, four.cluster_consensus_, four.item_consensus_
    seconds = time.process_time() - started
    shares = np.array([pac(cut.half_cuts()) for cut in at.values()])
    null = ClusterForest(range(1, MAX_K + 1), random_state=SEED, n_jobs=1).fit(noise)
    return Found("clusterforests", seconds, *parts, shares, str(forest.n_clusters_), str(null.n_clusters_))


def resampled(X: Numbers) -> npt.NDArray[Any]:
    """Do in Python what ConsensusClusterPlus does with "hc" and "pearson": the recipe of the documentation."""
    centred = X - np.median(X, axis=0)
    D = 1 - np.corrcoef(centred)
    rng = np.random.default_rng(SEED)
    partitions = np.full((REPEATS, len(X)), -1)
    for partition in partitions:
        some = rng.choice(len(X), round(0.8 * len(X)), replace=False)
        clusterer = AgglomerativeClustering(K, metric="precomputed", linkage="average")
        partition[some] = clusterer.fit_predict(D[np.ix_(some, some)])
    return consensus_clustering(partitions, K, method="average")


def as_page(rows: list[Found], by_recipe: npt.NDArray[Any], kinds: npt.NDArray[np.int64]) -> str:
    """Write the results as tables in Markdown."""
    lines = [
        "# ConsensusClusterPlus and clusterforests on one table",
        "",
        f"Written by `make bench TOPICS=ccp`. {stamp()}",
        "",
    ]
    lines += [
        f"{len(kinds)} samples of four subtypes ({', '.join(map(str, SIZES))}) and {GENES:,} genes, of which "
        f"{K * INFORMATIVE} are informative: {INFORMATIVE} are raised by {SHIFT} standard deviations in each subtype. "
        f"Every K up to {MAX_K}; ConsensusClusterPlus with {REPEATS} subsamples of 80 %, genes centred by their "
        "medians as in its vignette. The second table has the same size and no subtypes. Seconds are processor time of "
        "one thread; R's start is not counted. PAC is the share of pairs whose consensus is between 0.1 and 0.9.",
        "",
        f"| | seconds, all K | ARI at K = {K} | number of clusters | the same without subtypes |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        score = adjusted_rand_score(kinds, row.labels)
        lines.append(f"| {row.name} | {row.seconds:.1f} | {score:.2f} | {row.number} | {row.on_noise} |")
    score = adjusted_rand_score(kinds, by_recipe)
    lines.append(f'| `consensus_clustering(partitions, 4, method="average")` of such subsamples | | {score:.2f} | | |')
    lines += [
        "",
        f"| | cluster consensus at K = {K}, largest first | PAC, K = 2 to {MAX_K} | correlation of item consensus |",
    ]
    lines.append("|---|---|---|---|")
    for row in rows:
        clusters = ", ".join(f"{value:.2f}" for value in by_size(row))
        together = np.corrcoef(row.item_consensus, rows[-1].item_consensus)[0, 1]
        lines.append(f"| {row.name} | {clusters} | {', '.join(f'{v:.2f}' for v in row.pac)} | {together:.2f} |")
    lines += ["", "The correlation is with that of clusterforests, over samples.", ""]
    return "\n".join(lines)


def by_size(row: Found) -> Numbers:
    """Order the consensus of clusters by their sizes."""
    sizes = np.unique(row.labels, return_counts=True)[1]
    return row.cluster_consensus[np.argsort(-sizes, kind="stable")]


# Other packages of R on the same table, and on one without clusters.


class Answer(NamedTuple):
    """What a function of R found."""

    version: str
    seconds: float
    labels: npt.NDArray[np.int64]  # 0 for rows that HDBSCAN calls noise


def other_packages(X: Numbers, noise: Numbers, kinds: npt.NDArray[np.int64], seed: int) -> list[str]:
    """Run all methods on both tables; return the lines of a table."""
    found, null = ask_packages(X, kinds, seed), ask_packages(noise, kinds, seed)
    densities = [name for name in found if name.startswith("hdbscan")]
    best = max(densities, key=lambda name: adjusted_rand_score(kinds, found[name].labels))
    size = best.removeprefix("hdbscan")
    titles = {
        "kmeans": "`stats::kmeans`, 100 starts",
        "clue": "`clue::cl_consensus`, 100 runs of K-means on 80 % of the samples",
        best: f"`dbscan::hdbscan`, `minPts={size}`, the best of 5, 10, 15 and 20",
    }
    lines = [
        "Other packages of R on the same two tables; K-means and clue are given the number of subtypes. HDBSCAN has "
        "the best of four settings, known from the answer:",
        "",
        "| | version | seconds | ARI | clusters found | the same without subtypes |",
        "|---|---|---|---|---|---|",
    ]
    for name, title in titles.items():
        answer = found[name]
        score = adjusted_rand_score(kinds, answer.labels)
        cells = f"{answer.version} | {answer.seconds:.1f} | {score:.2f} | {described(answer)} | {described(null[name])}"
        lines.append(f"| {title} | {cells} |")
    return [*lines, ""]


def described(answer: Answer) -> str:
    """Count clusters, and rows in none."""
    clusters, apart = len(np.unique(answer.labels[answer.labels > 0])), int((answer.labels == 0).sum())
    return f"{clusters}" + (f", {apart} samples in none" if apart else "")


def ask_packages(X: Numbers, kinds: npt.NDArray[np.int64], seed: int) -> dict[str, Answer]:
    """Run every method on a table."""
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder, "table"), Path(folder, "out")
        X.tofile(table)
        command = [
            "Rscript",
            Path(__file__).with_name("r_packages.R"),
            table,
            *X.shape,
            len(np.unique(kinds)),
            seed,
            out,
        ]
        subprocess.run([str(part) for part in command], check=True, capture_output=True)
        lines = [line.split() for line in out.read_text().splitlines()]
    return {name: Answer(of, float(took), np.array(labels, dtype=int)) for name, of, took, *labels in lines}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the page")
    given = parser.parse_args(arguments)
    (X, kinds), (noise, _) = draw(SHIFT), draw(0.0)
    rows = [*(peer(X, noise, *settings) for settings in PEERS), ours(X, noise)]
    others = "\n".join(other_packages(X, noise, kinds, SEED))
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "ccp.md").write_text(f"{as_page(rows, resampled(X), kinds)}\n{others}", encoding="utf-8")
