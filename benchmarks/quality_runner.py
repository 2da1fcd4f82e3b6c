"""Fits every (set, method, scaling, seed) once, on all cores, and writes each score as soon as it is there."""

import csv
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import joblib
import numpy as np
from quality_data import load_set, table
from quality_methods import is_random, labels_of
from sklearn.metrics import adjusted_rand_score

from clusterforests.experiments.files import read_table, write_table
from clusterforests.metrics import clustering_accuracy, rand_index


class Task(NamedTuple):
    set: str
    method: str
    scaling: str
    seed: int


class Row(NamedTuple):
    """One fit: scores in percent, processor seconds, clusters found. A fit that failed scores 0 and says why."""

    set: str
    method: str
    scaling: str
    seed: int
    ari: float
    rho_c: float
    rand: float
    seconds: float
    n_found: int
    error: str = ""

    @property
    def task(self) -> Task:
        return Task(*self[:4])


def plan(sets: Iterable[str], methods: Sequence[str], scalings: Sequence[str], seeds: int) -> list[Task]:
    """Set by set, as a process keeps the last table; what is not random runs once."""
    return [
        Task(name, method, scaling, seed)
        for name in sets
        for method in methods
        for scaling in scalings
        for seed in range(seeds if is_random(method) else min(seeds, 1))
    ]


def run(tasks: Sequence[Task], path: Path, jobs: int, *, again: bool = False) -> list[Row]:
    """All rows of `path` once the tasks are done. What it held already is not computed again, unless `again`."""
    wanted = set(tasks)
    kept = [row for row in read_rows(path) if not (again and row.task in wanted)]
    done = {row.task for row in kept}
    left = [task for task in tasks if task not in done]
    if not left:
        return kept  # and the file is left alone: another run may be writing to it
    write_table(path, Row._fields, kept)
    progress = Progress(path.name, len(left))
    with joblib.parallel_config("loky", inner_max_num_threads=1), path.open("a", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        for row in parallel(joblib.delayed(fit)(task) for task in left):
            writer.writerow([f"{value:.4f}" if isinstance(value, float) else value for value in row])
            out.flush()
            progress.show(row)
    rows = sorted(read_rows(path))
    write_table(path, Row._fields, rows)
    return rows


def fit(task: Task) -> Row:
    data = load_set(task.set)
    X = table(task.set, task.scaling, task.seed)
    started = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no convergence, a graph in several pieces: the score shows it
            labels = labels_of(task.method, X, data.n_clusters, task.seed)
        _check_labels(labels, len(X))
    except (ValueError, ArithmeticError, RuntimeError, MemoryError) as error:
        seconds = time.process_time() - started
        return Row(*task, 0.0, 0.0, 0.0, seconds, 0, f"{type(error).__name__}: {' '.join(str(error).split())}"[:200])
    seconds = time.process_time() - started
    scores = (score(data.classes, labels) for score in (adjusted_rand_score, clustering_accuracy, rand_index))
    return Row(*task, *(100 * float(score) for score in scores), seconds, len(np.unique(labels)))


def _check_labels(labels: np.ndarray, n_rows: int) -> None:
    if labels.shape != (n_rows,) or (dropped := int((labels < 0).sum())):
        found = f"labels of shape {labels.shape}" if labels.shape != (n_rows,) else f"{dropped} rows without a label"
        raise ValueError(f"{found} for {n_rows} rows")


def read_rows(path: Path) -> list[Row]:
    """The rows of a file of results; none if there is no such file."""
    return [
        Row(name, method, scaling, int(seed), *map(float, scores), int(n_found), error)
        for name, method, scaling, seed, *scores, n_found, error in read_table(path, Row._fields)
    ]


class Progress:
    """A line now and then: how many fits are done and what failed."""

    def __init__(self, name: str, total: int) -> None:
        self.name, self.total = name, total
        self.done = self.failed = 0
        self.started = self.shown = time.monotonic()
        print(f"{name}: {total} fits to do", flush=True)

    def show(self, row: Row) -> None:
        self.done += 1
        self.failed += bool(row.error)
        now = time.monotonic()
        if row.error:
            print(f"{self.name}: {' '.join(map(str, row.task))} failed: {row.error}", flush=True)
        if now - self.shown > 10 or self.done == self.total:
            self.shown = now
            minutes = (now - self.started) / 60
            print(
                f"{self.name}: {self.done} of {self.total} fits, {self.failed} failed, {minutes:.1f} min, at {row.set} "
                f"{row.method} {row.scaling}",
                flush=True,
            )
