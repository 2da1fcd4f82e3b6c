"""The files a command writes: each is written beside its place, and in the end all are put there, or none."""

import errno
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from clusterforests._base.files import create_beside, is_device, move_into_place

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
    """Turn an error of the operating system into a sentence: which file, what happened, what to do."""
    if error.errno is None:
        return str(error)
    name = "" if error.filename is None else f"{error.filename}: "
    return " ".join(filter(None, [f"{name}{error.strerror}.", ADVICE.get(error.errno, "")]))


class Outputs:
    """Files to write, by the option that names each. They are checked before the work starts."""

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
        raise ValueError(f"{option} {path}: there is no folder {folder}. Create it first.")
    if not is_device(path) and not os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise ValueError(f"{option} {path}: there is no permission to write to the folder {folder}.")
