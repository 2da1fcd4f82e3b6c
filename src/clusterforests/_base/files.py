"""Files that are never half-written: written beside their target, then renamed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any


def unfinished_path(path: Path) -> Path:
    """Return where a file is written before it gets its name; the target of a link is replaced, not the link."""
    target = Path(os.path.realpath(path))
    return target.with_name(f".{target.name}.{os.getpid()}.part")


def is_device(path: Path) -> bool:
    """Tell whether `path` is something to write into that is no file, such as /dev/null or a named pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def move_into_place(part: Path, path: Path) -> None:
    """Rename the finished file, so that readers see the old file or the new one, never half of it."""
    part.replace(os.path.realpath(path))


@contextmanager
def replacing(path: Path, mode: str = "w", **options: Any) -> Iterator[IO[Any]]:
    """Open a file for writing that takes the place of `path` once it is whole; an error leaves nothing behind."""
    if is_device(path):
        with path.open(mode, **options) as out:
            yield out
        return
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder. Name a file in it.")
    part = unfinished_path(path)
    try:
        with part.open(mode, **options) as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        move_into_place(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def replace_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8, and make its folder if there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, newline="", encoding="utf-8") as out:
        out.write(text)
