"""Compare the GPU back end with the CPU and with a K-means loop in torch; needs an NVIDIA GPU and CuPy.

`--only small-fits` are fits that reach every kernel, small enough for compute-sanitizer.
"""

import time

STARTED = time.perf_counter()

import argparse
import csv
import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import cupy
import joblib
import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score

from benchmarks.pages import RESULTS, ROOT, stamp
from clusterforests import ClusterForest, estimator
from clusterforests._utils.memory import DeviceLimits, SizeLimits
from clusterforests.backends import CpuBackend
from clusterforests.consensus.methods import ConsensusGraph
from clusterforests.gpu import flat_trees as gpu_trees
from clusterforests.gpu import kernels as gpu_kernels
from clusterforests.gpu import reader as gpu
from clusterforests.rows.sampled import LocalBlocks, SampledRows
from clusterforests.table.row_sources import ArraySource, TableScan, large_numeric_table
from paper.datasets import UCI_NAMES, load_uci

SECTIONS = ("first fits", "fits", "new rows", "peers", "host", "stage", "counters", "labels", "small")
COLUMNS, GROUPS = 20, 5
PAPER = {"n_estimators": 100, "n_base_clusters": GROUPS, "n_init": 20}
LANES_OF_SM = 128  # float32 additions or multiplications that a multiprocessor starts in a cycle
BYTES_OF_SM = 128  # that a multiprocessor reads from its memory in a cycle
SETTINGS = {"defaults": {}, "100 trees of 5 clusters from 20 starts": PAPER}
COUNTERS = {
    "instructions issued": "sm__issue_active.avg.pct_of_peak_sustained_elapsed",
    "float32 units": "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "tensor cores": "sm__inst_executed_pipe_tensor_op_imma.avg.pct_of_peak_sustained_elapsed",
    "level 1 cache": "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "level 2 cache": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "memory": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
}


def make_table(n, seed=0):
    """Five groups that differ in 8 of 20 columns, float32, on the GPU."""
    rng = cupy.random.default_rng(seed)
    X = rng.standard_normal((n, COLUMNS), dtype=cupy.float32)
    centers = 3 * rng.standard_normal((GROUPS, 8), dtype=cupy.float32)
    for start, groups in draw_groups(n, seed):
        X[start : start + len(groups), :8] += centers[groups]
    return X


def draw_groups(n, seed=0):
    rng = cupy.random.default_rng(seed + 1)
    for start in range(0, n, 10**7):
        yield start, rng.integers(0, GROUPS, min(10**7, n - start))


def make_truth(n, seed=0):
    """The groups of the rows of `make_table`."""
    return np.concatenate([cupy.asnumpy(groups).astype(np.int8) for _, groups in draw_groups(n, seed)])


def forest(backend="auto", **settings):
    return ClusterForest(GROUPS, random_state=0, n_jobs=-1, device=backend, **settings)


def head(say, *names):
    say(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")


def seconds(work):
    cupy.cuda.Device().synchronize()
    start = time.perf_counter()
    result = work()
    cupy.cuda.Device().synchronize()
    return time.perf_counter() - start, result


class Stages:
    """Wall-clock time of the stages of a fit, and time of each kernel on the GPU."""

    def __init__(self):
        self.walls, self.events = {}, []
        for name in ("sample", "grow", "nodes"):
            self._time(SampledRows, name)
        self._time(estimator, "plan_growth")
        self._time(ConsensusGraph, "cut")
        label = gpu.DeviceReader.label

        def kept(rows, trees):
            self.rows, self.trees = rows, trees
            return label(rows, trees)

        gpu.DeviceReader.label = kept
        launch = gpu_kernels.Kernels.launch

        def recorded(kernels, name, *arguments, **more):
            events = cupy.cuda.Event(), cupy.cuda.Event()
            events[0].record()
            launch(kernels, name, *arguments, **more)
            events[1].record()
            self.events.append((name, events))

        gpu_kernels.Kernels.launch = recorded

    def _time(self, owner, name):
        work = getattr(owner, name)

        def timed(*arguments):
            start = time.perf_counter()
            found = work(*arguments)
            self.walls[name] = time.perf_counter() - start
            return found

        setattr(owner, name, timed)

    def clear(self):
        self.walls.clear()
        self.events.clear()

    def kernels(self):
        """Milliseconds of each kernel since the last call."""
        cupy.cuda.Device().synchronize()
        total = {}
        for name, (start, end) in self.events:
            total[name] = total.get(name, 0.0) + cupy.cuda.get_elapsed_time(start, end)
        self.events.clear()
        return total


def median_time(work, repeats=5):
    """The median after a warm-up, in seconds."""
    return statistics.median([seconds(work)[0] for _ in range(repeats + 1)][1:])


def whole_fits(sizes, stages, say):
    say("## Whole fit\n\nThe table is on the GPU: float32, 20 columns. K = 5; medians of 5. The defaults")
    say("are 200 trees of 2 to 70 clusters. Labels are made while the CPU goes on: theirs is the time of kernels.\n")
    head(
        say, "rows", "settings", "fit", "sample", "search, growth (CPU)", "nodes, cut (CPU)", "labels", "placing", "ARI"
    )
    for n in sizes:
        X, truth = make_table(n), make_truth(n)
        for name, settings in SETTINGS.items():
            took = median_time(lambda s=settings, table=X: forest(**s).fit(table))
            stages.clear()
            fitted = forest(**settings).fit(X)
            w, k = stages.walls, stages.kernels()
            cells = w["sample"], w["plan_growth"] + w["grow"], w["nodes"] + w["cut"]
            labels, placing = (
                (k[a] + k[b]) / 1e3 for a, b in (("project", "label_rows"), ("linked_rows", "tally_rows"))
            )
            parts = " | ".join(f"{part:.3f} s" for part in (*cells, labels, placing))
            score = adjusted_rand_score(truth, cupy.asnumpy(fitted.labels_))
            say(f"| {n:,} | {name} | **{took:.2f} s** | {parts} | {score:.4f} |")
            del fitted
        X = None
        cupy.get_default_memory_pool().free_all_blocks()
    say("")


def first_fits(say):
    """Each in a process of its own, with empty folders for what CuPy and the driver compile."""
    say("## First fit of a process\n\n10,000,000 x 20 on the GPU, defaults, in a new process; CuPy and the driver have")
    say("nothing compiled before. Kernels come compiled with the package (`make kernels`), or CuPy compiles them.\n")
    head(say, "kernels", "imports", "first fit", "second fit")
    for name, compiled in (("compiled before", True), ("compiled by CuPy", False)):
        times = []
        for _ in range(3 if compiled else 1):
            with tempfile.TemporaryDirectory() as folder:
                empty = {name: f"{folder}/{name}" for name in ("CUPY_CACHE_DIR", "CUDA_CACHE_PATH")}
                command = [
                    sys.executable,
                    "-m",
                    "benchmarks",
                    "gpu",
                    "--only",
                    "first",
                    *([] if compiled else ["--not-compiled"]),
                ]
                done = subprocess.run(
                    command, env=os.environ | empty, capture_output=True, text=True, check=True, cwd=ROOT
                ).stdout.split()
                times.append([float(each) for each in done[-3:]])
        say(f"| {name} | {' | '.join(f'{each:.2f} s' for each in np.median(times, axis=0))} |")
    say("")


def first_fit(imported):
    X = make_table(10**7)
    print(imported, *(seconds(lambda: forest().fit(X))[0] for _ in range(2)))


def new_rows(say):
    say("## New rows, and how sure rows are\n\n1,000,000 x 20 on the GPU, defaults; medians of 5 after a warm-up.")
    say(f"CPU: {n_cores()} threads, the same rows in memory, once.\n")
    head(say, "", "GPU", "CPU", "ratio", "largest difference")
    X = make_table(10**6)
    there, here = forest().fit(X), forest("cpu").fit(cupy.asnumpy(X))
    works = {
        "`predict`": lambda f, x: f.predict(x),
        "`predict_proba`": lambda f, x: f.predict_proba(x),
        "`transform`": lambda f, x: f.transform(x),
        "`memberships_`": lambda f, _: f.memberships_,
        "`consensus_silhouette_`": lambda f, _: f.consensus_silhouette_,
    }
    for name, work in works.items():
        took = median_time(lambda w=work: w(there, X))
        cpu, expected = seconds(lambda w=work: w(here, cupy.asnumpy(X)))
        apart = np.abs(cupy.asnumpy(work(there, X)) - expected).max()
        say(f"| {name} | {took:.3f} s | {cpu:.2f} s | **{cpu / took:.0f}** | {apart:.0e} |")
    say("")


def peers(n, say):
    say(f"## K-means on the GPU\n\n{n:,} x 20 on the GPU, K = 5, float32; one start, as these packages offer it,")
    say("and 20 times as long; medians of 3 after a warm-up. A forest also finds which columns tell.\n")
    head(say, "", "one start", "20 starts", "ARI, lowest and highest of 5 seeds")
    X, truth = make_table(n), make_truth(n)
    table = torch.from_dlpack(X)
    for name, fit in peer_fits(table).items():
        try:
            took = median_time(lambda f=fit: f(0), 3)
            scores = [adjusted_rand_score(truth, np.asarray(fit(seed).cpu())) for seed in range(5)]
            say(f"| {name} | {took:.3f} s | {20 * took:.2f} s | {min(scores):.3f}, {max(scores):.3f} |")
        except Exception as error:  # a peer that does not run here is said, not left out
            say(f"| {name} | did not run: {type(error).__name__} | | |")
    took = median_time(lambda: forest().fit(X), 3)
    fits = [cupy.asnumpy(forest().set_params(random_state=seed).fit(X).labels_) for seed in range(5)]
    scores = [adjusted_rand_score(truth, labels) for labels in fits]
    say(f"| **ClusterForest, defaults** | {took:.3f} s | | {min(scores):.3f}, {max(scores):.3f} |\n")


def peer_fits(table):
    """Other K-means that take rows that are on the GPU; fastkmeans takes those of the host only."""
    fits = {}
    if importlib.util.find_spec("flash_kmeans"):
        from flash_kmeans import FlashKMeans

        def flash(seed):
            return FlashKMeans(d=COLUMNS, k=GROUPS, niter=25, seed=seed).fit_predict(table)

        fits["flash-kmeans"] = flash
    return fits


def torch_kmeans(X, jobs):
    """Assign the rows to the centres of each job, in as few calls of torch as it takes."""
    table = torch.from_dlpack(X)
    for columns, centers in jobs:
        x, c = table[:, columns], centers
        label = (x @ c.T).mul_(-2).add_((c * c).sum(1)).argmin(1)
    return label


def kmeans_stage(n, stages, say):
    X = make_table(n)
    say(f"## Labels of {n:,} rows\n\nThe nearest centre of every row in every tree. CPU: the same on all cores.")
    say("torch: a loop over the trees, with one assignment each.\n")
    head(say, "settings", "GPU, labels", "CPU, labels", "ratio", "torch loop", "ratio", "labels that differ")
    roofs, host = [], cupy.asnumpy(X)
    for name, settings in SETTINGS.items():
        fitted = forest(**settings).fit(X)
        rows, trees = stages.rows, stages.trees
        took = median_time(lambda r=rows, t=trees: r.label(t), 3)
        stages.kernels()
        labels = rows.label(trees)
        placement = fitted._predictor.placement
        rows.place(labels, placement)
        kernels = stages.kernels()
        table = large_numeric_table(ArraySource(host), TableScan(np.empty(0, np.uint64), *[np.empty(0)] * 2))
        local = LocalBlocks(table, None, CpuBackend(n_cores()))
        cpu, cpu_labels = seconds(lambda c=local, t=trees: c.label(t))
        jobs = [
            (torch.as_tensor(c % COLUMNS, device="cuda").long(), torch.as_tensor(m, device="cuda").float())
            for c, m in zip(trees.columns, trees.centers, strict=True)
            if c.max() < 2 * COLUMNS  # projected columns are no columns of X
        ]
        torch_kmeans(X, jobs[:2])
        looped = seconds(lambda j=jobs: torch_kmeans(X, j))[0] * len(trees.centers) / len(jobs)
        differ = int((cupy.asarray(cpu_labels) != labels).sum())
        say(
            f"| {name} | {1e3 * took:.0f} ms | {cpu:.2f} s | **{cpu / took:.0f}** | {looped:.2f} s | "
            f"**{looped / took:.0f}** | {differ} of {labels.size:,} |"
        )
        roofs.append((name, trees, kernels, rows.unsure / labels.size, placement))
        del labels, cpu_labels
    say("\nTrees on projected columns are left out of the loop in torch; its time is scaled to all trees.")
    roofline(n, roofs, say)


def n_cores():
    return joblib.effective_n_jobs(-1)


def roofline(n, roofs, say):
    device = cupy.cuda.Device()
    properties = cupy.cuda.runtime.getDeviceProperties(device.id)
    cycles = device.attributes["MultiProcessorCount"] * device.attributes["ClockRate"] * 1e3
    a = cupy.ones(2**29, cupy.float32)
    b = cupy.empty_like(a)
    copied = min(seconds(lambda: cupy.copyto(b, a))[0] for _ in range(5))
    bandwidth = 2 * a.nbytes / copied
    say(f"\n### Roofline\n\n{properties['name'].decode()}: {device.attributes['MultiProcessorCount']} multiprocessors,")
    say(f"{device.attributes['ClockRate'] / 1e6:.2f} GHz; a copy moves {bandwidth / 1e12:.2f} TB/s (read and written).")
    say("Times are for the kernels alone. Each kernel's work is compared with the peak rate of the chip:\n")
    say("- `project`: bytes moved. It reads a row and writes its scaled columns in float32.")
    say("- `label_rows`: float32 operations. For each row and tree, k d fused multiply-adds and 3 k comparisons.")
    say("- `linked_rows`: bytes from a block's own memory, 128 a cycle: for each row and tree, a bit for each node.\n")
    say("| settings | kernel | time | work | time at peak rate | share of peak |\n|---|---|---|---|---|---|")
    for name, trees, kernels, unsure, placement in roofs:
        used = gpu_trees.used_columns(trees)
        operations = n * sum(c.size + 3 * len(c) for c in trees.centers)
        work = {
            "project": (4 * (COLUMNS + len(used)) * n, bandwidth, "B"),
            "label_rows": (operations, cycles * LANES_OF_SM, "operations"),
            "linked_rows": (n * len(trees.centers) * len(placement.nodes) // 8, cycles * BYTES_OF_SM, "B"),
        }
        for kernel, (amount, rate, unit) in work.items():
            ideal = 1e3 * amount / rate
            say(
                f"| {name} | `{kernel}` | {kernels[kernel]:.1f} ms | {amount:.2e} {unit} | {ideal:.1f} ms | "
                f"{100 * ideal / kernels[kernel]:.0f} % |"
            )
        say(f"| {name} | labels decided in float64 | {100 * unsure:.5f} % of all labels | | | |")
    say("")


def counters(say):
    """A fit of 3,000,000 rows for each setting, of each kernel the first launch counts."""
    say("## Hardware counters\n\nPercentages of the chip's peak, measured by Nsight Compute on about a million rows.")
    say("The highest is what limits a kernel, or comes closest to limiting it.\n")
    ncu = shutil.which("ncu")
    if ncu is None:
        say("Nsight Compute is not on this machine.\n")
        return
    head(say, "settings", "kernel", *COUNTERS)
    for name in SETTINGS:
        watch = [ncu, "--csv", "--page", "raw", "--clock-control", "none", "--metrics", ",".join(COUNTERS.values())]
        some = ["-k", "regex:label_rows|project|linked_rows", "-c", "9"]
        fit = [sys.executable, "-m", "benchmarks", "gpu", "--only", "fit", "--settings", name]
        found = subprocess.run(
            [*watch, *some, *fit], capture_output=True, text=True, check=True, cwd=ROOT
        ).stdout.splitlines()
        lines = csv.DictReader(line for line in found if line.startswith('"'))
        next(lines)  # units
        firsts = {line["Kernel Name"].split("(")[0]: line for line in reversed(list(lines))}
        for kernel, line in sorted(firsts.items()):
            shares = [float(line[counter]) for counter in COUNTERS.values()]
            cells = [f"**{share:.0f} %**" if share == max(shares) else f"{share:.0f} %" for share in shares]
            say(f"| {name} | `{kernel}` | {' | '.join(cells)} |")
    say("")


def same_labels(say):
    say(
        "## The same labels as on the CPU\n\nWhole fits with seeds 0 to 2. Both sides are made to treat the "
        "table as large (`SizeLimits.large_rows` is lowered).\n"
    )
    say("| table | rows | adjusted Rand index between GPU and CPU | rows that differ |\n|---|---|---|---|")
    before = ClusterForest._limits
    ClusterForest._limits = SizeLimits(large_rows=20)
    try:
        for name in UCI_NAMES:
            try:
                data = load_uci(name, download=False)
            except FileNotFoundError:
                say(f"| {name} | not on this machine | | |")
                continue
            k, scores, differ = len(np.unique(data.target)), [], 0
            for seed in range(3):
                fits = [
                    ClusterForest(k, random_state=seed, n_jobs=-1, device=backend).fit(data.data)
                    for backend in ("cpu", "gpu")
                ]
                scores.append(adjusted_rand_score(fits[0].labels_, fits[1].labels_))
                differ += int((fits[0].labels_ != fits[1].labels_).sum())
            say(f"| {name} | {len(data.data):,} | {min(scores):.3f} (lowest of 3) | {differ} |")
    finally:
        ClusterForest._limits = before
    for n in (10**6, 10**7):
        X = make_table(n, seed=n)
        found, cpu = forest().fit(X), forest("cpu").fit(cupy.asnumpy(X))
        labels = cupy.asnumpy(found.labels_)
        score = adjusted_rand_score(cpu.labels_, labels)
        say(f"| 5 groups | {n:,} | {score:.3f} | {int((cpu.labels_ != labels).sum())} |")
        del X, found, cpu
    say("")


def small_tables(say):
    say("## Small tables\n\nTables of up to 65,536 rows are fitted on the CPU, whatever `backend` is.")
    say("Defaults, medians of 7 alternating runs.\n")
    say("| rows | backend | X | fit | relative to the CPU |\n|---|---|---|---|---|")
    for n in (500, 4999):
        X = make_table(n).astype(cupy.float64)
        ways = {("cpu", "NumPy"): cupy.asnumpy(X), ("gpu", "NumPy"): cupy.asnumpy(X), ("auto", "CuPy"): X}
        rounds = [
            [seconds(lambda b=b, t=table: forest(b).fit(t))[0] for (b, _), table in ways.items()] for _ in range(8)
        ]
        times = [statistics.median(each) for each in zip(*rounds[1:], strict=True)]
        for (backend, kind), took in zip(ways, times, strict=True):
            say(f"| {n:,} | {backend} | {kind} | {took:.3f} s | {took / times[0]:.2f} |")
    say("")


def host_table(n, say):
    X = cupy.asnumpy(make_table(n))
    fits = median_time(lambda: forest("gpu").fit(X), 3)
    before = ClusterForest._limits
    ClusterForest._limits = SizeLimits(device=DeviceLimits(spare=0.0))
    streamed = median_time(lambda: forest("gpu").fit(X), 1)
    ClusterForest._limits = before
    cpu = median_time(lambda: forest("cpu").fit(X), 1)
    say(f"## Tables in host memory\n\n{n:,} x 20, float32, defaults; the labels in all trees, 2 GB, are copied back.\n")
    say("| | fit |\n|---|---|")
    say(
        f"| copied to the GPU once | {fits:.2f} s |\n| streamed in blocks, as if the table did not fit | "
        f"{streamed:.2f} s |"
    )
    say(f"| CPU, {n_cores()} cores | {cpu:.2f} s |\n")


def small_fits():
    """Reach every kernel, with results that are those of the CPU."""
    ClusterForest._limits = SizeLimits(large_rows=1000)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3001, 7)) + 4 * rng.integers(0, 3, (3001, 1))
    weights = rng.integers(0, 3, 3001)
    for consensus in ("refined", "kway", "ncut", "average"):
        for dtype, given in ((np.float32, None), (np.float64, weights)):
            settings = {"n_estimators": 9, "consensus": consensus, "n_landmarks": 150, "random_state": 0}
            table = X.astype(dtype)
            cpu, gpu = (ClusterForest(3, device=b, **settings).fit(table, sample_weight=given) for b in ("cpu", "gpu"))
            assert (cpu.labels_ == gpu.labels_).all()
            assert gpu.chosen_params_["device"].value == "gpu"
            there = cupy.asarray(table)
            assert (cupy.asnumpy(gpu.predict(there)) == gpu.predict(table)).all()
    forest = ClusterForest(3, n_estimators=9, random_state=0).fit(there)
    for name in ("predict_proba", "transform"):
        assert (cupy.asnumpy(getattr(forest, name)(there)) == getattr(forest, name)(X)).all()
    assert cupy.asnumpy(forest.memberships_).shape == (3001, 3)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the page")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**7, 10**8])
    parser.add_argument("--not-compiled", action="store_true", help="of `--only first`: leave compiled kernels alone")
    parser.add_argument("--only", nargs="+", default=SECTIONS)
    parser.add_argument("--settings", choices=SETTINGS, default="defaults", help="of `--only fit`, for a profiler")
    options = parser.parse_args(arguments)
    if options.only == ["first"]:
        if options.not_compiled:
            gpu_kernels.compiled_for = lambda *_: None
        first_fit(time.perf_counter() - STARTED)
        return
    if options.only == ["fit"]:
        forest(**SETTINGS[options.settings]).fit(make_table(3 * 10**6))
        return
    if options.only == ["small-fits"]:
        small_fits()
        return
    lines = []

    def say(text):
        lines.append(text)
        print(text, flush=True)
        (options.out / "gpu.md").write_text("\n".join(lines).rstrip() + "\n")

    say(
        "# GPU\n\nWritten by `bash benchmarks/gpu.sh`. CPU times are from the same machine, with "
        f"{n_cores()} cores. {stamp()}\n"
    )
    stages = Stages()
    sections = {
        "first fits": lambda: first_fits(say),
        "fits": lambda: whole_fits(options.sizes, stages, say),
        "new rows": lambda: new_rows(say),
        "peers": lambda: peers(10**7, say),
        "host": lambda: host_table(10**7, say),
        "stage": lambda: kmeans_stage(10**7, stages, say),
        "counters": lambda: counters(say),
        "labels": lambda: same_labels(say),
        "small": lambda: small_tables(say),
    }
    for name in options.only:
        sections[name]()
