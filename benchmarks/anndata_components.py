"""Cells by their components: what standardising them and leaving some out does, against K-means, on drawn tables.

    python benchmarks/anndata_components.py --out components.md      # a quarter of an hour; part of make bench-anndata

The settings of `tl.cluster_forest(use_rep=...)` were chosen on draws 0 to 9 of the same tables.
"""

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from cells import Kinds, draw_cells
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import clusterforests as cf

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.parse_args().out.write_text(compare(), encoding="utf-8")


def compare() -> str:
    """Run every method on every table; return the section."""
    lines = ["## Components", TEXT.format(n=len(SEEDS)), *_table(SEEDS, chosen=False)]
    lines += [CHOSEN.format(n=len(SEEDS_CHOSEN)), *_table(SEEDS_CHOSEN, chosen=True)]
    return "\n".join(lines) + "\n"


def _table(seeds: range, *, chosen: bool) -> list[str]:
    lines = [f"| table | {' | '.join(COLUMNS)} |", "|---" * (1 + len(COLUMNS)) + "|"]
    for title, (n_cells, kinds) in TABLES.items():
        scores = np.array([_scores(n_cells, kinds, seed, chosen=chosen) for seed in seeds])
        means, worst = scores.mean(axis=0), scores[..., 0].min(axis=0)
        shown = [f"{mean:.2f} ({low:.2f})" for mean, low in zip(means[:, 0], worst, strict=True)]
        if chosen:
            shown = [shown[0], *(f"{text}, {number:.1f}" for text, number in zip(shown[1:], means[1:, 1], strict=True))]
        lines.append(f"| {title} | {' | '.join(shown)} |")
        print(lines[-1], flush=True)
    return lines


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
    import anndata
    import scanpy as sc

    counts, truth = draw_cells(n_cells, N_GENES, seed, kinds)
    adata = anndata.AnnData(counts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sc.pp.normalize_total(adata)
        sc.pp.log1p(adata)
        sc.pp.pca(adata)
    return adata.obsm["X_pca"], truth


if __name__ == "__main__":
    main()
