"""The tables of the quality benchmark: the paper's eight and twelve more. Their labels are used only to score."""

import functools
import gzip
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clusterforests._base.random import stream, uniform
from clusterforests.datasets import UCI_NAMES, load_uci

FloatArray = npt.NDArray[np.float64]

# Roughly by size: what takes longest comes last.
DEV_NAMES = (
    "newthyroid",
    "parkinsons",
    "ecoli",
    "yeast",
    "vowel",
    "glioma",
    "christensen",
    "penbased",
    "texture",
    "orl",
    "mnist5k",
    "pcmac",
)
SET_NAMES = (*UCI_NAMES, *DEV_NAMES)

_HIDE = 2**40  # a part of the key that no method uses: what is hidden has nothing to do with a method's draws
HIDDEN = "missing="  # a scaling with this prefix is raw input with that share of its cells hidden


class Labelled(NamedTuple):
    """A table, the class of each row and the number of classes, which every method is told."""

    X: FloatArray
    classes: npt.NDArray[np.str_]
    n_clusters: int


@functools.lru_cache(maxsize=2)
def load_set(name: str) -> Labelled:
    """One of `SET_NAMES`."""
    if name in UCI_NAMES:
        found = load_uci(name)
        X, classes = found.data, found.target.astype(str)
    else:
        X, classes = _read(dev_file(name))
    return Labelled(X, classes, len(np.unique(classes)))


class Shape(NamedTuple):
    n_rows: int
    n_features: int
    n_clusters: int


@functools.cache
def shape(name: str) -> Shape:
    data = load_set(name)
    return Shape(*data.X.shape, data.n_clusters)


def dev_file(name: str) -> Path:
    """The file of a development set, compressed or not."""
    if name not in DEV_NAMES:
        raise ValueError(f"set={name!r} is not one of {', '.join(SET_NAMES)}.")
    folder = dev_folder()
    for ending in ("csv", "csv.gz"):
        if (path := folder / f"{name}.{ending}").is_file():
            return path
    raise FileNotFoundError(
        f"There is no {name}.csv or {name}.csv.gz in {folder}. Set CLUSTERFORESTS_DEV_DATA to the folder that holds "
        "the development sets, or choose others with --sets."
    )


def dev_folder() -> Path:
    """$CLUSTERFORESTS_DEV_DATA, or the folder `dev` beside $CLUSTERFORESTS_DATA."""
    if given := os.environ.get("CLUSTERFORESTS_DEV_DATA"):
        return Path(given)
    if not (paper := os.environ.get("CLUSTERFORESTS_DATA")):
        raise FileNotFoundError(
            "The development sets are looked for in $CLUSTERFORESTS_DEV_DATA, then in 'dev' beside "
            "$CLUSTERFORESTS_DATA, and neither is set. Set one, or choose the paper's sets with --sets."
        )
    return Path(paper).resolve().parent / "dev"


def _read(path: Path) -> tuple[FloatArray, npt.NDArray[np.str_]]:
    stored = path.read_bytes()
    header, *body = (gzip.decompress(stored) if path.suffix == ".gz" else stored).decode("utf-8").splitlines()
    if header.split(",")[-1] != "label":
        raise ValueError(f"{path}: the last column must be 'label', not {header.split(',')[-1]!r}.")
    rows, _, classes = zip(*(line.rpartition(",") for line in body), strict=True)
    X = np.loadtxt(rows, delimiter=",", ndmin=2)
    if not np.isfinite(X).all():
        raise ValueError(f"{path} has cells that are not finite numbers.")
    return X, np.array(classes)


def table(name: str, scaling: str, seed: int) -> FloatArray:
    """A set's table as a method gets it; the seed matters only where cells are hidden."""
    X = load_set(name).X
    if scaling == "raw":
        return X
    if scaling == "z":
        return z_scores(X)
    if scaling.startswith(HIDDEN):
        return hide_cells(X, float(scaling.removeprefix(HIDDEN)), seed)
    raise ValueError(f"scaling={scaling!r} must be 'raw', 'z' or '{HIDDEN}<share>'.")


def z_scores(X: FloatArray) -> FloatArray:
    """Columns with mean 0 and variance 1; constant ones are dropped."""
    X = X[:, X.max(axis=0) > X.min(axis=0)]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def hide_cells(X: FloatArray, share: float, seed: int) -> FloatArray:
    """Cells completely at random become NaN."""
    keys = stream(seed, _HIDE, np.arange(X.shape[0])[:, None], np.arange(X.shape[1]))
    return np.where(uniform(keys) < share, np.nan, X)
