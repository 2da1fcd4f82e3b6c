"""`clusterforests.tl.cluster_forest` on drawn cells: in memory, from backed files, and by their components.

Each line of the first table is a process of its own, so that its memory is known. The settings of
`tl.cluster_forest(use_rep=...)` were chosen on draws 0 to 9 of the tables of components.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anndata
import numpy as np
import numpy.typing as npt
import scanpy as sc
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import clusterforests as cf
from benchmarks.pages import RESULTS, ROOT, measure

# Counts of genes in cells of several kinds.

SHAPE = 2.0  # of the gamma distribution that makes the counts negative binomial


class Kinds(NamedTuple):
    """How the kinds of cells differ."""

    shares: tuple[float, ...] = (0.30, 0.20, 0.15, 0.12, 0.09, 0.07, 0.05, 0.02)  # of the cells are of each kind
    markers: int = 40  # genes of each kind that are expressed more
    fold: float = 2.0  # mean logarithm of how much more
    depth: float = 0.4  # counts of a cell, per gene


EIGHT = Kinds()


def draw_profiles(n_genes: int, kinds: Kinds, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Draw the share of each gene in the counts of each kind of cell."""
    profiles = np.tile(rng.lognormal(-1.5, 1.3, n_genes), (len(kinds.shares), 1))
    for profile in profiles:
        raised = rng.choice(n_genes, min(kinds.markers, n_genes // 4), replace=False)
        profile[raised] *= rng.lognormal(kinds.fold, 0.5, len(raised))
    return profiles / profiles.sum(axis=1, keepdims=True)


def draw_cells(
    n_cells: int, n_genes: int, seed: int, kinds: Kinds = EIGHT
) -> tuple[scipy.sparse.csr_matrix, npt.NDArray[np.int64]]:
    """Draw the counts of cells, of unequal depth, and the kind of each."""
    rng = np.random.default_rng(seed)
    profiles = draw_profiles(n_genes, kinds, rng)
    kind = rng.choice(len(kinds.shares), n_cells, p=np.array(kinds.shares))
    depth = rng.lognormal(np.log(kinds.depth * n_genes), 0.35, n_cells)
    rates = rng.gamma(SHAPE, profiles[kind] * depth[:, None] / SHAPE)
    return scipy.sparse.csr_matrix(rng.poisson(rates).astype(np.float32)), kind


# Time and memory.

SEED = 0
N_KINDS = 8


class Case(NamedTuple):
    """A table and how it is clustered."""

    title: str
    shape: tuple[int, int]
    stored: str  # how the file holds it: dense or sparse
    backed: bool
    given: dict[str, Any]


CASES = {
    "genes": Case("all genes, sparse", (3_000, 2_000), "sparse", False, {}),
    "dense": Case("all genes, dense", (3_000, 2_000), "dense", False, {}),
    "pca": Case('`use_rep="X_pca"`', (3_000, 2_000), "sparse", False, {"use_rep": "X_pca"}),
    "number": Case(
        '`use_rep="X_pca"`, number chosen', (3_000, 2_000), "sparse", False, {"use_rep": "X_pca", "k": "auto"}
    ),
    "backed": Case("backed file, dense", (100_000, 500), "dense", True, {}),
    "csr": Case("backed file, CSR", (100_000, 500), "sparse", True, {}),
    "memory": Case("the same in memory, dense", (100_000, 500), "dense", False, {}),
}
NOTES = """
Counts are negative binomial, of eight kinds of cells of which the rarest is 2 %; 40 genes of each kind are expressed
more. `scanpy.pp.normalize_total` and `log1p` come before; components are 50, by `scanpy.pp.pca` of all genes. Memory is
the most that the process had beyond what it had when the call began, in which a table in memory counts already. K-means
is scikit-learn's, of 10 starts, on `X_pca`. On a busy machine, processor seconds say more than seconds.
"""


def draw_files(folder: Path) -> None:
    """Write each table as scanpy prepares it."""
    for n, p in sorted({case.shape for case in CASES.values()}):
        counts, kinds = draw_cells(n, p, SEED)
        adata = anndata.AnnData(counts)
        adata.obs["kind"] = kinds.astype(str)
        sc.pp.normalize_total(adata)
        sc.pp.log1p(adata)
        if n == 3_000:
            sc.pp.pca(adata)
        adata.write_h5ad(folder / f"{n}-sparse.h5ad")
        adata.X = adata.X.toarray()
        adata.write_h5ad(folder / f"{n}-dense.h5ad")


def cluster(case: Case, folder: Path) -> dict[str, float]:
    """Cluster one table; return seconds, megabytes and scores."""
    adata = anndata.read_h5ad(folder / f"{case.shape[0]}-{case.stored}.h5ad", backed="r" if case.backed else None)
    given = dict(case.given)
    before, started, worked = _memory(), time.perf_counter(), time.process_time()
    cf.tl.cluster_forest(adata, given.pop("k", N_KINDS), n_jobs=-1, **given)
    seconds, worked, most = time.perf_counter() - started, time.process_time() - worked, _memory()
    kinds, found = adata.obs["kind"], adata.obs["cluster_forest"]
    tables = [adata.obsm["X_pca"]] if "X_pca" in adata.obsm else []
    peer = [KMeans(N_KINDS, n_init=10, random_state=SEED).fit_predict(table) for table in tables]
    return {
        "zeros": 1.0 - adata.X[:1000].size / (1000 * case.shape[1]) if case.stored == "sparse" else np.nan,
        "seconds": seconds,
        "processor": worked,
        "megabytes": (most - before) / 2**20,
        "n_clusters": len(found.cat.categories),
        "ari": adjusted_rand_score(kinds, found),
        "kmeans": adjusted_rand_score(kinds, peer[0]) if peer else np.nan,
    }


def costs() -> Iterator[str]:
    """Yield the lines of the table of time and memory."""
    yield "```python\nimport clusterforests as cf\n\ncf.tl.cluster_forest(adata, 8)\n```\n"
    yield "| cells x genes | table | clusters | seconds | processor seconds | memory | ARI | ARI of K-means |"
    yield "|---" * 8 + "|"
    zeros = {}
    with tempfile.TemporaryDirectory() as folder:
        _again("--draw", folder)
        for name, ((n, p), title) in ((name, case[1::-1]) for name, case in CASES.items()):
            row = json.loads(_again("--measure", name, folder).splitlines()[-1])
            cost = f"{row['seconds']:.1f} | {row['processor']:.1f} | {row['megabytes']:.0f} MB"
            peer = "" if np.isnan(row["kmeans"]) else f"{row['kmeans']:.3f}"
            yield f"| {n:,} x {p:,} | {title} | {row['n_clusters']} | {cost} | {row['ari']:.3f} | {peer} |"
            if not np.isnan(row["zeros"]):
                zeros[n, p] = row["zeros"]
    told = ", ".join(f"{share:.0%} of {n:,} x {p:,}" for (n, p), share in zeros.items())
    yield f"{NOTES}Zeros: {told}."


def _memory() -> float:
    """Return the most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def _again(*arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", "anndata", *arguments],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    ).stdout


# Components.

SEEDS = range(100, 110)
SEEDS_CHOSEN = range(100, 104)  # where the number of clusters is chosen, which takes longer
N_GENES = 2_000
FIFTEEN = (0.2, 0.15, 0.12, 0.1, 0.08, 0.07, 0.06, 0.05, 0.04, 0.03, 0.03, 0.02, 0.02, 0.02, 0.01)
TABLES: dict[str, tuple[int, Kinds]] = {
    "eight kinds, as above": (3_000, Kinds()),
    "600 cells": (600, Kinds()),
    "fewer counts": (3_000, Kinds(depth=0.15)),
    "markers raised less": (3_000, Kinds(fold=1.2)),
    "12 markers of each kind": (3_000, Kinds(markers=12)),
    "20 markers, raised less": (3_000, Kinds(markers=20, fold=1.4)),
    "15 kinds": (3_000, Kinds(shares=FIFTEEN)),
    "3 kinds, raised little": (3_000, Kinds(shares=(0.5, 0.3, 0.2), fold=1.0)),
}
Z_SCORES = {"scale": "auto", "select_features": True}
SOME = {"scale": "none", "select_features": True}
ALL = {"scale": "none", "select_features": False}
COLUMNS = ["K-means", "z-scores", "one scale, some left out", "one scale, all"]
TEXT = """
Mean adjusted Rand index (worst table) of {n} draws of each table, with the number of kinds given. K-means is
scikit-learn's, of 10 starts. "z-scores" is what `ClusterForest` does by default; `use_rep` takes components as they
are, of one scale, and all of them. The last digits of components depend on the processor and its threads, and what a
forest draws depends on them. Here BLAS had two threads; with one, means of forests differ by some hundredths, and where
the number of clusters is chosen (below) by up to two tenths.
"""
CHOSEN = """
The same where the number of clusters is chosen, in {n} draws (mean number that is chosen). Here `use_rep` leaves out
components that do not tell: they would hide clusters. K-means is given the number.
"""


def _table(seeds: Sequence[int], *, chosen: bool) -> Iterator[str]:
    yield f"| table | {' | '.join(COLUMNS)} |"
    yield "|---" * (1 + len(COLUMNS)) + "|"
    for title, (n_cells, kinds) in TABLES.items():
        scores = np.array([_scores(n_cells, kinds, seed, chosen=chosen) for seed in seeds])
        means, worst = scores.mean(axis=0), scores[..., 0].min(axis=0)
        shown = [f"{mean:.2f} ({low:.2f})" for mean, low in zip(means[:, 0], worst, strict=True)]
        if chosen:
            shown = [shown[0], *(f"{text}, {number:.1f}" for text, number in zip(shown[1:], means[1:, 1], strict=True))]
        yield f"| {title} | {' | '.join(shown)} |"


def _scores(n_cells: int, kinds: Kinds, seed: int, *, chosen: bool) -> list[tuple[float, int]]:
    """Return the score and the number of clusters of each method on one draw."""
    values, truth = components(n_cells, kinds, seed)
    number = len(kinds.shares)
    found = [KMeans(number, n_init=10, random_state=0).fit_predict(values)]
    found += [_forest("auto" if chosen else number, given).fit_predict(values) for given in (Z_SCORES, SOME, ALL)]
    return [(adjusted_rand_score(truth, labels), len(np.unique(labels))) for labels in found]


def _forest(number: Any, given: dict[str, str]) -> cf.ClusterForest:
    return cf.ClusterForest(number, random_state=0, n_jobs=-1, **given)


def components(n_cells: int, kinds: Kinds, seed: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Draw cells; return 50 components, as scanpy makes them, and the kind of each."""
    counts, truth = draw_cells(n_cells, N_GENES, seed, kinds)
    adata = anndata.AnnData(counts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sc.pp.normalize_total(adata)
        sc.pp.log1p(adata)
        sc.pp.pca(adata)
    return adata.obsm["X_pca"], truth


def compare_components(seeds: Sequence[int] = SEEDS, seeds_chosen: Sequence[int] = SEEDS_CHOSEN) -> Iterator[str]:
    """Yield the lines of the tables of components."""
    yield TEXT.format(n=len(seeds))
    yield from _table(seeds, chosen=False)
    yield CHOSEN.format(n=len(seeds_chosen))
    yield from _table(seeds_chosen, chosen=True)


HEAD = """\
# AnnData

Written by `make bench TOPICS=anndata`.
"""


def main(arguments: list[str]) -> None:
    sections = {"costs": ("Time and memory", costs), "components": ("Components", compare_components)}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the page")
    parser.add_argument("--only", nargs="+", choices=sections, default=list(sections))
    parser.add_argument("--measure", nargs=2, metavar=("CASE", "FOLDER"), help=argparse.SUPPRESS)
    parser.add_argument("--draw", metavar="FOLDER", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.draw:
        draw_files(Path(given.draw))
    elif given.measure:
        print(json.dumps(cluster(CASES[given.measure[0]], Path(given.measure[1]))))
    else:
        measure(given.out / "anndata.md", HEAD, dict(sections[name] for name in given.only))
