"""What a command writes: every file is written beside its place, and all take their places at the end, or none."""

import csv
import errno
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np

from clusterforests._base.files import is_device, move_into_place, unfinished_path
from clusterforests._base.typing import AnyArray, FloatArray
from clusterforests.cli.readers import DataFile, format_of

STDOUT = Path("-")
ADVICE = {
    errno.ENOENT: "Check the name.",
    errno.EACCES: "Check its permissions.",
    errno.EPERM: "Check its permissions.",
    errno.ENOSPC: "Free some space and run the command again; nothing was written.",
    errno.EFBIG: "Choose another place and run the command again; nothing was written.",
    errno.EROFS: "Choose another folder.",
}


def explain(error: OSError) -> str:
    """A system's error as a sentence: which file, what, what to do."""
    if error.errno is None:
        return str(error)
    name = "" if error.filename is None else f"{error.filename}: "
    return " ".join(filter(None, [f"{name}{error.strerror}.", ADVICE.get(error.errno, "")]))


class Outputs:
    """Files by the option that names them. Checked before the work starts, put in place when all are whole."""

    def __init__(self, inputs: Mapping[str, str], targets: Mapping[str, Path | None]) -> None:
        self.targets = {option: path for option, path in targets.items() if path is not None}
        self._staged: list[tuple[Path, Path]] = []
        seen: dict[str, str] = {os.path.realpath(path): option for option, path in inputs.items() if path != "-"}
        for option, path in self.targets.items():
            if path == STDOUT:
                continue
            real = os.path.realpath(path)
            if real in seen and not is_device(path):
                raise ValueError(f"{option} {path} is the same file as {seen[real]}. Give it another name.")
            seen[real] = option
            _check_writable(option, path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind is None:
            for part, path in self._staged:
                move_into_place(part, path)
        else:
            for part, _path in self._staged:
                with suppress(OSError):
                    part.unlink()

    def write(self, option: str, writer: Callable[[Path], None]) -> None:
        """Let `writer` write the file of an option, if it was given."""
        path = self.targets.get(option)
        if path is None:
            return
        place = path
        if path != STDOUT and not is_device(path):
            place = unfinished_path(path)
            self._staged.append((place, path))
        try:
            writer(place)
        except OSError as error:
            if error.errno is None:
                raise
            raise OSError(error.errno, error.strerror, str(path)) from error

    @property
    def files(self) -> list[str]:
        return [str(path) for path in self.targets.values() if path != STDOUT]


def _check_writable(option: str, path: Path) -> None:
    if path.is_dir():
        raise ValueError(f"{option} {path} is a folder. Name a file in it.")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise ValueError(f"{option} {path}: there is no folder {folder}. Make it first.")
    if not is_device(path) and not os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise ValueError(f"{option} {path}: there is no permission to write into the folder {folder}.")


def write_labels(path: Path, data: DataFile, labels: AnyArray, membership: FloatArray, kind: str) -> None:
    """One line for each row: its name or number, its cluster, and how much it belongs there."""
    if kind == "npy":
        with path.open("wb") as out:
            np.save(out, labels, allow_pickle=False)
        return
    names: Any = range(1, len(labels) + 1) if data.ids is None else data.ids
    title = "row" if data.ids is None else data.id_name
    title = f"{title}_" if title in ("cluster", "membership") else title
    if kind in ("parquet", "arrow"):
        _write_arrow(path, {str(title): list(names), "cluster": labels, "membership": membership}, kind)
    elif path == STDOUT:
        _write_rows(sys.stdout, (str(title), names, labels, membership), ",")
        sys.stdout.flush()
    else:
        with path.open("w", newline="", encoding="utf-8") as out:
            _write_rows(out, (str(title), names, labels, membership), "\t" if kind == "tsv" else ",")
            out.flush()
            if not is_device(path):
                os.fsync(out.fileno())


def labels_format(path: Path | None) -> str:
    return "csv" if path is None or path == STDOUT else format_of(str(path))


def _write_rows(out: IO[str], columns: tuple[str, Any, Any, Any], delimiter: str) -> None:
    title, names, labels, membership = columns
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow([title, "cluster", "membership"])
    shown = (f"{value:.4f}" for value in membership.tolist())
    writer.writerows(zip(names, labels.tolist(), shown, strict=True))


def _write_arrow(path: Path, columns: Mapping[str, Any], kind: str) -> None:
    try:
        import pyarrow
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"Writing {kind} files needs pyarrow (pip install clusterforests[files]).") from error
    table = pyarrow.table(dict(columns))
    if kind == "parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, str(path))
