"""Files that are never half-written: written beside their target under a name of their own, then renamed."""

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

# Reading and writing through a link that somebody put there in the meantime is an error. Windows has other flags, and
# without O_BINARY it would change line ends.
CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL
for _flag in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY", "O_NOINHERIT"):
    CREATE |= getattr(os, _flag, 0)


def is_device(path: Path) -> bool:
    """Return whether `path` is something to write into that is no file, such as /dev/null or a named pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def create_beside(path: Path) -> tuple[int, Path]:
    """Create a file in the folder of `path`, with the mode and owner of the file that it will replace, and open it.

    Its name is random: no two writers, wherever they run, have the same. If `path` is a link, its target is meant.
    """
    target = Path(os.path.realpath(path))
    try:
        old: os.stat_result | None = target.stat()
    except FileNotFoundError:
        old = None
    part = _unused_name(target)
    try:
        file = os.open(part, CREATE, 0o666 if old is None else 0o600)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    if old is not None:
        _copy_owner_and_mode(old, file)
    return file, part


def _copy_owner_and_mode(old: os.stat_result, file: int) -> None:
    """Give an open file the owner and mode of another, as far as the system has them: Windows does not."""
    if hasattr(os, "fchown"):
        with suppress(OSError):  # only root may give files away
            os.fchown(file, old.st_uid, old.st_gid)
    if hasattr(os, "fchmod"):
        with suppress(OSError):  # some file systems have no modes
            os.fchmod(file, stat.S_IMODE(old.st_mode))


def _unused_name(target: Path) -> Path:
    return target.with_name(f".{secrets.token_hex(12)}.part")


def move_into_place(parts: Iterable[tuple[Path, Path]]) -> None:
    """Rename finished files to their targets: all of them or, if one cannot be renamed, none.

    Readers of a target see the old file or the new one, never half of it.
    """
    moves = [(part, Path(os.path.realpath(path)), path) for part, path in parts]
    kept: list[tuple[Path, Path, Path | None]] = []
    try:
        for part, target, path in moves:
            try:
                kept.append((part, target, _keep_old(target) if len(moves) > 1 else None))
                part.replace(target)
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(path)) from error
    except BaseException:
        if len(moves) > 1:
            _put_back(kept)
        raise
    for _, _, old in kept:
        if old is not None:
            old.unlink()


def _keep_old(target: Path) -> Path | None:
    """Give the file at `target` another name as well, to put it back from; None if there is no file."""
    if not target.is_file():
        return None
    spare = _unused_name(target)
    try:
        os.link(target, spare)
    except OSError:  # a file system without links: the target is absent for a moment
        target.rename(spare)
    return spare


def _put_back(kept: list[tuple[Path, Path, Path | None]]) -> None:
    for part, target, old in reversed(kept):
        with suppress(OSError):
            if old is not None:
                old.replace(target)
                old.unlink(missing_ok=True)  # both names are still there if the target was never replaced
            elif not part.exists():  # it was moved to where there was no file
                target.unlink()


@contextmanager
def replacing(path: Path, mode: str = "w", **options: Any) -> Iterator[IO[Any]]:
    """Open a file for writing that takes the place of `path` once it is whole; an error leaves nothing behind."""
    if is_device(path):
        with path.open(mode, **options) as out:
            yield out
        return
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Name a file in it.")
    file, part = create_beside(path)
    try:
        with open(file, mode, **options) as out:
            yield out
            out.flush()
            os.fsync(file)
        move_into_place([(part, path)])
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def replace_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, and make its folder if there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, newline="", encoding="utf-8") as out:
        out.write(text)
