"""ConsensusClusterPlus (Bioconductor) through Rscript, where R and the package are installed."""

import functools
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

SCRIPT = Path(__file__).with_suffix(".R")
REPEATS = 100
MOST_WORK = 8_000_000  # rows² x K: it handles a matrix of rows by rows for every K and repeat in R, half a minute here


class Found(NamedTuple):
    labels: npt.NDArray[np.int64]
    seconds: float  # processor seconds of the R function alone: neither R's start nor reading the table


@functools.cache
def installed() -> bool:
    """Say whether R with ConsensusClusterPlus is there."""
    if shutil.which("Rscript") is None:
        return False
    asked = "quit(status = !requireNamespace('ConsensusClusterPlus', quietly = TRUE))"
    return subprocess.run(["Rscript", "-e", asked], capture_output=True).returncode == 0


def consensus_plus(X: npt.NDArray[np.float64], k: int, seed: int, algorithm: str, max_k: int) -> Found:
    """Cluster with "km" (Euclidean distance) or "hc" (Pearson's, its default); 100 subsamples of 80 % of the rows."""
    with tempfile.TemporaryDirectory() as folder:
        table, labels = Path(folder, "table"), Path(folder, "labels")
        np.ascontiguousarray(X, dtype=np.float64).tofile(table)
        numbers = (algorithm, max_k, k, REPEATS, seed)
        command = ["Rscript", SCRIPT, table, *X.shape, *numbers, labels]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL, 128 + signal.SIGXCPU):
            raise TimeoutError("R was stopped")
        if done.returncode:
            raise RuntimeError(f"Rscript failed: {done.stderr[-150:]}")
        seconds, *found = labels.read_text().split()
    return Found(np.array(found, dtype=np.int64), float(seconds))
