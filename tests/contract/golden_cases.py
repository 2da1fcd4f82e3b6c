"""Fits whose results are recorded in golden/results.json, which `make golden` writes anew.

The tables are made from integers, so that they are the same everywhere.
"""

import hashlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np

from clusterforests import ClusterForest, HartiganWongKMeans, PaperForest
from clusterforests._utils.memory import SizeLimits
from clusterforests._utils.random import stream
from clusterforests.backends import CpuBackend
from clusterforests.consensus.affinity import GraphLimits, collapse
from clusterforests.consensus.consensus_clustering import combine
from clusterforests.consensus.linkage import by_size
from clusterforests.consensus.nodes import CutSettings
from clusterforests.table.frames import CategoryColumn, ColumnTable
from clusterforests.trees.settings import Setting
from paper import rivals as baselines
from paper.consensus import CONSENSUS
from paper.consensus.mixture import likeliest_clusters
from paper.consensus.nodes import labels_of

FILE = Path(__file__).parent / "golden" / "results.json"


def whole(seed, *shape):
    """Draw integers from 0 to 999."""
    keys = stream(seed, np.arange(np.prod(shape)))
    return (keys >> np.uint64(40)).astype(np.int64).reshape(shape) % 1000


UNITS = np.array([10.0, 1000.0, 7.0, 3.0])


def table(n=240, p=8, groups=3, seed=1):
    """Make groups in the first half of the columns, columns of different units, some equal rows."""
    spread = sum(whole(seed + i, n, p) for i in range(6)) - 3000
    centers = 4 * whole(seed + 6, groups, p) * (np.arange(p) < p // 2)
    X = (spread + centers[np.arange(n) % groups]) / UNITS[np.arange(p) % 4]
    X[:: n // 10] = X[0]
    return X


def with_categories(X, categories):
    """Put categories, given as the number of each row's level and the levels, in the place of columns of numbers."""
    columns = {f"x{j}": column for j, column in enumerate(X.T)}
    for j, (codes, levels) in categories.items():
        columns[f"x{j}"] = CategoryColumn(codes.astype(np.int32), levels)
    return ColumnTable(list(columns), list(columns.values()))


def mixed():
    """Make a table of numbers, an ordinal scale, categories and missing cells."""
    X = table(seed=2)
    kind = np.arange(len(X)) % 3
    X[:, 2] = whole(20, len(X)) // 200
    colour = np.array([0, 1, 2, 0])[(kind + (whole(21, len(X)) > 800)) % 4]
    missing = whole(22, *X.shape) < 60
    X[missing] = np.nan
    return with_categories(X, {5: (np.where(missing[:, 5], -1, colour), ("red", "green", "blue"))})


def with_a_rare_group():
    """Make two groups and fifteen rows of three thousand that are far from them in four columns."""
    X = table(3000, groups=2, seed=40)
    X[::200] = X[1::200] + 12000 / UNITS[np.arange(8) % 4] * (np.arange(8) >= 4)
    return X


def with_outliers():
    """Make two groups and five rows that are far from them, each elsewhere."""
    X = table(300, groups=2, seed=49)
    X[::60] = (whole(46, 5, 8) - 500) * 60 / UNITS[np.arange(8) % 4]
    return X


def with_levels():
    """Make two groups of numbers, and categories that go with each other and not with the groups."""
    codes = whole(48, 400) % 3
    return with_categories(table(400, 6, groups=2, seed=42), {4: (codes, tuple("abc")), 5: (codes, tuple("pqr"))})


def weights():
    return whole(30, 240) / 250.0


def forest(n_clusters=3, **settings):
    return ClusterForest(n_clusters, **({"n_estimators": 40, "random_state": 5} | settings))


def grown(n_base_clusters, features_per_draw, **settings):
    """Grow trees by Algorithms 1 and 2 with settings that are not the paper's."""
    given = {"n_base_clusters": n_base_clusters, "features_per_draw": features_per_draw, "quality": "corrected"}
    given |= {"repeat_features": False, "affinity_threshold": "auto", "consensus": "medoid", "random_state": 5}
    return PaperForest(3, n_estimators=40, **(given | settings))


def paper():
    return PaperForest(3, n_estimators=20, random_state=5)


def operator():
    """Cut the graph of a forest once more, without a matrix."""
    fitted = forest(consensus="ncut").fit(table())
    limits = GraphLimits(matrix_nodes=0)
    fitted.labels_ = combine(CpuBackend(), fitted.partitions_, CutSettings(3, "ncut"), seed=5, limits=limits).labels
    return fitted


COMBINED = ("ncut", "ncut-lowest", "ncut-best", "ncut-shifted", "kway", "refined", "average", "average-trimmed")
COMBINED += ("single", "medoid", "gaps", "gaps-or-kway", "gaps-or-refined")
COMBINED += ("cspa", "hbgf", "mcla", "mixture", "agreement")


def combined(name):
    """Combine the trees of a forest: by its own method, or by one of the literature's consensus functions."""
    if name not in CONSENSUS:
        return forest(consensus=name).fit(table())
    fitted = forest().fit(table())
    if name == "mixture":  # where EM starts depends on the numbers of the labels: they stay those of the trees
        nodes = collapse(fitted.partitions_)
        fitted.labels_ = labels_of(nodes, likeliest_clusters(nodes, 3))
    else:
        fitted.labels_ = CONSENSUS[name](fitted.partitions_, 3)
    fitted.chosen_params_["consensus"] = Setting("kway" if name == "gaps-or-kway" else name, "given")
    return fitted


def many_rows(**settings):
    with mock.patch.object(ClusterForest, "_limits", SizeLimits(large_rows=2000)):
        return forest(n_landmarks=100, max_samples=300, **settings).fit(table(6000, 6, 4))


FORESTS: dict[str, Callable] = {
    "default": lambda: forest().fit(table()),
    "paper": lambda: paper().fit(table()),
    "mixed table": lambda: forest().fit(mixed()),
    "weights": lambda: forest().fit(table(), sample_weight=weights()),
    "number of clusters": lambda: forest("auto").fit(table()),
    "part of the rows": lambda: forest(max_samples=60).fit(table(600)),
    "float32": lambda: forest().fit(table().astype(np.float32)),
    "pairwise kappa": lambda: grown((2, 17), 3, quality="pairwise", scale="standard", n_init=4).fit(table()),
    "many features": lambda: grown((2, 8), 11, scale="range", patience=1, n_init=1).fit(table(80, 120)),
    "many features, varied trees": lambda: forest().fit(table(80, 120)),
    "all features": lambda: forest(select_features=False).fit(table()),
    "fine trees": lambda: forest(trees="fine").fit(table()),
    "operator": operator,
    "landmarks": lambda: forest(n_landmarks=60).fit(table(800)),
    "many rows": many_rows,
    "rare group": lambda: forest().fit(with_a_rare_group()),
    "outliers": lambda: forest(2, contamination="auto").fit(with_outliers()),
    "levels of a category": lambda: forest("auto").fit(with_levels()),
} | {f"consensus {name}": lambda name=name: combined(name) for name in COMBINED}

OTHERS: dict[str, Callable] = {
    "HartiganWongKMeans": lambda: HartiganWongKMeans(4, random_state=5).fit(table()),
    "BaggedClustering": lambda: baselines.BaggedClustering(3, n_estimators=10, random_state=5).fit(table()),
    "EvidenceAccumulation": lambda: baselines.EvidenceAccumulation(3, n_estimators=20, random_state=5).fit(table()),
    # K-means starts from rows that a hash of all their digits puts in order: with one start, which solution it finds
    # depends on the rounding of the eigenvectors.
    "NJWSpectralClustering": lambda: baselines.NJWSpectralClustering(3, n_init=50, random_state=5).fit(
        np.unique(table(), axis=0)
    ),
    "RandomProjectionEnsemble": lambda: baselines.RandomProjectionEnsemble(3, n_estimators=10, random_state=5).fit(
        table()
    ),
}
# RandomForestProximity is scikit-learn's random forest, which promises nothing across its versions.


def digest(*arrays):
    """Return a short hash of the bytes, the same for every byte order."""
    sha = hashlib.sha256()
    for array in arrays:
        array = np.asarray(array)
        sha.update(array.astype(array.dtype.newbyteorder("<")).tobytes())
    return sha.hexdigest()[:16]


def result(name):
    """Return what is recorded of a fit: trees exactly, labels by their hash."""
    if name in OTHERS:
        fitted = OTHERS[name]()
        found = {"labels": digest(by_size(fitted.labels_))}
        if name == "HartiganWongKMeans":
            found |= {"inertia": fitted.inertia_.hex(), "centers": digest(fitted.cluster_centers_)}
        return found
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The clusters repeat column")
        fitted = FORESTS[name]()
    found = {
        "features": digest(*fitted.estimators_features_),
        "partitions": digest(fitted.partitions_.astype(np.int32)),
        "kappas": [float(kappa).hex() for kappa in fitted.kappas_[:4]] + [digest(fitted.kappas_)],
        "n_clusters": int(fitted.n_clusters_),
        "consensus": fitted.chosen_params_["consensus"].value,
        "labels": digest(fitted.labels_.astype(np.int32)),
    }
    if name == "levels of a category":
        chosen = fitted.n_clusters_evidence_
        p_values = dict(zip(chosen.candidates, chosen.evidence["valley_p_value"], strict=True))
        found["numbers with a valley"] = [k for k, p_value in p_values.items() if p_value < 0.01]
    return found


def every_result():
    return {name: result(name) for name in [*FORESTS, *OTHERS]}


def file_digest():
    """Return the hash that CHANGELOG.md names, so that no result changes without a line there."""
    return hashlib.sha256(FILE.read_bytes()).hexdigest()[:16]


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(every_result(), indent=1) + "\n")
    print(f"Wrote {FILE}. Its digest, for CHANGELOG.md: {file_digest()}")
