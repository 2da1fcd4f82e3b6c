"""The eight UC Irvine data sets of the paper."""

import csv
import os
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.utils import Bunch

from clusterforests._utils.arrays import FloatArray
from paper.datasets.download import download_table, in_cache

UCI_NAMES = ("soybean", "spect", "imgseg", "heart", "wine", "wdbc", "robot", "madelon")


def load_uci(name: str, *, data_home: str | os.PathLike[str] | None = None, download: bool = True) -> Bunch:
    """Load one of the paper's data sets.

    "wine" and "wdbc" come with scikit-learn. The others are looked for in `data_home`, or in the folder
    `$CLUSTERFORESTS_DATA` if that is None, then in the user's cache folder. A data set that is found nowhere is
    downloaded from the UC Irvine repository, checked, and kept in that cache.

    Parameters
    ----------
    name : {"soybean", "spect", "imgseg", "heart", "wine", "wdbc", "robot", "madelon"}
        Which data set.
    data_home : path, default=None
        Folder that may hold `<name>.csv`, a table with a header whose last column is `label`. It is used as it is.
    download : bool, default=True
        Whether a data set that is not on this machine may be downloaded. Needs pooch, the extra
        `clusterforests[data]`. `$CLUSTERFORESTS_UCI_URL` names a mirror to use instead of
        https://archive.ics.uci.edu/ml/machine-learning-databases.

    Returns
    -------
    data : Bunch
        With `data` (n_samples, n_features), `target` (class names as strings or integers) and `feature_names`.

    Raises
    ------
    ValueError
        If the name is unknown, or the file is not such a table; the message names the file, line and column.
    FileNotFoundError
        If there is no file, and it may not or could not be downloaded.
    OSError
        If what was downloaded is not the data set.
    ImportError
        If a download is needed and pooch is not installed.

    Examples
    --------
    >>> from paper.datasets import load_uci
    >>> load_uci("wine").data.shape
    (178, 13)
    """
    if name not in UCI_NAMES:
        raise ValueError(f"name={name!r} is not one of the paper's data sets: {', '.join(UCI_NAMES)}.")
    if name in ("wine", "wdbc"):
        bundled = load_wine() if name == "wine" else load_breast_cancer()
        return Bunch(data=bundled.data, target=bundled.target, feature_names=list(bundled.feature_names))
    home = data_home if data_home is not None else os.environ.get("CLUSTERFORESTS_DATA") or None
    given = Path(home or "") / f"{name}.csv"
    if home is not None and given.is_file():
        return _read(given)
    cached = in_cache(name)
    if cached is None and not download:
        raise FileNotFoundError(
            f"There is no {given}, and download=False. Pass data_home=, or set CLUSTERFORESTS_DATA, to a folder that "
            f"holds {name}.csv, or allow the download."
        )
    return _read(cached if cached is not None else download_table(name, str(given)))


def _read(path: Path) -> Bunch:
    try:
        with path.open(newline="", encoding="utf-8-sig") as lines:
            reader = csv.reader(lines)
            numbered = [(reader.line_num, row) for row in reader if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} cannot be read as a CSV file in UTF-8: {error}.") from error
    if not numbered:
        raise ValueError(f"{path} is empty. It must be a CSV file with a header whose last column is 'label'.")
    (first, header), *body = numbered
    if len(header) < 2 or header[-1] != "label":
        raise ValueError(f"{path}, line {first}: the last of several columns must be 'label', not {header[-1]!r}.")
    if not body:
        raise ValueError(f"{path} has a header but no rows.")
    for number, row in body:
        if len(row) != len(header):
            raise ValueError(f"{path}, line {number}: {len(row)} columns where the header has {len(header)}.")
        if not row[-1]:
            raise ValueError(f"{path}, line {number}, column 'label': it is empty.")
    return Bunch(
        data=_numbers(path, header, body),
        target=np.array([row[-1] for _, row in body]),
        feature_names=header[:-1],
    )


def _numbers(path: Path, header: list[str], body: list[tuple[int, list[str]]]) -> FloatArray:
    try:
        data: FloatArray = np.array([row[:-1] for _, row in body], dtype=np.float64)
    except ValueError:
        data = np.array([[_number(value) for value in row[:-1]] for _, row in body])
    wrong = np.argwhere(~np.isfinite(data))
    if len(wrong):
        at, column = wrong[0]
        number, row = body[at]
        raise ValueError(f"{path}, line {number}, column {header[column]!r}: {row[column]!r} is not a finite number.")
    return data


def _number(value: str) -> float:
    try:
        return float(value)
    except ValueError:
        return np.nan
