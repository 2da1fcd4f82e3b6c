"""Time and memory of whole fits on many rows, beside other methods, and how time grows.

Every fit runs in its own process, with default settings unless its row says otherwise. Its memory is the peak of that
process and includes the data. Processor seconds are those of all threads: on a busy machine, compare these.
"""

import argparse
import functools
import importlib.util
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans, MiniBatchKMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score

from benchmarks.pages import RESULTS, ROOT, measure
from clusterforests import ClusterForest, consensus_clustering
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import GraphLimits
from clusterforests.consensus.consensus_clustering import combine
from clusterforests.consensus.nodes import CutSettings

HEAD = f"""\
# Scaling to many rows

Written by `make bench TOPICS=scale`, on {os.cpu_count()} cores. Each section ends with what it was made with. Settings
are the default ones unless a row or a section says otherwise.
"""

# Tables of many rows, made block by block so that making them needs no more memory than they do.

BLOCK = 1_000_000


def gaussians(n, k=5, *, informative=10, noise=10, sizes=None, spread=2.5, dtype=np.float64, seed=0):
    """k Gaussians of unit variance with centres N(0, spread^2) in some features; the others are noise."""
    rng = np.random.default_rng(seed)
    centers = np.zeros((k, informative + noise))
    centers[:, :informative] = rng.normal(0, spread, (k, informative))
    shares = np.full(k, 1 / k) if sizes is None else np.asarray(sizes) / np.sum(sizes)
    truth = rng.choice(k, n, p=shares).astype(np.int8)
    X = np.empty((n, informative + noise), dtype)
    for start in range(0, n, BLOCK):
        some = slice(start, start + BLOCK)
        X[some] = centers[truth[some]] + rng.normal(size=(len(truth[some]), X.shape[1]))
    return X, truth


def with_rare_group(n, share=0.002, away=10.0, seed=0):
    """Five Gaussians, and a rare group like the first of them but for two features in which it is far away."""
    X, truth = gaussians(n, seed=seed)
    rng = np.random.default_rng([seed, 1])
    rare = rng.choice(n, round(share * n), replace=False)
    first = np.flatnonzero(truth == 0)
    X[rare] = X[rng.choice(first, len(rare))] + rng.normal(0, 1e-3, (len(rare), X.shape[1]))
    X[np.ix_(rare, [3, 14])] += away  # one of the features that tell the others apart, and one of noise
    truth[rare] = 5
    return X, truth


def unequal(k, ratio):
    """Sizes in geometric progression, the largest `ratio` times the smallest."""
    return np.geomspace(ratio, 1, k)


# What runs in a process of its own.

THREADS = 2
WIDE = [(72, 7_000), (200, 60_000), (500, 450_000)]
MANY, ON_DISK = 1_000_000, 10_000_000
ROWS = [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]
MANY_CLUSTERS = (100, 400, 1000)
RARE_SEEDS = range(5)
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


def memory(field):
    """Bytes that the system gave this process, now (VmRSS) or at most (VmHWM)."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return int(next(line for line in lines if line.startswith(field)).split()[1]) * 1024


def fit_cut(side, method, path, out):
    """Cut the graph of partitions; memory is what the cut needs beyond what a small one needed."""
    partitions = np.load(path)
    SIDES[side](np.ascontiguousarray(partitions[:, :200]), method)
    before = memory("VmRSS")
    times = []
    for _ in range(CALLS if side == "ours" and partitions.shape[1] <= 10_000 else 1):
        started, worked = time.perf_counter(), time.process_time()
        labels = SIDES[side](partitions, method)
        times.append((time.perf_counter() - started, time.process_time() - worked))
    np.save(out, labels)
    seconds, work = np.median(times, axis=0)
    return {"seconds": seconds, "work": work, "used": memory("VmHWM") - before}


# The consensus of given partitions, against NumPy and scikit-learn.

GROUPS, TREES = 5, 100
CALLS = 3  # of ours in a process: the peer's half minute needs no repeating


def overlapping(n, seed):
    """Five that overlap in ten features, beside ten of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 20))
    X[:, :10] += rng.normal(size=(GROUPS, 10))[rng.integers(0, GROUPS, n)]
    return X


def kmeans_partitions(n, seed=0):
    """K-means on four features at random and a thousand rows, all rows to the nearest centre: signatures differ."""
    X = overlapping(n, seed)
    rng = np.random.default_rng(seed)
    labels = np.empty((TREES, n), dtype=np.int32)
    for i in range(TREES):
        features = rng.choice(20, 4, replace=False)
        rows = rng.choice(n, min(n, 1000), replace=False)
        solved = KMeans(GROUPS, n_init=1, random_state=i).fit(X[np.ix_(rows, features)])
        labels[i] = solved.predict(X[:, features])
    return labels


def forest_partitions(n, seed=0):
    return (
        ClusterForest(GROUPS, n_estimators=TREES, consensus="ncut", random_state=seed)
        .fit(overlapping(n, seed))
        .partitions_
    )


def ours(partitions, method):
    return consensus_clustering(partitions, GROUPS, method=method, affinity_threshold=0.4, n_landmarks=None)


def matrix(partitions, method):
    """The same cut of W as a matrix of doubles."""
    limits = GraphLimits(matrix_nodes=partitions.shape[1])
    settings = CutSettings(GROUPS, method, 0.4, "auto", None)
    return combine(CpuBackend(), partitions, settings, limits=limits).labels


def sklearn(partitions, method):
    """P by products of one-hot matrices in single precision, the fastest way with NumPy; the same W."""
    one_hot = np.concatenate([(labels[:, None] == np.arange(labels.max() + 1)) for labels in partitions], axis=1)
    one_hot = one_hot.astype(np.float32)
    W = one_hot @ one_hot.T
    W /= len(partitions)
    W[W < 0.4] = 0
    W *= 0.1 * len(partitions)
    np.exp(W, out=W)
    return SpectralClustering(GROUPS, affinity="precomputed", random_state=0).fit_predict(W)


SIDES = {"ours": ours, "matrix": matrix, "sklearn": sklearn}


WORKS = (
    fit_rows,
    fit_peer,
    fit_disk,
    write_table,
    fit_wide,
    fit_many_clusters,
    fit_shape,
    fit_rare,
    predict_rows,
    fit_cut,
)


def child(work, *arguments, threads=THREADS):
    """Run the work in a fresh process; return its result and its peak memory in GB."""
    call = [sys.executable, "-m", "benchmarks", "scale", "--child", work.__name__, json.dumps(arguments)]
    environment = {**os.environ, **{f"{v}_NUM_THREADS": str(threads) for v in ("OMP", "OPENBLAS", "MKL")}}
    done = subprocess.run(call, check=True, capture_output=True, text=True, env=environment, cwd=ROOT)
    return json.loads(done.stdout.splitlines()[-1])


def run_child(name, arguments):
    found = {work.__name__: work for work in WORKS}[name](*json.loads(arguments))
    found["memory"] = memory("VmHWM") / 1e9
    print(json.dumps(found))


def cut_in_process(side, method, path, repeat=1):
    """Medians over processes of one thread: seconds, seconds of processor time and memory; and the labels."""
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/labels.npy"
        runs = [child(fit_cut, side, method, str(path), out, threads=1) for _ in range(repeat)]
        return *(float(np.median([run[name] for run in runs])) for name in ("seconds", "work", "used")), np.load(out)


def versus(n, source, path, repeat):
    """Rows of the table: each method against scikit-learn, and against the same cut of a matrix."""
    peer_seconds, peer_work, peer_memory, _ = cut_in_process("sklearn", "", path)
    distinct = len(np.unique(np.load(path), axis=1).T)
    for method in ("ncut", "kway"):
        seconds, work, used, labels = cut_in_process("ours", method, path, repeat)
        exact = cut_in_process("matrix", method, path)[-1]
        yield (
            f"| {n:,} | {source} ({distinct:,}) | {method} | {seconds:.2f} ({work:.2f}) "
            f"| {peer_seconds:.1f} ({peer_work:.1f}) | {peer_seconds / seconds:.0f} ({peer_work / work:.0f}) "
            f"| {used / 1e6:.0f} | {peer_memory / 1e6:.0f} | {peer_memory / max(used, 1):.0f} "
            f"| {adjusted_rand_score(exact, labels):.4f} |"
        )


def large(n, path):
    seconds, work, used, _ = cut_in_process("ours", "ncut", path)
    distinct = len(np.unique(np.load(path), axis=1).T)
    return f"| {n:,} | K-means ({distinct:,}) | ncut | {seconds:.1f} ({work:.1f}) | | | {used / 1e6:.0f} | | | |"


def consensus_table(repeat=3, n=10_000, large_n=50_000):
    """The lines of a markdown table, each as soon as it is known."""
    yield (
        f"The exact `consensus_clustering(partitions, {GROUPS}, n_landmarks=None)` of T = {TREES} partitions, against "
        "P computed in NumPy as a one-hot product, and scikit-learn's `SpectralClustering(affinity='precomputed')`, "
        'the counterpart of "kway". One thread each, CPU seconds in brackets. The partitions come from K-means on four '
        "random features, and from a forest; hardly any two rows have the same labels. Targets: 40 times as fast, a "
        "tenth of the memory, an ARI of 0.99 with the cut of a matrix; 50,000 rows within 1,000 MB.\n"
    )
    yield (
        "| rows | partitions (signatures) | method | s | scikit-learn, s | ratio | MB | scikit-learn, MB | ratio "
        "| ARI with the cut of a matrix |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "partitions.npy"
        for source, make in (("K-means", kmeans_partitions), ("forest", forest_partitions)):
            np.save(path, make(n))
            yield from versus(n, source, path, repeat)
        np.save(path, kmeans_partitions(large_n))
        yield large(large_n, path)


# Landmarks against exact cuts.

CUT_ROWS = 10_000
SEED_PAIRS = 5
# (clusters, largest to smallest, spread of the centres): two to twenty clusters, well apart and overlapping
OVERLAPS = [
    (2, 1, 0.7),
    (2, 50, 2.5),
    (3, 50, 2.5),
    (5, 1, 1.0),
    (5, 50, 2.5),
    (10, 1, 1.5),
    (10, 50, 2.5),
    (20, 1, 2.5),
]


def compare(k, ratio, spread):
    """Mean ARI of landmarks with the exact cut, of exact cuts with other seeds, and of all with the truth."""
    X, truth = gaussians(CUT_ROWS, k, sizes=unequal(k, ratio), spread=spread, seed=k + ratio)
    exact, some = [], []
    for seed in range(SEED_PAIRS + 1):
        forest = ClusterForest(k, n_estimators=100, n_landmarks=None, n_jobs=-1, random_state=seed)
        exact.append(forest.fit(X).labels_)
        if seed < SEED_PAIRS:
            some.append(forest.set_params(n_landmarks="auto").fit(X).labels_)
            assert forest.chosen_params_["n_landmarks"].value is not None, "nothing to compare: the cut was exact"
    with_exact = [adjusted_rand_score(a, b) for a, b in zip(exact, some, strict=False)]
    other_seed = [adjusted_rand_score(a, b) for a, b in itertools.pairwise(exact)]
    hits = [np.mean([adjusted_rand_score(truth, labels) for labels in fits]) for fits in (exact[:SEED_PAIRS], some)]
    return np.mean(with_exact), np.mean(other_seed), *hits


def landmarks_table():
    yield (
        f"{CUT_ROWS:,} rows, 10 informative and 10 noise features, default settings with 100 trees. Adjusted Rand "
        f"index, as means over {SEED_PAIRS} seeds: between 2,000 landmarks and the exact cut of the same forest, "
        "between two exact fits with different seeds, and between each of these and the truth. Target: on average, the "
        "first at most 0.01 below the second.\n"
    )
    yield "| clusters | largest : smallest | landmarks, exact | two seeds | exact, truth | landmarks, truth |"
    yield "|---|---|---|---|---|---|"
    found = []
    for k, ratio, spread in OVERLAPS:
        found.append(compare(k, ratio, spread))
        yield f"| {k} | {ratio} : 1 | " + " | ".join(f"{value:.3f}" for value in found[-1]) + " |"
    yield "| mean | | " + " | ".join(f"**{value:.3f}**" for value in np.mean(found, axis=0)) + " |"


# Whole fits.


def million_table():
    yield (
        "1,000,000 x 20: five Gaussians with centres N(0, 2.5^2) in ten features, and ten noise features. "
        f"`ClusterForest(5)` with default settings, and others, {THREADS} threads each, medians of three alternating "
        "runs. Memory is that of the process, including the data (0.16 GB).\n"
    )
    yield "| | seconds | processor seconds | memory, GB | ARI with the truth |"
    yield "|---|---|---|---|---|"
    runs = [[child(fit_peer, name, MANY) for name in PEERS] for _ in range(3)]
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
        child(write_table, ON_DISK, path)
        runs = [(child(fit_disk, ON_DISK, path), child(fit_rows, MANY)) for _ in range(3)]
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
            fit = child(fit_wide, name, n, p)
            yield row.format(n, p, name, fit["memory"] / (4 * n * p / 1e9), **fit)


def clusters_table():
    yield "3,000 x 5: Gaussians of standard deviation 0.02 around centres in the unit cube.\n"
    yield "| clusters | seconds | processor seconds | ARI with the truth |"
    yield "|---|---|---|---|"
    for k in MANY_CLUSTERS:
        yield "| {:,} | {seconds:.1f} | {processor:.1f} | {ari:.3f} |".format(k, **child(fit_many_clusters, k))


def rows_table(picture):
    yield f"The same data and settings with {THREADS} threads; beyond a million rows the table is float32.\n"
    yield "| rows | seconds | memory, GB | data, GB | ARI with the truth |"
    yield "|---|---|---|---|---|"
    found = []
    for n in ROWS:
        found.append(child(fit_rows, n))
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
        fit = child(fit_shape, n, p, k)
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
        for seed in RARE_SEEDS:
            fit = child(fit_rare, MANY, settings, seed)
            yield f"| {text} | {seed} | {fit['recall']:.3f} | {fit['precision']:.3f} |"


def predict_table():
    fit = child(predict_rows, MANY)
    yield (
        f"1,000 new rows with a model of a million: **{1000 * fit['seconds']:.0f} ms** (median of 15; target: 100 ms). "
        f"Rows of the fitted table get the same labels again: {'yes' if fit['again'] else 'NO'}."
    )


def main(arguments):
    sections = {
        "consensus": ("Consensus of given partitions", consensus_table),
        "landmarks": ("Landmarks against the exact cut", landmarks_table),
        "million": ("A million rows: a whole forest against one K-means", million_table),
        "disk": ("Ten million rows on disk", disk_table),
        "rows": ("From a hundred thousand to ten million rows", rows_table),
        "wide": ("Many columns", wide_table),
        "clusters": ("Many clusters", clusters_table),
        "shapes": ("Comparison with the published times of U-SENC", shapes_table),
        "rare": ("A rare group", rare_table),
        "predict": ("Predicting new rows", predict_table),
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the page")
    parser.add_argument("--only", nargs="+", choices=list(sections), default=list(sections))
    parser.add_argument(
        "--picture", type=Path, help="file for a picture of the section `rows`, such as docs/scaling.png"
    )
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.child:
        run_child(*given.child)
        return
    sections["rows"] = (sections["rows"][0], functools.partial(rows_table, given.picture))
    measure(given.out / "scale.md", HEAD, dict(sections[name] for name in given.only))
