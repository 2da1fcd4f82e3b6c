"""Time `clusterforests.tl.cluster_forest` on drawn cells, in memory and from backed files, and write ANNDATA.md.

Each line of the table is a process of its own, so that its memory is known.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from anndata_components import compare
from cells import draw_cells
from stamp import stamp

SEED = 0
KINDS = 8


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/ANNDATA.md"))
    parser.add_argument("--measure", nargs=2, metavar=("CASE", "FOLDER"))
    parser.add_argument("--draw", metavar="FOLDER")
    given = parser.parse_args()
    if given.draw:
        draw_files(Path(given.draw))
    elif given.measure:
        print(json.dumps(measure(CASES[given.measure[0]], Path(given.measure[1]))))
    else:
        with tempfile.TemporaryDirectory() as folder:
            _again("--draw", folder)
            found = {name: json.loads(_again("--measure", name, folder).splitlines()[-1]) for name in CASES}
        given.out.write_text(f"{as_page(found)}\n{compare()}", encoding="utf-8")


def draw_files(folder: Path) -> None:
    """Write each table as scanpy prepares it."""
    import anndata
    import scanpy as sc

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


def measure(case: Case, folder: Path) -> dict[str, float]:
    """Cluster one table; return seconds, megabytes and scores."""
    import anndata
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score

    import clusterforests as cf

    adata = anndata.read_h5ad(folder / f"{case.shape[0]}-{case.stored}.h5ad", backed="r" if case.backed else None)
    given = dict(case.given)
    before, started, worked = _memory(), time.perf_counter(), time.process_time()
    cf.tl.cluster_forest(adata, given.pop("k", KINDS), n_jobs=-1, **given)
    seconds, worked, most = time.perf_counter() - started, time.process_time() - worked, _memory()
    kinds, found = adata.obs["kind"], adata.obs["cluster_forest"]
    tables = [adata.obsm["X_pca"]] if "X_pca" in adata.obsm else []
    peer = [KMeans(KINDS, n_init=10, random_state=SEED).fit_predict(table) for table in tables]
    return {
        "zeros": 1.0 - adata.X[:1000].size / (1000 * case.shape[1]) if case.stored == "sparse" else np.nan,
        "seconds": seconds,
        "processor": worked,
        "megabytes": (most - before) / 2**20,
        "n_clusters": len(found.cat.categories),
        "ari": adjusted_rand_score(kinds, found),
        "kmeans": adjusted_rand_score(kinds, peer[0]) if peer else np.nan,
    }


def as_page(found: dict[str, dict[str, float]]) -> str:
    """Write the table in Markdown."""
    lines = [
        "# AnnData",
        "",
        f"Written by `make bench-anndata`. {stamp()}",
        "",
        "```python",
        "import clusterforests as cf",
        "",
    ]
    lines += ["cf.tl.cluster_forest(adata, 8)", "```", ""]
    lines += [
        "| cells x genes | table | clusters | seconds | processor seconds | memory | ARI | ARI of K-means |",
        "|---" * 8 + "|",
    ]
    for name, row in found.items():
        (n, p), title = CASES[name].shape, CASES[name].title
        cost = f"{row['seconds']:.1f} | {row['processor']:.1f} | {row['megabytes']:.0f} MB"
        peer = "" if np.isnan(row["kmeans"]) else f"{row['kmeans']:.3f}"
        lines.append(f"| {n:,} x {p:,} | {title} | {row['n_clusters']} | {cost} | {row['ari']:.3f} | {peer} |")
    zeros = ", ".join(f"{row['zeros']:.0%} of {n:,} x {p:,}" for n, p, row in _sparse(found))
    return "\n".join(lines) + f"\n{NOTES}Zeros: {zeros}.\n"


def _sparse(found: dict[str, dict[str, float]]) -> list[tuple[int, int, dict[str, float]]]:
    """List one sparse table of each shape."""
    return [(*CASES[name].shape, found[name]) for name in ("genes", "csr")]


def _memory() -> float:
    """Return the most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def _again(*arguments: str) -> str:
    return subprocess.run([sys.executable, __file__, *arguments], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
