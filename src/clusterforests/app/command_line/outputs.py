"""The files a command writes: each is written beside its place, and in the end all are put there, or none."""

import os
import stat
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from clusterforests._utils.files import create_beside, is_device, move_into_place
from clusterforests.app.command_line.streams import writing_to_stdout
from clusterforests.app.label_files import STDOUT


class Outputs:
    """Files to write, by the option that names each. They are checked before the work starts."""

    def __init__(self, inputs: Mapping[str, str], targets: Mapping[str, Path | None]) -> None:
        self.targets = {option: path for option, path in targets.items() if path is not None}
        self._staged: list[tuple[Path, Path]] = []
        seen = {file: option for option, path in inputs.items() for file in _files(Path(path), sys.stdin)}
        for file in _files(STDOUT, sys.stdout):  # results are printed there, if nothing else is
            if file in seen:
                raise ValueError(f"Here standard output is the same file as {seen[file]}. Send it elsewhere.")
        for option, path in self.targets.items():
            for file in _files(path, sys.stdout):
                if file in seen:
                    name = "standard output" if path == STDOUT else path
                    raise ValueError(f"{option} {name} is the same file as {seen[file]}. Give it another name.")
                seen[file] = option
            if path != STDOUT:
                _check_writable(option, path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        try:
            if kind is None:
                move_into_place(self._staged)
        finally:
            for part, _path in self._staged:
                with suppress(OSError):
                    part.unlink()

    def write(self, option: str, writer: Callable[[Path], None]) -> None:
        """Let `writer` write the file that an option names, if it was given."""
        path = self.targets.get(option)
        if path is None:
            return
        place = path
        if path != STDOUT and not is_device(path):
            file, place = create_beside(path)
            os.close(file)
            self._staged.append((place, path))
        try:
            with writing_to_stdout() if path == STDOUT else nullcontext():
                writer(place)
        except OSError as error:
            if error.errno is None:
                raise
            raise OSError(error.errno, error.strerror, error.filename if path == STDOUT else str(path)) from error

    @property
    def files(self) -> list[str]:
        return [str(path) for path in self.targets.values() if path != STDOUT]


def _files(path: Path, standard: IO[str]) -> list[str | tuple[int, int]]:
    """Return what tells the file at `path` from others: its name and, if it is there, its number on its device.

    "-" is what standard input or output is redirected to. What is no regular file, such as /dev/null, is never the
    same.
    """
    try:
        status = os.fstat(standard.fileno()) if path == STDOUT else path.stat()
    except (OSError, ValueError):  # not there, or closed
        return [] if path == STDOUT else [os.path.realpath(path)]
    if not stat.S_ISREG(status.st_mode):
        return []
    return [(status.st_dev, status.st_ino)] + ([] if path == STDOUT else [os.path.realpath(path)])


def _check_writable(option: str, path: Path) -> None:
    if path.is_dir():
        raise ValueError(f"{option} {path} is a folder. Name a file in it.")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise ValueError(f"{option} {path}: there is no folder {folder}. Create it first.")
    if not is_device(path) and not os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise ValueError(f"{option} {path}: there is no permission to write to the folder {folder}.")
