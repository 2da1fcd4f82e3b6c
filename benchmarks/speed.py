"""Time clusterforests against scikit-learn in one session, on the same data.

Both sides use one thread, except where the table says two. Times are medians of alternating runs.
"""

import argparse
import functools
import multiprocessing
import os
import platform
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import make_blobs

from benchmarks.pages import RESULTS, measure
from clusterforests import HartiganWongKMeans, PaperForest, _core
from clusterforests.backends import CpuBackend, KMeansJobs
from paper.datasets import load_uci

SHAPES = [(500, 4, 3, 80), (2000, 6, 7, 8), (100_000, 6, 5, 60)]
FORESTS = [("wine", 3, 40), ("wdbc", 2, 40), ("madelon", 2, 40), ("imgseg", 7, 12)]


BLOCK = 0.05  # seconds that a block of calls lasts at least


def seconds(work, repeat):
    """Return the median over blocks of the mean time of a call; short calls are repeated within a block."""
    started = time.perf_counter()
    work()
    calls = max(1, int(BLOCK / (time.perf_counter() - started)))
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        for _ in range(calls):
            work()
        times.append((time.perf_counter() - started) / calls)
    return float(np.median(times))


def in_turn(ours, theirs, repeat):
    """Return the medians of both, measured alternately so that a busy moment affects both."""
    return tuple(np.median([(seconds(ours, 1), seconds(theirs, 1)) for _ in range(repeat)], axis=0))


BATCH = 100


def kmeans_batch(X, k):
    """BATCH problems over one table in one call, as the forest solves them; each with 20 restarts and labels."""
    features = [np.arange(X.shape[1], dtype=np.int32)] * BATCH
    jobs = KMeansJobs(features, np.full(BATCH, k, np.int32), np.arange(BATCH, dtype=np.uint64), 20, 200)

    def work():
        backend = CpuBackend(1)
        backend.load(X)
        return backend.assign(features, backend.kmeans(jobs).centers)

    return work


def bench_kmeans(repeat):
    yield (
        "Compared with scikit-learn's `KMeans(init='random', n_init=20, tol=0, max_iter=200)`, on Gaussian blobs "
        '(`make_blobs`) and on normal rows without structure; the target is for blobs. "batch" is the time of one '
        f"problem out of {BATCH} solved in one call by plain restarts, which is how the forest uses the kernel; it "
        'includes a share of the time to load the table and to label the rows. "estimator" is '
        '`HartiganWongKMeans().fit`, input checks included. "objective" is that of the estimator divided by '
        "scikit-learn's, minus 1.\n"
    )
    yield "| rows, columns, K | data | scikit-learn ms | batch ms | ratio | estimator ms | ratio | objective | target |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for n, d, k, bar in SHAPES:
        for kind in ("blobs", "normal"):
            rng = np.random.default_rng(0)
            X = make_blobs(n, d, centers=k, random_state=0)[0] if kind == "blobs" else rng.normal(size=(n, d))
            peer = KMeans(k, init="random", n_init=20, tol=0, max_iter=200, random_state=0)
            mine = HartiganWongKMeans(k, random_state=0)
            times = 3 if n > 10_000 else repeat
            estimator, theirs = in_turn(lambda mine=mine, X=X: mine.fit(X), lambda peer=peer, X=X: peer.fit(X), times)
            batch = seconds(kmeans_batch(X, k), times) / BATCH if n <= 10_000 else None
            lower = mine.inertia_ / peer.inertia_ - 1
            in_batch = f"{1e3 * batch:.3f} | **{theirs / batch:.0f}x**" if batch else "| "
            yield (
                f"| {n}, {d}, {k} | {kind} | {1e3 * theirs:.2f} | {in_batch} "
                f"| {1e3 * estimator:.3f} | **{theirs / estimator:.0f}x** | {lower:+.1e} "
                f"| {f'{bar}x' if kind == 'blobs' else ''} |"
            )


def bench_forest(repeat):
    yield (
        "Compared with `Straightforward` in benchmarks/speed.py, the same algorithm written with scikit-learn "
        "(`KMeans` for every attempt, `SpectralClustering` for the cut). Medians of three alternating runs.\n"
    )
    yield "| data | rows, features, K | scikit-learn s | clusterforests s | ratio | target |"
    yield "|---|---|---|---|---|---|"
    for name, k, bar in FORESTS:
        X = load_uci(name).data
        mine = PaperForest(k, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the peer warns where a part has few distinct rows
            ours, theirs = in_turn(
                lambda mine=mine, X=X: mine.fit(X), lambda k=k, X=X: Straightforward(k).fit_predict(X), 3
            )
        yield (
            f"| {name} | {X.shape[0]}, {X.shape[1]}, {k} | {theirs:.2f} | {ours:.3f} | **{theirs / ours:.0f}x** "
            f"| {bar}x |"
        )


def spin(_):
    """Do a fixed amount of work on one core and return the time it took."""
    started = time.perf_counter()
    total = 0
    for i in range(2_000_000):
        total += i * i
    return time.perf_counter() - started


def bench_threads(repeat):
    yield (
        "The first row shows what the machine could give at that moment: the same pure Python loop in two processes "
        "against one. Ratios are of medians and, in brackets, of the fastest runs, which other work disturbs least.\n"
    )
    yield "| task | one thread s | two threads s | ratio | target |"
    yield "|---|---|---|---|---|"
    with multiprocessing.Pool(2) as pool:
        pool.map(spin, range(2), chunksize=1)
        alone = [pool.apply(spin, (0,)) for _ in range(repeat)]
        both = [max(pool.map(spin, range(2), chunksize=1)) / 2 for _ in range(repeat)]
    yield threads_row("upper limit: two processes", alone, both, "")
    X = np.random.default_rng(0).normal(size=(2000, 6))
    features = [np.arange(6, dtype=np.int32)] * 20
    jobs = KMeansJobs(features, np.full(20, 7, np.int32), np.arange(20, dtype=np.uint64), 20, 200)
    backends = [CpuBackend(1), CpuBackend(2)]
    for backend in backends:
        backend.load(X)
    runs = [[seconds(lambda b=b: b.kmeans(jobs), 1) for b in backends] for _ in range(repeat)]
    yield threads_row("20 K-means problems (2000, 6, 7)", *zip(*runs, strict=True), "1.7x")
    for name, k, _ in FORESTS[1:]:
        X = load_uci(name).data
        forests = [PaperForest(k, random_state=0, n_jobs=jobs) for jobs in (1, 2)]
        runs = [[seconds(lambda f=f, X=X: f.fit(X), 1) for f in forests] for _ in range(repeat)]
        yield threads_row(f"forest, {name}", *zip(*runs, strict=True), "1.7x")


def threads_row(work, one, two, bar):
    median, fastest = np.median(one) / np.median(two), min(one) / min(two)
    return f"| {work} | {np.median(one):.3f} | {np.median(two):.3f} | **{median:.2f}x** ({fastest:.2f}x) | {bar} |"


def bench_import(repeat):
    timed = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"

    def cost(before, work):
        code = before + timed.format(work)
        command = [sys.executable, "-c", code]
        runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(repeat + 1)]
        return float(np.median([float(run.stdout) for run in runs[1:]]))

    added = cost("import sklearn.cluster; ", "import clusterforests")
    load = "from sklearn.datasets import load_wine; from clusterforests import PaperForest; X = load_wine().data; "
    first = cost(load, "PaperForest(3, random_state=0).fit(X)")
    yield "| task | seconds | target |"
    yield "|---|---|---|"
    yield f"| `import clusterforests` after `import sklearn.cluster` | {added:.3f} | 0.1 |"
    yield f"| first fit on wine in a new process, after the imports | {first:.3f} | 0.3 |"


@dataclass
class Straightforward:
    """The paper's settings: b = 2, q = 1, tau_m = patience, n_b = n_f, 20 random starts."""

    n_clusters: int
    n_estimators: int = 100
    patience: int = 3
    seed: int = 0

    def fit_predict(self, X):
        rng = np.random.default_rng(self.seed)
        P = np.zeros((len(X), len(X)))
        for _ in range(self.n_estimators):
            labels = self._grow(X, rng)
            P += labels[:, None] == labels[None, :]
        P /= self.n_estimators
        W = np.exp(0.1 * self.n_estimators * np.where(P < 0.4, 0, P))
        return SpectralClustering(self.n_clusters, affinity="precomputed", random_state=self.seed).fit_predict(W)

    def _grow(self, X, rng):
        vector = self._usable_draw(X, rng)
        kappa, labels = self._cluster(X[:, vector], rng)
        failures = 0
        while failures < self.patience:
            tried = np.concatenate([vector, rng.integers(0, X.shape[1], 2)])
            new_kappa, new_labels = self._cluster(X[:, tried], rng)
            if new_kappa < kappa:
                vector, kappa, labels, failures = tried, new_kappa, new_labels, 0
            else:
                failures += 1
        return labels

    def _usable_draw(self, X, rng):
        while True:
            vector = rng.integers(0, X.shape[1], 2)
            if len(np.unique(X[:, vector], axis=0)) >= self.n_clusters:
                return vector

    def _cluster(self, part, rng):
        found = KMeans(
            self.n_clusters,
            init="random",
            n_init=20,
            max_iter=200,
            tol=0,
            random_state=int(rng.integers(2**31)),
        ).fit(part)
        total = ((part - part.mean(axis=0)) ** 2).sum()
        return found.inertia_ / max(total - found.inertia_, 1e-300), found.labels_


SECTIONS = {
    "kmeans": ("K-means, 20 restarts, one thread", bench_kmeans),
    "forest": ("A whole forest with the paper's settings, T = 100, one thread", bench_forest),
    "threads": ("Two threads against one", bench_threads),
    "import": ("Import and first fit", bench_import),
}
HEAD = f"""\
# Speed

Written by `make bench TOPICS=speed`. Both sides run on the same data in one session; the machine is shared with other
work, so read the ratios, not the times. {platform.processor() or platform.machine()}, {os.cpu_count()} cores,
instruction set in use: {_core.instruction_set()}.
"""


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the page")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--repeat", type=int, default=7)
    given = parser.parse_args(arguments)
    chosen = (SECTIONS[name] for name in given.only)
    measure(given.out / "speed.md", HEAD, {title: functools.partial(lines, given.repeat) for title, lines in chosen})
