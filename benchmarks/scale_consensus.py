"""The consensus of given partitions at scale: seconds and memory, against NumPy and scikit-learn in one run.

    python benchmarks/scale_consensus.py [--only versus large] [--repeat 3]

Each call runs in a process of its own: its memory is the peak of what the system gave it, less what it had after the
partitions were read and a small call was made. One thread on both sides.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported: one thread for the peer too

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest, affinity, consensus

K = 5
T = 100


def gaussians(n, seed):
    """Five that overlap in ten features, beside ten of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 20))
    X[:, :10] += rng.normal(size=(K, 10))[rng.integers(0, K, n)]
    return X


def kmeans_partitions(n, seed=0):
    """K-means on four features at random and a thousand rows, all rows to the nearest centre: signatures differ."""
    X = gaussians(n, seed)
    rng = np.random.default_rng(seed)
    labels = np.empty((T, n), dtype=np.int32)
    for i in range(T):
        features = rng.choice(20, 4, replace=False)
        rows = rng.choice(n, min(n, 1000), replace=False)
        solved = KMeans(K, n_init=1, random_state=i).fit(X[np.ix_(rows, features)])
        labels[i] = solved.predict(X[:, features])
    return labels


def forest_partitions(n, seed=0):
    return ClusterForest(K, n_estimators=T, consensus="ncut", random_state=seed).fit(gaussians(n, seed)).partitions_


def ours(partitions, method):
    return consensus(partitions, K, method=method)


def matrix(partitions, method):
    """The same cut of W as a matrix of doubles."""
    affinity.DENSE_NODES = partitions.shape[1]
    return consensus(partitions, K, method=method)


def sklearn(partitions, method):
    """P by products of one-hot matrices in single precision, the fastest way with NumPy; the same W."""
    one_hot = np.concatenate([(labels[:, None] == np.arange(labels.max() + 1)) for labels in partitions], axis=1)
    one_hot = one_hot.astype(np.float32)
    W = one_hot @ one_hot.T
    W /= len(partitions)
    W[W < 0.4] = 0
    W *= 0.1 * len(partitions)
    np.exp(W, out=W)
    return SpectralClustering(K, affinity="precomputed", random_state=0).fit_predict(W)


SIDES = {"ours": ours, "matrix": matrix, "sklearn": sklearn}


def memory(field):
    """Bytes that the system gave this process, now (VmRSS) or at most (VmHWM)."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return int(next(line for line in lines if line.startswith(field)).split()[1]) * 1024


def child(side, method, path, out):
    partitions = np.load(path)
    SIDES[side](np.ascontiguousarray(partitions[:, :200]), method)
    before = memory("VmRSS")
    started = time.perf_counter()
    labels = SIDES[side](partitions, method)
    seconds = time.perf_counter() - started
    np.save(out, labels)
    print(json.dumps({"seconds": seconds, "memory": memory("VmHWM") - before}))


def measured(side, method, path, repeat=1):
    """Medians of seconds and memory over processes, and the labels."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "labels.npy"
        command = [sys.executable, __file__, "--child", side, method, str(path), str(out)]
        runs = [
            json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for _ in range(repeat)
        ]
        seconds, used = (float(np.median([run[name] for run in runs])) for name in ("seconds", "memory"))
        return seconds, used, np.load(out)


def versus(n, source, path, repeat):
    """Rows of the table: each method against scikit-learn, and against the same cut of a matrix."""
    rows = []
    peer_seconds, peer_memory, _ = measured("sklearn", "", path)
    distinct = len(np.unique(np.load(path), axis=1).T)
    for method in ("ncut", "kway"):
        seconds, used, labels = measured("ours", method, path, repeat)
        _, _, exact = measured("matrix", method, path)
        rows.append(
            f"| {n:,} | {source} ({distinct:,}) | {method} | {seconds:.2f} | {peer_seconds:.1f} "
            f"| {peer_seconds / seconds:.0f} | {used / 1e6:.0f} | {peer_memory / 1e6:.0f} | {peer_memory / used:.0f} "
            f"| {adjusted_rand_score(exact, labels):.4f} |"
        )
    return rows


def large(n, path):
    seconds, used, _ = measured("ours", "ncut", path)
    distinct = len(np.unique(np.load(path), axis=1).T)
    return f"| {n:,} | K-means ({distinct:,}) | ncut | {seconds:.1f} | | | {used / 1e6:.0f} | | | |"


def table(only=("versus", "large"), repeat=3):
    """A markdown table."""
    lines = [
        "| rows | partitions (signatures) | method | s | scikit-learn, s | ratio | MB | scikit-learn, MB | ratio "
        "| ARI with the cut of a matrix |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "partitions.npy"
        if "versus" in only:
            for source, make in (("K-means", kmeans_partitions), ("forest", forest_partitions)):
                np.save(path, make(10_000))
                lines += versus(10_000, source, path, repeat)
        if "large" in only:
            np.save(path, kmeans_partitions(50_000))
            lines.append(large(50_000, path))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=["versus", "large"], default=["versus", "large"])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child)
    else:
        print(table(options.only, options.repeat))


if __name__ == "__main__":
    main()
