"""The eight UC Irvine data sets of the paper.

A download is accepted only if the table made from it has the SHA-256 hash kept here. So line ends and a missing last
newline in the originals do not matter, and a wrong or truncated file cannot pass.
"""

import hashlib
import os
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.utils import Bunch

from clusterforests._utils.files import replacing

UCI_NAMES = ("soybean", "spect", "imgseg", "heart", "wine", "wdbc", "robot", "madelon")
UCI_URL = "https://archive.ics.uci.edu/ml/machine-learning-databases"
DOWNLOADS = Path(__file__).parents[2] / "build" / "paper" / "data"
TIMEOUT = 30  # seconds without an answer


def load_uci(name: str, *, data_home: str | os.PathLike[str] | None = None, download: bool = True) -> Bunch:
    """Load one of the paper's data sets.

    "wine" and "wdbc" come with scikit-learn. The others are looked for in `data_home`, or in the folder
    `$CLUSTERFORESTS_DATA` if that is None, then among earlier downloads. A data set that is found nowhere is downloaded
    from the UC Irvine repository, checked, and kept in `build/paper/data`.

    Parameters
    ----------
    name : {"soybean", "spect", "imgseg", "heart", "wine", "wdbc", "robot", "madelon"}
        Which data set.
    data_home : path, default=None
        Folder that may hold `<name>.csv`, a table with a header whose last column is `label`.
    download : bool, default=True
        Whether a data set that is not on this machine may be downloaded.

    Returns
    -------
    data : Bunch
        With `data` (n_samples, n_features), `target` (class names as strings or integers) and `feature_names`.

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
    given, kept = Path(home or "") / f"{name}.csv", DOWNLOADS / f"{name}.csv"
    if home is not None and given.is_file():
        return _read(given)
    if not kept.is_file() or hashlib.sha256(kept.read_bytes()).hexdigest() != SOURCES[name].sha256:
        if not download:
            raise FileNotFoundError(
                f"There is no {given}, and download=False. Pass data_home=, or set CLUSTERFORESTS_DATA, to a folder "
                f"that holds {name}.csv, or allow the download."
            )
        table = download_table(name)
        DOWNLOADS.mkdir(parents=True, exist_ok=True)
        with replacing(kept, "wb") as out:
            out.write(table)
    return _read(kept)


def _read(path: Path) -> Bunch:
    header, *rows = (line.split(",") for line in path.read_text(encoding="utf-8-sig").splitlines() if line)
    if header[-1] != "label" or any(len(row) != len(header) for row in rows):
        raise ValueError(f"{path} must have a header whose last column is 'label', and as many columns in every line.")
    values = np.array([row[:-1] for row in rows], dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"{path} must hold finite numbers, but for its last column.")
    return Bunch(data=values, target=np.array([row[-1] for row in rows]), feature_names=header[:-1])


def download_table(name: str, base: str = UCI_URL) -> bytes:
    """Download a data set and turn its files into our table, if it is what it should be."""
    source, received = SOURCES[name], []
    for file in source.files:
        try:
            with urllib.request.urlopen(f"{base}/{file}", timeout=TIMEOUT) as answer:
                received.append(answer.read())
        except OSError as error:
            raise FileNotFoundError(
                f"{base}/{file} could not be downloaded ({error}). Try again later, or pass data_home=, or set "
                f"CLUSTERFORESTS_DATA, to a folder that holds {name}.csv."
            ) from error
    try:
        table = to_csv(source, [original.decode("ascii") for original in received]).encode("ascii")
    except (ValueError, IndexError):  # a web page, half a file, ...
        table = b""
    if hashlib.sha256(table).hexdigest() != source.sha256:
        raise OSError(
            f"What {base} sent is not the {name} data: it was damaged on the way, or has changed. Try again, or pass "
            f"data_home=, or set CLUSTERFORESTS_DATA, to a folder that holds {name}.csv."
        )
    return table


# The original files.

Row = tuple[list[str], str]  # the values and the class, as the original writes them


@dataclass(frozen=True)
class UciFiles:
    """The files of a data set below the base URL, how to read them, and the hash of the table that they make."""

    files: tuple[str, ...]
    header: str  # the names of the features, with commas
    rows: Callable[[Sequence[str]], Iterable[Row]]
    number: Callable[[str], str]
    sha256: str


def to_csv(source: UciFiles, texts: Sequence[str]) -> str:
    """Turn the original files of a data set into the text of our table: a header, the features, the class last."""
    lines = [f"{source.header},label"]
    for values, label in source.rows(texts):
        lines.append(",".join((*map(source.number, values), label)))
    return "\n".join(lines) + "\n"


def _lines(text: str) -> list[str]:
    """Split a text into lines, without blank ones and comments (after a semicolon, in segmentation.test)."""
    stripped = (line.strip() for line in text.splitlines())
    return [line for line in stripped if line and not line.startswith(";")]


def _class_last(texts: Sequence[str], separator: str | None = ",") -> Iterator[Row]:
    for line in _lines("\n".join(texts)):
        *values, label = line.split(separator)
        yield values, label


def _class_last_spaced(texts: Sequence[str]) -> Iterator[Row]:
    return _class_last(texts, None)


def _class_first(texts: Sequence[str]) -> Iterator[Row]:
    for line in _lines("\n".join(texts)):
        label, *values = line.split(",")
        yield values, label


def _class_first_headed(texts: Sequence[str]) -> Iterator[Row]:
    rows = _class_first(texts)
    next(rows, None)
    return rows


def _blocks(texts: Sequence[str]) -> list[Row]:
    """Read a line with the class, then fifteen lines with the six forces and torques of one time step each."""
    rows: list[Row] = []
    for line in _lines("\n".join(texts)):
        values = line.split()
        if len(values) == 1:
            rows.append(([], values[0]))
        else:
            rows[-1][0].extend(values)
    return rows


def _classes_apart(texts: Sequence[str]) -> Iterator[Row]:
    values, labels = texts
    for line, label in zip(_lines(values), _lines(labels), strict=True):
        yield line.split(), label


def _whole(value: str) -> str:
    return str(int(value))


def _real(value: str) -> str:
    return repr(float(value))


SOURCES = {
    "soybean": UciFiles(
        files=("soybean/soybean-small.data",),
        header=(
            "date,plant-stand,precip,temp,hail,crop-hist,area-damaged,severity,seed-tmt,germination,plant-growth,"
            "leaves,leafspots-halo,leafspots-marg,leafspot-size,leaf-shread,leaf-malf,leaf-mild,stem,lodging,"
            "stem-cankers,canker-lesion,fruiting-bodies,external-decay,mycelium,int-discolor,sclerotia,fruit-pods,"
            "fruit-spots,seed,mold-growth,seed-discolor,seed-size,shriveling,roots"
        ),
        rows=_class_last,
        number=_whole,
        sha256="14cb0a16881cbad296c1835f9f26021b979da85040a0cfaed2e7d99dcd1f9123",
    ),
    "spect": UciFiles(
        files=("spect/SPECT.train", "spect/SPECT.test"),
        header=",".join(f"F{i}" for i in range(1, 23)),
        rows=_class_first,
        number=_whole,
        sha256="0df182c8778ecfe71a2290da7b70255a0fc2e1bdadba6d5e13207c4ca34ccafa",
    ),
    "imgseg": UciFiles(
        files=("image/segmentation.test",),
        header=(
            "REGION-CENTROID-COL,REGION-CENTROID-ROW,REGION-PIXEL-COUNT,SHORT-LINE-DENSITY-5,SHORT-LINE-DENSITY-2,"
            "VEDGE-MEAN,VEDGE-SD,HEDGE-MEAN,HEDGE-SD,INTENSITY-MEAN,RAWRED-MEAN,RAWBLUE-MEAN,RAWGREEN-MEAN,EXRED-MEAN,"
            "EXBLUE-MEAN,EXGREEN-MEAN,VALUE-MEAN,SATURATION-MEAN,HUE-MEAN"
        ),
        rows=_class_first_headed,
        number=_real,
        sha256="35d253f2dc9ed6bf0e0c248aae1bd4f6a91751b01fe701b83fa28a692a50cd39",
    ),
    "heart": UciFiles(
        files=("statlog/heart/heart.dat",),
        header=(
            "age,sex,chest_pain,resting_bp,serum_cholestoral,fasting_blood_sugar,resting_ecg,max_heart_rate,"
            "exercise_angina,oldpeak,st_slope,major_vessels,thal"
        ),
        rows=_class_last_spaced,
        number=_real,
        sha256="cf973cafe599d867a2ba7f6bb3d9452aa9daff952e1ecf8e662c3cb6a98d3872",
    ),
    "robot": UciFiles(
        files=("robotfailure-mld/lp5.data",),
        header=",".join(f"{axis}{step}" for step in range(1, 16) for axis in ("Fx", "Fy", "Fz", "Tx", "Ty", "Tz")),
        rows=_blocks,
        number=_whole,
        sha256="927e5882d882c1c4f9f66f23afbc6b392c98d17cfc406fa802b370d8f52732a4",
    ),
    "madelon": UciFiles(
        files=("madelon/MADELON/madelon_train.data", "madelon/MADELON/madelon_train.labels"),
        header=",".join(f"f{i}" for i in range(1, 501)),
        rows=_classes_apart,
        number=_whole,
        sha256="3d2410f7b9e3677d977943022bf566589f4c74fc1ea7f9339711376b8df3ccd7",
    ),
}
