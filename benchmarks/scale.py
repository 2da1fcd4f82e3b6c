"""Measure time and memory of whole fits on many rows, beside other methods, and plot how time grows.

    python benchmarks/scale.py --out benchmarks/SCALE.md [--only consensus landmarks million disk wide ... | --again]
                               [--picture docs/scaling.png]

Sections that the page lacks, or that are not of the algorithm as it is now, are measured; with --only, those it names,
and with --again all.
Each is written as soon as it is measured, with its stamp, and the others stay as they are: to go on with a run that was
stopped, start it again. The picture is drawn with the section "rows".

Every fit runs in its own process, with default settings unless its row says otherwise. Its memory is the peak of that
process and includes the data. Processor seconds are those of all threads: on a busy machine, compare these.
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scale_consensus
import scale_landmarks
from scale_consensus import memory
from scale_data import gaussians, with_rare_group
from sections import Section, measure
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest

HEAD = (
    "# Benchmark: scaling to many rows\n\nWritten by `make bench`. Each section ends with what it was made with. "
    "Settings are the default ones unless a row or a section says otherwise."
)
THREADS = 2
WIDE = [(72, 7_000), (200, 60_000), (500, 450_000)]
ROWS = [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]
# Seconds printed for U-SENC (Huang et al., IEEE TKDE 2020, Table on large data), on their machine.
PUBLISHED = [
    ("Covertype", 581_012, 54, 7, 174),
    ("TB-1M", 1_000_000, 2, 2, 318),
    ("CG-10M", 10_000_000, 2, 11, 3603),
    ("Flower-20M", 20_000_000, 2, 13, 7226),
]


def forest(k):
    return ClusterForest(k, n_jobs=THREADS, random_state=0)


def fit_rows(n):
    X, truth = gaussians(n, dtype=np.float64 if n <= 1_000_000 else np.float32)
    return measured(forest(5), X, truth)


PEERS = {
    "clusterforests": lambda: forest(5),
    "scikit-learn `KMeans(5, n_init=20)`": lambda: KMeans(5, n_init=20, random_state=0),
    "scikit-learn `MiniBatchKMeans(5)`": lambda: MiniBatchKMeans(5, random_state=0),
}
if importlib.util.find_spec("sklearnex") is not None:
    PEERS["scikit-learn-intelex `KMeans(5, n_init=20)`"] = lambda: intel_kmeans()


def intel_kmeans():
    from sklearnex.cluster import KMeans as IntelKMeans

    return IntelKMeans(5, n_init=20, random_state=0)


def fit_peer(name, n):
    return measured(PEERS[name](), *gaussians(n))


def fit_disk(n, path):
    """Fit a float32 table on disk, which was written by `write_table`."""
    X = np.memmap(path, np.float32, "r", shape=(n, 20))
    return measured(forest(5), X, np.load(f"{path}.truth.npy"))


def write_table(n, path):
    X, truth = gaussians(n, dtype=np.float32)
    X.tofile(path)
    np.save(f"{path}.truth.npy", truth)
    return {}


WIDE_PEERS = {
    "clusterforests": lambda: forest(4),
    "scikit-learn `KMeans(4, n_init=20)`": lambda: KMeans(4, n_init=20, random_state=0),
}


def fit_wide(name, n, p):
    """Fit four groups that differ in a twentieth of the columns, at most 5,000."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p), dtype=np.float32)
    told = min(p // 20, 5000)
    X[:, :told] += rng.standard_normal((4, told), dtype=np.float32)[np.arange(n) % 4]
    return measured(WIDE_PEERS[name](), X, np.arange(n) % 4)


def fit_many_clusters(k):
    rng = np.random.default_rng(0)
    centers, truth = rng.uniform(0, 1, (k, 5)), rng.integers(0, k, 3000)
    return measured(forest(k), centers[truth] + rng.normal(0, 0.02, (3000, 5)), truth)


def fit_shape(n, p, k):
    X, truth = gaussians(n, k, informative=p, noise=0, spread=5.0 if p < 5 else 1.0, dtype=np.float32)
    return measured(forest(k), X, truth)


def fit_rare(n, settings, seed):
    X, truth = with_rare_group(n, seed=seed)
    labels = forest(6).set_params(random_state=seed, **settings).fit(X).labels_
    own = np.bincount(labels[truth == 5]).argmax()
    both = int(((truth == 5) & (labels == own)).sum())
    return {"recall": both / int((truth == 5).sum()), "precision": both / int((labels == own).sum())}


def predict_rows(n):
    X, _ = gaussians(n)
    new = gaussians(1000, seed=0)[0]
    model = forest(5).fit(X)
    model.predict(new)
    times = [timed(lambda: model.predict(new))[1] for _ in range(15)]
    return {"seconds": float(np.median(times)), "again": bool((model.predict(X[:1000]) == model.labels_[:1000]).all())}


WORK = {
    work.__name__: work
    for work in (
        fit_rows,
        fit_peer,
        fit_disk,
        write_table,
        fit_wide,
        fit_many_clusters,
        fit_shape,
        fit_rare,
        predict_rows,
    )
}


def measured(model, X, truth):
    """Fit, and measure time, processor time and agreement with the truth."""
    before = time.process_time()
    model, seconds = timed(lambda: model.fit(X))
    return {"seconds": seconds, "processor": time.process_time() - before, "ari": score(truth, model.labels_)}


def timed(work):
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started


def score(truth, labels):
    some = slice(None, 1_000_000)
    return adjusted_rand_score(truth[some], labels[some])


def child(name, *arguments):
    """Run the work in a fresh process; return its result and its peak memory in GB."""
    call = [sys.executable, __file__, "--child", name, json.dumps(arguments)]
    environment = {**os.environ, **{f"{v}_NUM_THREADS": str(THREADS) for v in ("OMP", "OPENBLAS", "MKL")}}
    done = subprocess.run(call, check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout.splitlines()[-1])


def run_child(name, arguments):
    found = WORK[name](*json.loads(arguments))
    found["memory"] = memory("VmHWM") / 1e9
    print(json.dumps(found))


def million_table():
    yield (
        "1,000,000 x 20: five Gaussians with centres N(0, 2.5^2) in ten features, and ten noise features. "
        f"`ClusterForest(5)` with default settings, and others, {THREADS} threads each, medians of three alternating "
        "runs. Memory is that of the process, including the data (0.16 GB).\n"
    )
    yield "| | seconds | processor seconds | memory, GB | ARI with the truth |"
    yield "|---|---|---|---|---|"
    runs = [[child("fit_peer", name, 1_000_000) for name in PEERS] for _ in range(3)]
    for name, fits in zip(PEERS, zip(*runs, strict=True), strict=True):
        yield "| {} | {:.1f} | {:.1f} | {:.2f} | {:.4f} |".format(
            name, *(np.median([fit[key] for fit in fits]) for key in ("seconds", "processor", "memory", "ari"))
        )
    ours, theirs, *_ = (np.median([fit["seconds"] for fit in fits]) for fits in zip(*runs, strict=True))
    yield f"\nRatio to scikit-learn's `KMeans`: **{ours / theirs:.2f}** (target: 0.5; under 1 GB beyond the data)."


def disk_table():
    """Alternate with a million rows. Medians leave out the first run, in which the system may bring in new memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/table"
        child("write_table", 10_000_000, path)
        runs = [(child("fit_disk", 10_000_000, path), child("fit_rows", 1_000_000)) for _ in range(3)]
    fit, small = ({key: np.median([run[key] for run in some]) for key in some[0]} for some in zip(*runs, strict=True))
    yield (
        "10,000,000 x 20 float32, 0.8 GB, as `np.memmap`: **{seconds:.1f} s** ({processor:.1f} processor seconds), "
        "{memory:.2f} GB, ARI {ari:.4f}; ".format(**fit)
        + f"{fit['seconds'] / small['seconds']:.1f} times the {small['seconds']:.1f} s of a million rows in memory "
        "(target: 8). Medians of three alternating runs."
    )


def wide_table():
    yield (
        "Four groups that differ in a twentieth of the columns, at most 5,000, by N(0, 1); the others are noise. "
        "float32. Targets: 60 s and three times the table for the last, 10 s for the last but one. "
        f"{THREADS} threads. Memory includes the table and Python.\n"
    )
    yield "| rows x columns | | seconds | processor seconds | memory, GB | times the table | ARI with the truth |"
    yield "|---|---|---|---|---|---|---|"
    row = "| {:,} x {:,} | {} | {seconds:.1f} | {processor:.1f} | {memory:.2f} | {:.1f} | {ari:.3f} |"
    for n, p in WIDE:
        for name in WIDE_PEERS:
            fit = child("fit_wide", name, n, p)
            yield row.format(n, p, name, fit["memory"] / (4 * n * p / 1e9), **fit)


def clusters_table():
    yield "3,000 x 5: Gaussians of standard deviation 0.02 around centres in the unit cube.\n"
    yield "| clusters | seconds | processor seconds | ARI with the truth |"
    yield "|---|---|---|---|"
    for k in (100, 400, 1000):
        yield "| {:,} | {seconds:.1f} | {processor:.1f} | {ari:.3f} |".format(k, **child("fit_many_clusters", k))


def rows_table(picture):
    yield f"The same data and settings with {THREADS} threads; beyond a million rows the table is float32.\n"
    yield "| rows | seconds | memory, GB | data, GB | ARI with the truth |"
    yield "|---|---|---|---|---|"
    found = []
    for n in ROWS:
        found.append(child("fit_rows", n))
        size = 20 * n * (8 if n <= 1_000_000 else 4) / 1e9
        yield "| {:,} | {seconds:.1f} | {memory:.2f} | {:.2f} | {ari:.4f} |".format(n, size, **found[-1])
    seconds = [fit["seconds"] for fit in found]
    exponent = np.polyfit(np.log(ROWS), np.log(seconds), 1)[0]
    yield (
        f"\nTime grows like the number of rows to the power **{exponent:.2f}** (least squares over the table; "
        "target: at most 1.1)."
    )
    if picture:
        draw(seconds, exponent, picture)


def draw(seconds, exponent, picture):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    ax.loglog(ROWS, seconds, "o-", color="#1f6f8b", label=f"ClusterForest, default (rows^{exponent:.2f})")
    ax.loglog(ROWS, np.array(ROWS) * seconds[0] / ROWS[0], ":", color="0.5", label="proportional to rows")
    for n, s in zip(ROWS, seconds, strict=True):
        ax.annotate(f"{s:.2g} s", (n, s), textcoords="offset points", xytext=(7, -13), color="0.25")
    ax.set(xlabel="rows (20 features, 5 clusters)", ylabel="seconds of a whole fit, 2 threads", ylim=(0.3, 100))
    ax.set_xticks([1e5, 1e6, 1e7], ["100,000", "1 million", "10 million"])
    ax.set_yticks([1, 10, 100], ["1", "10", "100"])
    ax.margins(x=0.08)
    ax.legend(frameon=False, loc="upper left")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    figure.savefig(picture, dpi=160)


def shapes_table():
    yield (
        "Huang, Wang, Wu, Lai, Kwoh: *Ultra-scalable spectral clustering and ensemble clustering*, IEEE TKDE 32 "
        "(2020). **The machines differ, and the data have the same shape but are not the same** (Gaussians in all "
        f"features, float32): compare orders of magnitude only. clusterforests uses {THREADS} threads.\n"
    )
    yield "| shape of | rows x features | clusters | U-SENC s, published | clusterforests s | memory, GB |"
    yield "|---|---|---|---|---|---|"
    for name, n, p, k, published in PUBLISHED:
        fit = child("fit_shape", n, p, k)
        yield f"| {name} | {n:,} x {p} | {k} | {published} | {fit['seconds']:.0f} | {fit['memory']:.2f} |"


def rare_table():
    yield (
        "A million rows as above and a sixth group of 0.2 % of them, like the first but 10 standard deviations away in "
        "two features. Recall is the share of the group that is in one cluster, precision the share of that cluster "
        "that is the group.\n"
    )
    yield "| settings | seed | recall | precision |"
    yield "|---|---|---|---|"
    for settings in ({"consensus": "kway"}, {}):
        text = ", ".join(f"{name}={value!r}" for name, value in settings.items()) or "all automatic"
        for seed in range(5):
            fit = child("fit_rare", 1_000_000, settings, seed)
            yield f"| {text} | {seed} | {fit['recall']:.3f} | {fit['precision']:.3f} |"


def predict_table():
    fit = child("predict_rows", 1_000_000)
    yield (
        f"1,000 new rows with a model of a million: **{1000 * fit['seconds']:.0f} ms** (median of 15; target: 100 ms). "
        f"Rows of the fitted table get the same labels again: {'yes' if fit['again'] else 'NO'}."
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--picture", type=Path)
    sections = {
        "consensus": Section("Consensus of given partitions", scale_consensus.table),
        "n_landmarks": Section("Landmarks against the exact cut", scale_landmarks.table),
        "million": Section("A million rows: a whole forest against one K-means", million_table),
        "disk": Section("Ten million rows on disk", disk_table),
        "rows": Section("From a hundred thousand to ten million rows", lambda: rows_table(arguments.picture)),
        "wide": Section("Many columns", wide_table),
        "clusters": Section("Many clusters", clusters_table),
        "shapes": Section("Comparison with the published times of U-SENC", shapes_table),
        "rare": Section("A rare group", rare_table),
        "predict": Section("Predicting new rows", predict_table),
    }
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--only", nargs="+", choices=list(sections), default=[])
    which.add_argument("--again", action="store_const", const=list(sections), dest="only", help="measure all sections")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        run_child(*arguments.child)
    else:
        measure(sections, HEAD, arguments.out, arguments.only, f"Measured on {os.cpu_count()} cores.")


if __name__ == "__main__":
    main()
