"""What R packages other than ConsensusClusterPlus find in the table of `ccp.py`, and in one without clusters."""

import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.metrics import adjusted_rand_score

Numbers = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


class Answer(NamedTuple):
    """What a function of R found."""

    version: str
    seconds: float
    labels: Labels  # 0 for rows that HDBSCAN calls noise


def section(X: Numbers, noise: Numbers, kinds: Labels, seed: int) -> list[str]:
    """Run all methods on both tables; return the lines of a table."""
    found, null = ask_r(X, kinds, seed), ask_r(noise, kinds, seed)
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


def ask_r(X: Numbers, kinds: Labels, seed: int) -> dict[str, Answer]:
    """Run every method on a table."""
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder, "table"), Path(folder, "out")
        X.tofile(table)
        command = ["Rscript", Path(__file__).with_suffix(".R"), table, *X.shape, len(np.unique(kinds)), seed, out]
        subprocess.run([str(part) for part in command], check=True, capture_output=True)
        lines = [line.split() for line in out.read_text().splitlines()]
    return {name: Answer(of, float(took), np.array(labels, dtype=int)) for name, of, took, *labels in lines}
