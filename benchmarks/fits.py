"""Fit every (set, method, input, seed) once, each in a process of its own, and summarise the scores.

Noise, shapes, quality and the choice of K share this. Each fit is a line of a file in build/benchmarks/, written when
it ends, so that a run goes on where it was stopped; means over seeds go into the summary in benchmarks/results/.
"""

import argparse
import csv
import importlib
import inspect
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
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from benchmarks.pages import AUTO, DEFAULT, RESULTS, ROOT, read_summary
from benchmarks.peers import PEERS, Outcome, TooLarge, missing_peers
from clusterforests import ClusterForest

LIMIT = 300  # seconds of a peer on a table
FEW_SEEDS = 2  # of slow peers
OMITTED = "too slow", "too large"  # errors that leave a set out of a peer's mean; others score 0
SCORES = ("ari", "precision", "seconds", "n_found", "right", "near")
WORK = ROOT / "build" / "benchmarks"

# The first is what users get, each other one switches off one part. `AUTO` is run where it is named.
VARIANTS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "no feature screening": {"select_features": False},
    "no fine trees": {"trees": "varied"},
    "z-scores only": {"scale": "standard"},
    "medoid of three cuts": {"consensus": "medoid"},
    "recursive cuts": {"consensus": "ncut"},
}


class Task(NamedTuple):
    set: str
    method: str
    input: str
    seed: int


class Table(NamedTuple):
    """A table as a method gets it, with what only the scores use: classes and the places of informative features."""

    X: Any  # an array, or a DataFrame where there are categories
    classes: npt.NDArray[Any]
    n_clusters: int
    informative: npt.NDArray[np.intp] | None = None


class Fit(NamedTuple):
    """One fit: scores in percent, processor seconds, clusters found. A fit that failed scores 0 and says why.

    `precision` is the percentage of informative features among as many features of largest importance; `right` and
    `near` are 100 where the number of clusters found is the true one, or at most one away.
    """

    set: str
    method: str
    input: str
    seed: int
    ari: float
    precision: float
    seconds: float
    n_found: int
    right: float
    near: float
    error: str = ""


Load = Callable[[Task], Table]


def parser(about: str | None, methods: Sequence[str]) -> argparse.ArgumentParser:
    """Return the options that all benchmarks of fits have."""
    made = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ["peers", "ours", "variants", *methods, *VARIANTS, AUTO]
    made.add_argument("--methods", nargs="+", choices=names, metavar="METHOD", help=f"of {', '.join(names)}")
    made.add_argument("--jobs", type=int, default=1, help="processes, of one thread each")
    made.add_argument("--again", action="store_true", help="compute anew what is there already")
    made.add_argument("--out", type=Path, default=RESULTS, help="folder of summary and page")
    made.add_argument("--work", type=Path, default=WORK, help="folder of single fits")
    return made


def chosen_methods(given: argparse.Namespace, peers: Sequence[str], ours: Sequence[str] = (DEFAULT,)) -> list[str]:
    """Return the methods that were asked for and can run here: all peers and ours if none was named."""
    groups = {"peers": list(peers), "ours": list(ours), "variants": list(VARIANTS)}
    names = [name for group in given.methods or ("peers", "ours") for name in groups.get(group, [group])]
    known = inspect.signature(ClusterForest).parameters
    for name in names:
        # A misspelt parameter must stop the run, not score 0.
        if unknown := set(VARIANTS.get(name, ())) - set(known):
            raise ValueError(f"VARIANTS[{name!r}] sets {', '.join(unknown)}, which ClusterForest does not have.")
    missing = missing_peers(names)
    for name, needed in missing.items():
        print(f"{name} is left out: it needs {needed}.", flush=True)
    return list(dict.fromkeys(name for name in names if name not in missing))


def seeds_of(method: str, seeds: Sequence[int]) -> Sequence[int]:
    """Return the seeds a method runs with: one where nothing is random, few where it is slow."""
    if method not in PEERS:
        return seeds
    peer = PEERS[method]
    return seeds[: FEW_SEEDS if peer.slow else None] if peer.random else seeds[:1]


def run(topic: str, tasks: Sequence[Task], load: Load, given: argparse.Namespace) -> pd.DataFrame:
    """Do the fits that are not there yet; return the summary, with what it had of others."""
    path = given.work / f"{topic}.csv"
    if tasks:
        run_tasks(tasks, path, load, given.jobs, again=given.again)
    summary = read_summary(topic, given.out)
    if path.exists():
        summary = summarise(read_fits(path)).combine_first(summary)
        given.out.mkdir(parents=True, exist_ok=True)
        summary.to_csv(given.out / f"{topic}.csv", float_format="%.4g")
    return summary


def read_fits(path: Path) -> pd.DataFrame:
    return pd.read_csv(path, keep_default_na=False, na_values="nan", dtype={"error": str})


def summarise(fits: pd.DataFrame) -> pd.DataFrame:
    """Return means over seeds: a line for each score, set and input, a column for each method."""
    kept = fits[~fits["error"].str.startswith(OMITTED)]
    long = kept.melt(["set", "input", "method"], list(SCORES), "score").dropna(subset="value")
    return long.pivot_table("value", ["score", "set", "input"], "method", "mean")


def run_tasks(tasks: Sequence[Task], path: Path, load: Load, jobs: int, *, again: bool = False) -> None:
    """Do the tasks that the file does not have, and add them to it."""
    done: set[tuple[Any, ...]] = set()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        fits = read_fits(path)
        keys = list(fits[list(Task._fields)].itertuples(index=False, name=None))
        if again:
            wanted = set(tasks)
            fits = fits[[Task(*key) not in wanted for key in keys]]
            fits.to_csv(path, index=False, na_rep="nan")
            keys = [key for key in keys if Task(*key) not in wanted]
        done = set(keys)
    else:
        path.write_text(",".join(Fit._fields) + "\n", encoding="utf-8")
    left = [task for task in dict.fromkeys(tasks) if task not in done]
    print(f"{path.name}: {len(left)} fits to do", flush=True)
    shown = time.monotonic()
    with path.open("a", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        for number, fitted in enumerate(fit_all(left, load, jobs), 1):
            writer.writerow([f"{value:.4f}" if isinstance(value, float) else value for value in fitted])
            out.flush()
            if fitted.error or time.monotonic() - shown > 10 or number == len(left):
                shown = time.monotonic()
                print(
                    f"{path.name}: {number} of {len(left)}, at {' '.join(map(str, fitted[:4]))} {fitted.error}",
                    flush=True,
                )


def fit_all(tasks: Sequence[Task], load: Load, jobs: int) -> Iterator[Fit]:
    """Fork a process for each fit, `jobs` at a time; it inherits the table and compiled code.

    This process must have one thread (see benchmarks/__main__.py): OpenMP's do not survive a fork.
    """
    warm_up({task.method for task in tasks})
    fork = multiprocessing.get_context("fork")
    running: dict[Connection, tuple[Any, Task, float]] = {}
    waiting = list(reversed(tasks))
    left_out: dict[tuple[str, ...], str] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            task = waiting.pop()
            if task[:3] in left_out:  # another seed would be no faster
                yield failed(task, 0.0, left_out[task[:3]])
                continue
            receiving, sending = fork.Pipe(duplex=False)
            process = fork.Process(target=_child, args=(task, load(task), sending))
            process.start()
            sending.close()
            running[receiving] = process, task, time.monotonic()
        for ready in wait(list(running)) if running else ():
            process, task, started = running.pop(ready)  # type: ignore[index]
            try:
                fitted = ready.recv()  # type: ignore[union-attr]
            except EOFError:
                process.join()
                why = "too slow: stopped" if process.exitcode == -signal.SIGXCPU else f"died, status {process.exitcode}"
                fitted = failed(task, time.monotonic() - started, why)
            process.join()
            if fitted.error.startswith(OMITTED):
                left_out[task[:3]] = fitted.error
            yield fitted


def _child(task: Task, data: Table, answer: Connection) -> None:
    if task.method in PEERS:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answer.send(fit(task, data))


def fit(task: Task, data: Table) -> Fit:
    """Fit one method to a table and score it."""
    started = _seconds()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # no convergence, a graph in several pieces: the score shows it
            found = outcome(task.method, data.X, data.n_clusters, task.seed)
        seconds = _seconds() - started if found.seconds is None else found.seconds
        if found.labels.shape != (len(data.X),) or (found.labels < 0).any():
            raise ValueError(f"labels of shape {found.labels.shape} for {len(data.X)} rows, or rows without a label")
    except TooLarge as error:
        return failed(task, 0.0, f"too large: {error}")
    except TimeoutError:
        return failed(task, float(LIMIT), "too slow: stopped")
    except (ValueError, ArithmeticError, RuntimeError, MemoryError) as error:
        return failed(task, _seconds() - started, f"{type(error).__name__}: {' '.join(str(error).split())}")
    precise = np.nan
    if data.informative is not None and found.importances is not None:
        precise = 100 * precision(found.importances(), data.informative)
    n_found = len(np.unique(found.labels)) if found.n_found is None else found.n_found
    away = abs(n_found - data.n_clusters)
    ari = 100 * float(adjusted_rand_score(data.classes, found.labels))
    return Fit(*task, ari, precise, seconds, n_found, 100.0 * (away == 0), 100.0 * (away <= 1))


def outcome(method: str, X: Any, k: int, seed: int) -> Outcome:
    """Fit a peer or one of ours by name."""
    if method in PEERS:
        found = PEERS[method].fit(X, k, seed)
        return found if isinstance(found, Outcome) else Outcome(found)
    settings = {"n_clusters": "auto"} if method == AUTO else {"n_clusters": k, **VARIANTS[method]}
    forest = ClusterForest(random_state=seed, **settings).fit(X)
    return Outcome(forest.labels_, lambda: forest.feature_importances_)


def failed(task: Task, seconds: float, why: str) -> Fit:
    return Fit(*task, 0.0, np.nan, seconds, 0, 0.0, 0.0, why[:200])


def precision(importances: npt.NDArray[np.float64], informative: npt.NDArray[np.intp]) -> float:
    """Return the share of informative features among the first as many by importance; equal ones count by chance."""
    n = len(informative)
    last = np.sort(importances)[-n]
    above, level = importances > last, importances == last
    tells = np.isin(np.arange(len(importances)), informative)
    return float(((above & tells).sum() + (level & tells).mean() / level.mean() * (n - above.sum())) / n)


def _seconds() -> float:
    """Return processor seconds of this process and of those it started, R among them."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def warm_up(methods: set[str]) -> None:
    """Import packages and compile UMAP before the first fork, so that no fit is charged for it."""
    for package in {PEERS[name].needs for name in methods if name in PEERS} - {"", "R"}:
        importlib.import_module(package)
    if any(name.startswith("UMAP") for name in methods):
        outcome("UMAP + KMeans", np.random.default_rng(0).normal(size=(50, 3)), 2, 0)
