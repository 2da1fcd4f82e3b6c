"""The eight UC Irvine data sets of the paper."""

import csv
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.utils import Bunch

UCI_NAMES = ("soybean", "spect", "imgseg", "heart", "wine", "wdbc", "robot", "madelon")


def load_uci(name: str, *, data_home: str | os.PathLike[str] | None = None) -> Bunch:
    """Load one of the paper's data sets.

    Parameters
    ----------
    name : str
        "soybean", "spect", "imgseg", "heart", "wine", "wdbc", "robot" or "madelon".
    data_home : path, default=None
        Folder with `<name>.csv`; None means `$CLUSTERFORESTS_DATA`. "wine" and "wdbc" come with scikit-learn.

    Returns
    -------
    data : Bunch
        With `data` (n_samples, n_features), `target` (class names as strings or integers) and `feature_names`.
    """
    if name not in UCI_NAMES:
        raise ValueError(f"name={name!r} is not one of the paper's data sets: {', '.join(UCI_NAMES)}.")
    if name in ("wine", "wdbc"):
        bundled = load_wine() if name == "wine" else load_breast_cancer()
        return Bunch(data=bundled.data, target=bundled.target, feature_names=list(bundled.feature_names))
    home = data_home if data_home is not None else os.environ.get("CLUSTERFORESTS_DATA")
    if home is None:
        raise FileNotFoundError(
            f"{name} does not come with scikit-learn. Pass data_home= or set CLUSTERFORESTS_DATA to a folder that "
            f"holds {name}.csv."
        )
    path = Path(home) / f"{name}.csv"
    if not path.is_file():
        raise FileNotFoundError(f"There is no {path}. It must be a CSV file whose last column is 'label'.")
    return _read(path)


def _read(path: Path) -> Bunch:
    with path.open(newline="", encoding="utf-8") as lines:
        header, *rows = csv.reader(lines)
    data: npt.NDArray[np.float64] = np.array([row[:-1] for row in rows], dtype=np.float64)
    return Bunch(data=data, target=np.array([row[-1] for row in rows]), feature_names=header[:-1])
