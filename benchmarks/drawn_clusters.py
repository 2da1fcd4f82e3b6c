"""Draw the tables of the benchmark of K: without clusters, with 1 to 10 of them, and with random categories."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from benchmarks.drawn_noise import PLAIN, SUBTYPES, draw_plain
from clusterforests import HartiganWongKMeans

FloatArray = npt.NDArray[np.float64]
Generator = np.random.Generator

KINDS = (
    "normal",
    "uniform",
    "t with 3 degrees of freedom",
    "lognormal",
    "correlated normal",
    "stretched normal",
    "stretched uniform",
    "normal with random categories",
)
NOISE = (0.0, 0.5, 0.8, 0.9, 0.95, 0.95)  # share of noise columns in the six tables of each number
SHAPES = ("normal", "normal", "normal", "t5", "uniform", "skewed")
RECOVERABLE = 0.9  # adjusted Rand index that K-means has to reach on the informative columns
SIDE = 5.0  # distance of the three groups from each other: ClusterForest(3) has an ARI of about 96

STRUCTURELESS = {f"structureless: {kind}": kind for kind in KINDS}
SIMULATED = {f"simulated, K = {k}": k for k in range(1, 11)}
GENES = SUBTYPES
CATEGORY = "eight noise columns and a random category"
GROUPS, GROUPS_AND_CATEGORY = "three groups", "three groups and a random yes/no column"

RECIPES = f"""\
Structureless tables have 100 to 2000 rows and 2 to 40 columns, evenly on a log scale. Columns have random units but for
the stretched ones, where one axis is ten times as long as the others; in every second table the axes are turned at
random. Correlated: in turn a common factor, a random mixing matrix, an autoregression with coefficient 0.9. Random
categories: one to three columns of two to five levels beside the numbers.

Simulated tables: six for each K from 1 to 10, with 0, 50, 80, 90, 95 and 95 % noise columns. Between 1 and 6 columns
are informative. Centres are random points at least a distance of 4.5 to 8 apart (uniform over tables), in the smallest
box that holds them. Each cluster has standard deviations from 0.7 to 1.3 along its own random axes and is normal
(half of the tables), t with 5 degrees of freedom, uniform or skewed (gamma, shape 4), with one number drawn for each
cluster and axis. While K-means with the true K on the informative columns (20 starts) stays below an adjusted Rand
index of {RECOVERABLE}, the centres are moved apart by 5 %. The number of rows is from 200, or 40 K if that is more, to
3000, evenly on a log scale; cluster sizes differ by up to 1 : 5. Noise is normal or, in half of the tables, normal,
uniform, t5 or skewed at random; in three tenths of the tables its columns share a common factor. Columns have random
units and order. For K = 1 there is one cluster of the given shape.

The gene table has 120 rows in 3 groups and 5000 columns, 100 of which tell them apart (centres N(0, 1.2²)). The random
category has four levels and stands beside eight normal columns, 500 rows. The three groups are normal with unit
variance in four columns, 300 rows, centres a distance of {SIDE:g} apart.
"""


class Drawn(NamedTuple):
    """A table, an array or a frame, and the group of each row."""

    X: Any
    groups: npt.NDArray[np.intp]


def draw(name: str, seed: int) -> Drawn:
    """Draw one of the tables above."""
    if name in STRUCTURELESS:
        X = draw_structureless(STRUCTURELESS[name], seed)
        return Drawn(X, np.zeros(len(X), dtype=np.intp))
    if name in SIMULATED:
        return draw_simulated(SIMULATED[name], seed)
    if name == GENES:
        X, groups, _ = draw_plain(PLAIN[GENES], seed)
        return Drawn(X, groups)
    rng = np.random.default_rng([seed, 300])
    if name == CATEGORY:
        return Drawn(with_categories(rng, rng.normal(size=(500, 8)), [4]), np.zeros(500, dtype=np.intp))
    return draw_groups(rng, categories=[2] if name == GROUPS_AND_CATEGORY else [])


def draw_structureless(kind: str, seed: int) -> Any:
    """Draw a table without clusters."""
    rng = np.random.default_rng([seed, 100 + KINDS.index(kind)])
    n, p = log_uniform(rng, 100, 2000), log_uniform(rng, 2, 40)
    if kind == "uniform" or kind == "stretched uniform":
        X = rng.uniform(-1, 1, (n, p))
    elif kind.startswith("t with"):
        X = rng.standard_t(3, (n, p))
    elif kind == "lognormal":
        X = rng.lognormal(size=(n, p))
    elif kind == "correlated normal":
        X = correlate(rng, rng.normal(size=(n, p)), seed)
    else:
        X = rng.normal(size=(n, p))
    if kind.startswith("stretched"):
        X[:, 0] *= 10
        return X @ turn(rng, p) if seed % 2 else X
    X *= np.exp(rng.normal(size=p))
    return with_categories(rng, X, rng.integers(2, 6, rng.integers(1, 4))) if "categories" in kind else X


def correlate(rng: Generator, X: FloatArray, seed: int) -> FloatArray:
    """Make independent normal columns depend on each other, in one of three ways in turn."""
    n, p = X.shape
    if seed % 3 == 0:
        return X + rng.normal(size=(n, 1)) * rng.uniform(0.5, 3, p)
    if seed % 3 == 1:
        return X @ rng.normal(size=(p, p))
    for j in range(1, p):
        X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1 - 0.9**2) * X[:, j]
    return X


def with_categories(rng: Generator, X: FloatArray, levels: Any) -> pd.DataFrame:
    """Put a column of random categories beside the numbers for each number of levels."""
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    for place, n_levels in enumerate(levels):
        frame[f"category {place}"] = pd.Categorical(rng.choice(list("abcde")[:n_levels], len(X)))
    return frame


def draw_groups(rng: Generator, categories: list[int]) -> Drawn:
    """Draw three groups; with the same seed they are the same, whatever categories are put beside them."""
    groups = np.arange(300) % 3
    centers = SIDE / np.sqrt(2) * turn(rng, 4)[:3]  # orthogonal rows of equal length
    X = rng.normal(size=(300, 4)) + centers[groups]
    return Drawn(with_categories(rng, X, categories), groups)


def draw_simulated(k: int, seed: int) -> Drawn:
    """Draw a table of K clusters; the seed says which of the six kinds."""
    rng = np.random.default_rng([seed, 200 + k])
    variant = seed % len(NOISE)
    told = int(rng.integers(1, 7))
    columns = round(told / (1 - NOISE[variant]))
    rows, shares = log_uniform(rng, max(200, 40 * k), 3000), rng.uniform(1, 5, k)
    groups = np.repeat(np.arange(k), np.maximum(8, np.round(shares / shares.sum() * rows)).astype(int))
    signal = draw_signal(rng, SHAPES[(variant + k) % len(SHAPES)], groups, told)
    other = rng.choice(["normal", "uniform", "t5", "skewed"]) if rng.random() < 0.5 else "normal"
    rest = draw_shape(rng, other, (len(groups), columns - told))
    if rng.random() < 0.3:
        rest += rng.normal(size=(len(groups), 1)) * rng.uniform(-1, 1, columns - told)
    X = np.hstack([signal, rest])
    X = X / X.std(axis=0) * np.exp(rng.normal(size=columns)) + 3 * rng.normal(size=columns)
    order = rng.permutation(len(groups))
    return Drawn(np.ascontiguousarray(X[order][:, rng.permutation(columns)]), groups[order])


def draw_signal(rng: Generator, shape: str, groups: npt.NDArray[np.intp], told: int) -> FloatArray:
    """Draw the informative columns, with centres as far apart as it takes for K-means to find the clusters."""
    k = int(groups.max()) + 1
    centers = spread_centers(rng, k, told)
    inside = draw_shape(rng, shape, (len(groups), told))
    for group in range(k):
        spread = rng.uniform(0.7, 1.3, told)
        inside[groups == group] = inside[groups == group] * spread @ turn(rng, told)
    distance = rng.uniform(4.5, 8)
    while True:
        signal = inside + distance * centers[groups]
        if k == 1 or oracle(signal, groups) >= RECOVERABLE:
            return signal
        distance *= 1.05


def draw_shape(rng: Generator, shape: str, size: tuple[int, int]) -> FloatArray:
    """Draw independent numbers of mean 0 and variance 1."""
    if shape == "t5":
        return rng.standard_t(5, size) / np.sqrt(5 / 3)
    if shape == "uniform":
        return rng.uniform(-np.sqrt(3), np.sqrt(3), size)
    if shape == "skewed":
        return (rng.gamma(4.0, size=size) - 4) / 2
    return rng.normal(size=size)


def spread_centers(rng: Generator, k: int, n_columns: int) -> FloatArray:
    """Draw points at a distance of at least 1 from each other, in a box grown until they fit."""
    side = 1.0
    while True:
        for _ in range(20):
            centers: list[FloatArray] = []
            for _ in range(200):
                point = rng.uniform(0, side, n_columns)
                if all(np.linalg.norm(point - center) >= 1 for center in centers):
                    centers.append(point)
                if len(centers) == k:
                    return np.array(centers)
        side *= 1.1


def oracle(signal: FloatArray, groups: npt.NDArray[np.intp]) -> float:
    found = HartiganWongKMeans(int(groups.max()) + 1, random_state=0).fit(signal).labels_
    return float(adjusted_rand_score(groups, found))


def turn(rng: Generator, p: int) -> FloatArray:
    """Draw an orthogonal matrix."""
    return np.linalg.qr(rng.normal(size=(p, p)))[0]


def log_uniform(rng: Generator, low: float, high: float) -> int:
    return round(np.exp(rng.uniform(np.log(low), np.log(high))))
