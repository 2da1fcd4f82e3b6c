"""What another number of clusters costs: `forest.recut(k)` of a fitted forest, beside a fit with that number."""

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scale_data import gaussians
from stamp import current_commit

from clusterforests import ClusterForest
from paper.experiments.runner import read_table, write_table

NUMBERS = range(2, 16)
N_ROWS = 20_000  # of 20 features


class View(NamedTuple):
    """One number of clusters: seconds of `recut` and of a fit, and the rows that have another label."""

    n_clusters: int
    seconds: float
    fit_seconds: float
    n_different: int
    commit: str


def time_views(path: Path) -> None:
    """Time every number on one thread; the labels of a view and of a fit are compared row by row."""
    if not hasattr(ClusterForest, "at"):
        print("The speed of forest.recut(k) is left out: this ClusterForest has no such method.", flush=True)
        return
    X, _ = gaussians(N_ROWS)
    forest = ClusterForest(NUMBERS, random_state=0).fit(X)
    views = []
    for k in NUMBERS:
        started = time.perf_counter()
        labels = forest.recut(k).labels_
        seen = time.perf_counter()
        fitted = ClusterForest(k, random_state=0).fit(X).labels_
        different = int(np.count_nonzero(labels != fitted))
        views.append(View(k, seen - started, time.perf_counter() - seen, different, current_commit()))
        print(f"{path.name}: {views[-1]}", flush=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_table(path, View._fields, views)


def read_views(path: Path) -> list[View]:
    """Return the timings of a file; none if there is no such file."""
    return [
        View(int(k), float(seconds), float(fit_seconds), int(different), commit)
        for k, seconds, fit_seconds, different, commit in read_table(path, View._fields)
    ]
