"""Dask: a table larger than the workers' memory, network traffic, and the overhead over a single process.

Clusters are local: one process with one thread for each worker. The large table takes 6 GB in a temporary folder.
"""

import argparse
import hashlib
import os
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

from benchmarks.pages import RESULTS, measure
from benchmarks.scale import gaussians
from clusterforests import ClusterForest

LIMIT = "1GB"
FILES, ROWS, COLUMNS = 120, 62_500, 100  # 120 files of 50 MB
PIECES = 20
MOVED = (1_000_000, 10_000_000)  # rows of the tables of network traffic
PERSISTED = 1_000_000  # rows of the table of the overhead


def forest(**settings):
    return ClusterForest(5, random_state=0, **settings)


@contextmanager
def workers(count, limit=LIMIT):
    with (
        LocalCluster(
            n_workers=count, threads_per_worker=1, memory_limit=limit, dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


class Watch:
    """The most memory that a worker held, and the most that was spilled, looked at five times a second."""

    def __init__(self, client):
        self.client, self.memory, self.spilled, self.running = client, 0, 0, True
        self.thread = threading.Thread(target=self.look, daemon=True)

    def look(self):
        while self.running:
            for worker in self.client.scheduler_info(n_workers=-1)["workers"].values():
                metrics = worker["metrics"]
                self.memory = max(self.memory, metrics.get("memory", 0))
                self.spilled = max(self.spilled, *metrics.get("spilled_bytes", {"memory": 0}).values())
            time.sleep(0.2)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.running = False
        self.thread.join()


def block(number, rows, columns):
    """Some rows of a table that no process holds as a whole; the centres are those of every block."""
    X, truth = gaussians(rows, informative=columns // 2, noise=columns - columns // 2, seed=[number, columns])
    home = np.random.default_rng(columns).normal(0, 2.5, (5, columns // 2))
    own = np.random.default_rng([number, columns]).normal(0, 2.5, (5, columns // 2))
    X[:, : columns // 2] += (home - own)[truth]
    return X


def write_file(folder, number):
    frame = pd.DataFrame(block(number, ROWS, COLUMNS), columns=[f"x{j}" for j in range(COLUMNS)])
    frame.to_parquet(Path(folder) / f"{number:03}.parquet", compression=None)


def generated(n):
    pieces = [dask.delayed(block)(i, n // PIECES, 20) for i in range(PIECES)]
    return da.concatenate([da.from_delayed(piece, (n // PIECES, 20), dtype=np.float64) for piece in pieces])


def received(dask_worker):
    """Bytes that this worker got from other workers."""
    return sum(entry["total"] for entry in dask_worker.transfer_incoming_log)


def sent(dask_worker):
    """Bytes that this worker gave, to other workers and to the client."""
    return dask_worker.transfer_outgoing_bytes_total


def larger_table():
    yield (
        f"{FILES} Parquet files of {ROWS:,} rows and {COLUMNS} columns of float64: "
        f"{8 * FILES * ROWS * COLUMNS / 1e9:.0f} GB, read as a Dask DataFrame. "
        "`ClusterForest(5, n_estimators=50)` with defaults otherwise. Each worker is a process with one thread and a "
        f"memory limit of {LIMIT}. Memory and spilled bytes are the highest that the workers reported; the machine has "
        "2 cores.\n"
    )
    yield "| workers | seconds | peak memory of a worker, GB | spilled, bytes | workers lost | hash of the labels |"
    yield "|---|---|---|---|---|---|"
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FILES):
            write_file(folder, number)
        for count in (1, 2, 4):
            with workers(count) as client, Watch(client) as watch:
                before = set(client.run(os.getpid).values())
                started = time.perf_counter()
                fitted = forest(n_estimators=50).fit(dd.read_parquet(folder))
                seconds = time.perf_counter() - started
                lost = len(before - set(client.run(os.getpid).values()))
                labels = hashlib.sha256(fitted.labels_.compute().tobytes()).hexdigest()[:12]
            yield f"| {count} | {seconds:.0f} | {watch.memory / 1e9:.2f} | {watch.spilled} | {lost} | {labels} |"


def bytes_table():
    yield (
        f"Two workers, 20 columns of float64 in {PIECES} partitions, 100 trees. Between workers: all data "
        "that a worker fetched from another, summed over `transfer_incoming_log` of the workers. To the client: what "
        "the workers sent (`transfer_outgoing_bytes_total`) beyond that. The labels stay on the workers.\n"
    )
    yield "| rows | between workers, MB | to the client, MB | table, MB |"
    yield "|---|---|---|---|"
    moved = []
    for n in MOVED:
        with workers(2, "4GB") as client:
            forest(n_estimators=100).fit(generated(n))
            between = sum(client.run(received).values())
            moved.append(between)
            rest = sum(client.run(sent).values()) - between
        yield f"| {n:,} | {between / 1e6:.1f} | {rest / 1e6:.1f} | {160 * n / 1e6:,.0f} |"
    yield f"\nTen times the rows: **{100 * (moved[1] / moved[0] - 1):+.1f} %** between workers (target: within 10 %)."


def overhead_table():
    yield (
        "1,000,000 x 20 in 10 persisted partitions, 100 trees: one worker with one thread, against the same table as a "
        "NumPy array with `n_jobs=1`. Medians of three alternating runs.\n"
    )
    yield "| | seconds |"
    yield "|---|---|"
    seconds = {"NumPy": [], "Dask, one worker": []}
    same = True
    with workers(1, "4GB"):
        table = generated(PERSISTED).rechunk((PERSISTED // 10, 20)).persist()
        X = table.compute()
        for _ in range(3):
            for name, given in (("NumPy", X), ("Dask, one worker", table)):
                started = time.perf_counter()
                fitted = forest(n_estimators=100).fit(given)
                seconds[name].append(time.perf_counter() - started)
                if given is X:
                    expected = fitted.labels_
            same = same and bool((fitted.labels_.compute() == expected).all())
    for name, times in seconds.items():
        yield f"| {name} | {np.median(times):.1f} |"
    ratio = np.median(seconds["Dask, one worker"]) / np.median(seconds["NumPy"])
    yield f"\nRatio: **{ratio:.2f}x** (target: at most 1.5x). The labels are equal: {'yes' if same else 'NO'}."


SECTIONS = {
    "larger": ("A table larger than the workers' memory", larger_table),
    "bytes": ("Network traffic", bytes_table),
    "overhead": ("Overhead over a single process", overhead_table),
}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the page")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    given = parser.parse_args(arguments)
    head = f"# Dask\n\nWritten by `make bench TOPICS=dask`, on {os.cpu_count()} cores. dask {dask.__version__}."
    measure(given.out / "dask.md", head, dict(SECTIONS[name] for name in given.only))
