"""Fit every (set, method, scaling, seed) once, each in a process of its own, and write each score as it comes.

The noise, shapes, quality and how_many benchmarks share this. A peer that takes more than `LIMIT` seconds of processor
time on a table is stopped and marked as too slow.
"""

import csv
import importlib
import multiprocessing
import resource
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from methods import outcome
from peers import PEERS, TooLarge
from sklearn.metrics import adjusted_rand_score
from stamp import current_commit, is_current, named, versions
from variants import AUTO, BEFORE

from paper.experiments.runner import read_table, write_table
from paper.metrics import clustering_accuracy, rand_index

LIMIT = 300  # seconds of a peer on a table
UNRECORDED = "a commit that was not recorded"
OMITTED = "too slow", "too large"  # errors that leave a table out of a peer's mean; others score 0


class Task(NamedTuple):
    set: str
    method: str
    scaling: str
    seed: int


class Row(NamedTuple):
    """One fit: scores in percent, processor seconds, clusters found. A fit that failed scores 0 and says why.

    `precision` is the percentage of telling features among as many features of largest importance.
    """

    set: str
    method: str
    scaling: str
    seed: int
    ari: float
    rho_c: float
    rand: float
    precision: float
    seconds: float
    n_found: int
    commit: str
    error: str = ""

    @property
    def task(self) -> Task:
        return Task(*self[:4])

    @property
    def omitted(self) -> bool:
        return self.error.startswith(OMITTED)


class Table(NamedTuple):
    """A table as a method gets it, with what only the scores use: classes and the places of telling features."""

    X: Any  # an array, or a DataFrame where there are categories
    classes: npt.NDArray[Any]
    n_clusters: int
    telling: npt.NDArray[np.intp] | None = None


Load = Callable[[Task], Table]


def run(tasks: Sequence[Task], path: Path, load: Load, jobs: int, *, again: bool = False) -> list[Row]:
    """Return all rows of `path` once the tasks are done.

    What it has already is computed only if `again`, or if it is ours and the algorithm gives something else now.
    """
    wanted = set(tasks)
    kept = [row for row in read_rows(path) if not (row.task in wanted and (again or outdated(row)))]
    done = {row.task for row in kept}
    left = [task for task in tasks if task not in done]
    if not left:
        return kept  # and the file is left alone: another run may be writing to it
    path.parent.mkdir(parents=True, exist_ok=True)
    write_table(path, Row._fields, kept)
    progress = Progress(path.name, len(left))
    with path.open("a", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        for row in fit_all(left, load, jobs):
            writer.writerow([f"{value:.4f}" if isinstance(value, float) else value for value in row])
            out.flush()
            progress.show(row)
    rows = sorted(read_rows(path), key=lambda row: row.task)
    write_table(path, Row._fields, rows)
    return rows


def fit_all(tasks: Sequence[Task], load: Load, jobs: int) -> Iterator[Row]:
    """Fork a process for each fit, `jobs` at a time; it inherits the table and compiled code.

    This process must have one thread (`one_thread`): OpenMP's do not survive a fork.
    """
    warm_up({task.method for task in tasks})
    commit = current_commit()
    fork = multiprocessing.get_context("fork")
    running: dict[Connection, tuple[Any, Task, float]] = {}
    waiting = list(reversed(tasks))
    left_out: dict[tuple[str, ...], str] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            task = waiting.pop()
            if task[:3] in left_out:  # another seed would be no faster
                yield failed(task, 0.0, commit, left_out[task[:3]])
                continue
            receiving, sending = fork.Pipe(duplex=False)
            process = fork.Process(target=_child, args=(task, load(task), commit, sending))
            process.start()
            sending.close()
            running[receiving] = process, task, time.monotonic()
        for ready in wait(list(running)) if running else ():
            process, task, started = running.pop(ready)  # type: ignore[index]
            try:
                row = ready.recv()  # type: ignore[union-attr]
            except EOFError:
                process.join()
                why = "too slow: stopped" if process.exitcode == -signal.SIGXCPU else f"died, status {process.exitcode}"
                row = failed(task, time.monotonic() - started, commit, why)
            process.join()
            if row.omitted:
                left_out[task[:3]] = row.error
            yield row


def _child(task: Task, data: Table, commit: str, answer: Connection) -> None:
    if task.method in PEERS:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answer.send(fit(task, data, commit))


def fit(task: Task, data: Table, commit: str = "") -> Row:
    started = _seconds()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no convergence, a graph in several pieces: the score shows it
            labels, importances, timed, n_found = outcome(task.method, data.X, data.n_clusters, task.seed)
        seconds = _seconds() - started if timed is None else timed
        _check_labels(labels, len(data.X))
    except TooLarge as error:
        return failed(task, 0.0, commit, f"too large: {error}")
    except TimeoutError:
        return failed(task, float(LIMIT), commit, "too slow: stopped")
    except (ValueError, ArithmeticError, RuntimeError, MemoryError) as error:
        return failed(task, _seconds() - started, commit, f"{type(error).__name__}: {' '.join(str(error).split())}")
    scores = (score(data.classes, labels) for score in (adjusted_rand_score, clustering_accuracy, rand_index))
    found = np.nan
    if data.telling is not None and importances is not None:
        found = 100 * precision(importances(), data.telling)
    n_found = len(np.unique(labels)) if n_found is None else n_found
    return Row(*task, *(100 * float(score) for score in scores), found, seconds, n_found, commit)


def failed(task: Task, seconds: float, commit: str, why: str) -> Row:
    return Row(*task, 0.0, 0.0, 0.0, np.nan, seconds, 0, commit, why[:200])


def precision(importances: npt.NDArray[np.float64], telling: npt.NDArray[np.intp]) -> float:
    """Return the share of telling features among the first as many by importance; equal ones count by chance."""
    n = len(telling)
    last = np.sort(importances)[-n]
    above, level = importances > last, importances == last
    tells = np.isin(np.arange(len(importances)), telling)
    return float(((above & tells).sum() + (level & tells).mean() / level.mean() * (n - above.sum())) / n)


def _seconds() -> float:
    """Return processor seconds of this process and of those it started, R among them."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _check_labels(labels: npt.NDArray[Any], n_rows: int) -> None:
    if labels.shape != (n_rows,) or (dropped := int((labels < 0).sum())):
        found = f"labels of shape {labels.shape}" if labels.shape != (n_rows,) else f"{dropped} rows without a label"
        raise ValueError(f"{found} for {n_rows} rows")


def warm_up(methods: set[str]) -> None:
    """Import packages and compile UMAP before the first fork, so that no fit is charged for it."""
    for package in {PEERS[name].needs for name in methods if name in PEERS} - {"", "R"}:
        importlib.import_module(package)
    if any(name.startswith("UMAP") for name in methods):
        outcome("UMAP + KMeans", np.random.default_rng(0).normal(size=(50, 3)), 2, 0)


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a file of results; none if there is no such file."""
    return [
        Row(name, method, scaling, int(seed), *map(float, scores), int(n_found), commit, error)
        for name, method, scaling, seed, *scores, n_found, commit, error in read_table(path, Row._fields)
    ]


def outdated(row: Row) -> bool:
    """Tell whether a row of ours was made by the algorithm as it was before its results changed."""
    ours = row.method not in PEERS and row.method != BEFORE
    return ours and not is_current(row.commit, "chosen" if row.method == AUTO else "given")


def current(rows: Sequence[Row]) -> list[Row]:
    """Return the rows without the outdated ones: a mean must not mix two algorithms."""
    return [row for row in rows if not outdated(row)]


def commits(rows: Sequence[Row]) -> str:
    """Name the commits that made the rows, for the head of a report."""
    ours = sorted({named(row.commit) for row in rows if row.method not in PEERS and row.method != BEFORE})
    before = sorted({f"commit {row.commit}" for row in rows if row.method == BEFORE})
    theirs = sorted({f"commit {row.commit}" if row.commit else UNRECORDED for row in rows if row.method in PEERS})
    parts = (("ours", ours), (f"`{BEFORE}`", before), ("peers", theirs))
    told = [f"{what} from {', '.join(which)}" for what, which in parts if which]
    return f"Fits made from: {'; '.join(told)}. Written with {versions()}." if told else ""


class Progress:
    """Print a line now and then: how many fits are done and what failed."""

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
