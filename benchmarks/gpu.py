"""Compare the GPU back end with the CPU and with a K-means loop in torch; needs an NVIDIA GPU and CuPy.

python benchmarks/gpu.py --out benchmarks/GPU.md
python benchmarks/gpu.py --only stage --stage-rows 100000000  # a part of it
"""

import argparse
import csv
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import cupy
import joblib
import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score
from stamp import stamp

from clusterforests import ClusterForest
from clusterforests._base.size_limits import DeviceLimits, SizeLimits
from clusterforests.backends import CpuBackend
from clusterforests.datasets import UCI_NAMES, load_uci
from clusterforests.rows.gpu import flat_trees as gpu_trees
from clusterforests.rows.gpu import kernels as gpu_kernels
from clusterforests.rows.gpu import reader as gpu
from clusterforests.rows.local_blocks import LocalBlocks
from clusterforests.tables.row_blocks import TableScan, large_numeric_table
from clusterforests.tables.row_sources import ArraySource

COLUMNS, GROUPS, TREES, RESTARTS = 20, 5, 100, 20
PAPER = {"base_clusters": GROUPS, "n_init": RESTARTS}
LANES_OF_SM = 128  # float32 additions or multiplications that a multiprocessor starts in a cycle
SETTINGS = {"K = 5, 20 starts": PAPER, "defaults": {}}
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
    for start in range(0, n, 10**7):
        part = X[start : start + 10**7]
        part[:, :8] += centers[rng.integers(0, GROUPS, len(part))]
    return X


def forest(backend="auto", **settings):
    return ClusterForest(GROUPS, n_estimators=TREES, random_state=0, n_jobs=-1, backend=backend, **settings)


def head(say, *names):
    say(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")


def seconds(work):
    cupy.cuda.Device().synchronize()
    start = time.perf_counter()
    result = work()
    cupy.cuda.Device().synchronize()
    return time.perf_counter() - start, result


class Stages:
    """Wall-clock time of the methods of `DeviceReader`, and time of each kernel on the GPU."""

    def __init__(self):
        self.walls, self.events, self.unsure = {}, [], 0
        for name in ("draw", "grow", "label", "settle"):
            setattr(gpu.DeviceReader, name, self._timed(name, getattr(gpu.DeviceReader, name)))
        launch = gpu_kernels.Kernels.launch

        def recorded(kernels, name, *arguments, **more):
            events = cupy.cuda.Event(), cupy.cuda.Event()
            events[0].record()
            launch(kernels, name, *arguments, **more)
            events[1].record()
            self.events.append((name, events))

        gpu_kernels.Kernels.launch = recorded

    def _timed(self, name, method):
        def timed(rows, *arguments):
            self.walls[name], result = seconds(lambda: method(rows, *arguments))
            if name == "label":
                self.rows, self.trees = rows, arguments[0]
            return result

        return timed

    def kernels(self):
        """Milliseconds of each kernel since the last call."""
        total = {}
        for name, (start, end) in self.events:
            total[name] = total.get(name, 0.0) + cupy.cuda.get_elapsed_time(start, end)
        self.events.clear()
        return total


def whole_fits(sizes, stages, say):
    say("## Whole fit\n\nThe table is on the GPU: float32, 20 columns. K = 5, T = 100. Medians of 3 after a warm-up.")
    say("Settings: `base_clusters=5, n_init=20`, and the defaults (trees of 5 to 70 clusters, one start).\n")
    head(say, "rows", "settings", "fit", "sample", "growth (CPU)", "labels", "the rest")
    for n in sizes:
        X = make_table(n)
        for name, settings in SETTINGS.items():
            times = []
            for _ in range(4):
                took, found = seconds(lambda s=settings, table=X: forest(**s).fit(table))
                times.append(took)
                del found
            w, took = stages.walls, statistics.median(times[1:])
            rest = took - sum(w[k] for k in ("draw", "grow", "label"))
            cells = " | ".join(f"{w[k]:.3f} s" for k in ("draw", "grow", "label"))
            say(f"| {n:,} | {name} | **{took:.2f} s** | {cells} | {rest:.2f} s |")
        X = None
        cupy.get_default_memory_pool().free_all_blocks()
    say("\nThe rest: hashing all rows, scaling, landmarks, three cuts (CPU), assigning all rows to clusters.\n")


def torch_kmeans(X, jobs):
    """Assign the rows to the centres of each job, in as few calls of torch as it takes."""
    table = torch.from_dlpack(X)
    for columns, centers in jobs:
        x, c = table[:, columns], centers
        label = (x @ c.T).mul_(-2).add_((c * c).sum(1)).argmin(1)
    return label


def kmeans_stage(n, stages, say):
    X = make_table(n)
    host = cupy.asnumpy(X)
    say(f"## Labels of {n:,} rows\n\nThe nearest centre of every row in 100 trees.")
    say("CPU: the same on all cores. torch: a loop over the trees, with one assignment each.\n")
    head(say, "settings", "GPU", "CPU", "ratio", "torch loop", "ratio", "labels that differ")
    roofs = []
    for name, settings in list(SETTINGS.items())[: 2 if n <= 10**7 else 1]:
        forest(**settings).fit(X)
        rows, trees = stages.rows, stages.trees
        stages.kernels()
        times = []
        for _ in range(3):
            rows.ladders, labels = None, None  # made anew, as in a fit
            took, labels = seconds(lambda r=rows, t=trees: r.label(t))
            times.append(took)
        took = statistics.median(times)
        kernels = {k: v / 3 for k, v in stages.kernels().items()}
        table = large_numeric_table(ArraySource(host), TableScan(np.empty(0, np.uint64), *[np.empty(0)] * 2))
        local = LocalBlocks(table, None, CpuBackend(n_cores()))
        cpu, cpu_labels = seconds(lambda c=local, t=trees: c.label(t))
        jobs = [
            (torch.as_tensor(c % COLUMNS, device="cuda").long(), torch.as_tensor(m, device="cuda").float())
            for c, m in zip(trees.columns, trees.centers, strict=True)
        ]
        torch_kmeans(X, jobs[:2])
        looped, _ = seconds(lambda j=jobs: torch_kmeans(X, j))
        differ = int((cupy.asarray(cpu_labels) != labels).sum())
        say(
            f"| {name} | {1e3 * took:.0f} ms | {cpu:.2f} s | **{cpu / took:.0f}** | {looped:.2f} s | "
            f"**{looped / took:.0f}** | {differ} of {labels.size:,} |"
        )
        roofs.append((name, trees, kernels, rows.unsure / labels.size))
        del labels, cpu_labels
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
    say("- `label_rows`: float32 operations. For each row and tree, k d fused multiply-adds and 3 k comparisons.\n")
    say("| settings | kernel | time | work | time at peak rate | share of peak |\n|---|---|---|---|---|---|")
    for name, trees, kernels, unsure in roofs:
        used = gpu_trees.used_columns(trees)
        operations = n * sum(c.size + 3 * len(c) for c in trees.centers)
        work = {
            "project": (4 * (COLUMNS + len(used)) * n, bandwidth, "B"),
            "label_rows": (operations, cycles * LANES_OF_SM, "operations"),
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
    """A fit of 3,000,000 rows for each setting, of which Nsight Compute watches the second piece of rows."""
    say("## Hardware counters\n\nPercentages of the chip's peak, measured by Nsight Compute on about a million rows.")
    say("The highest is what limits a kernel, or comes closest to limiting it.\n")
    ncu = shutil.which("ncu")
    if ncu is None:
        say("Nsight Compute is not on this machine.\n")
        return
    head(say, "settings", "kernel", *COUNTERS)
    for name in SETTINGS:
        watch = [ncu, "--csv", "--page", "raw", "--clock-control", "none", "--metrics", ",".join(COUNTERS.values())]
        some = ["-k", "regex:label_rows|project", "-s", "2", "-c", "2"]
        fit = [sys.executable, __file__, "--only", "fit", "--settings", name]
        found = subprocess.run([*watch, *some, *fit], capture_output=True, text=True, check=True).stdout.splitlines()
        lines = csv.DictReader(line for line in found if line.startswith('"'))
        next(lines)  # units
        for line in lines:
            shares = [float(line[counter]) for counter in COUNTERS.values()]
            cells = [f"**{share:.0f} %**" if share == max(shares) else f"{share:.0f} %" for share in shares]
            say(f"| {name} | `{line['Kernel Name'].split('(')[0]}` | {' | '.join(cells)} |")
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
                    ClusterForest(k, n_estimators=TREES, random_state=seed, n_jobs=-1, backend=backend).fit(data.data)
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
    say("T = 100, medians of 7 alternating runs.\n")
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
    forest("gpu", **PAPER).fit(X)
    fits = seconds(lambda: forest("gpu", **PAPER).fit(X))[0]
    before = ClusterForest._limits
    ClusterForest._limits = SizeLimits(device=DeviceLimits(spare=0.0))
    streamed = seconds(lambda: forest("gpu", **PAPER).fit(X))[0]
    ClusterForest._limits = before
    cpu = seconds(lambda: forest("cpu", **PAPER).fit(X))[0]
    say(
        f"## Tables in host memory\n\n{n:,} x 20, float32, K = 5, 20 starts; the labels in all trees are copied back.\n"
    )
    say("| | fit |\n|---|---|")
    say(
        f"| copied to the GPU once | {fits:.2f} s |\n| streamed in blocks, as if the table did not fit | "
        f"{streamed:.2f} s |"
    )
    say(f"| CPU, {n_cores()} cores | {cpu:.2f} s |\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**7, 10**8])
    parser.add_argument("--stage-rows", type=int, nargs="+", default=[10**7, 10**8])
    parser.add_argument("--only", nargs="+", default=["fits", "stage", "counters", "host", "labels", "small"])
    parser.add_argument("--settings", choices=SETTINGS, default="defaults", help="of `--only fit`, for a profiler")
    options = parser.parse_args()
    if options.only == ["fit"]:
        forest(**SETTINGS[options.settings]).fit(make_table(3 * 10**6))
        return
    lines = []

    def say(text):
        lines.append(text)
        print(text, flush=True)
        if options.out is not None:
            options.out.write_text("\n".join(lines).rstrip() + "\n")

    say(
        "# Benchmark: GPU\n\nWritten by `bash benchmarks/gpu.sh`. CPU times are from the same machine, with "
        f"{n_cores()} cores. {stamp()}\n"
    )
    stages = Stages()
    sections = {
        "fits": lambda: whole_fits(options.sizes, stages, say),
        "stage": lambda: [kmeans_stage(n, stages, say) for n in options.stage_rows],
        "counters": lambda: counters(say),
        "host": lambda: host_table(10**7, say),
        "labels": lambda: same_labels(say),
        "small": lambda: small_tables(say),
    }
    for name in options.only:
        sections[name]()


if __name__ == "__main__":
    sys.exit(main())
