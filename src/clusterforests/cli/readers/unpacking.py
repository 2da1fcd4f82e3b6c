"""Compressed files, unpacked while they are read. They are recognised by their first bytes, not by their names."""

import gzip
import io
import zlib
from typing import Any

MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


def unpack(file: str, stream: Any) -> Any:
    """Return a stream of the contents of a compressed one; any other stream as it is."""
    head = stream.peek(4)[:4] if hasattr(stream, "peek") else b""
    kind = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), None)
    return stream if kind is None else io.BufferedReader(_Unpacked(file, stream, kind), 2**16)


class _Unpacked(io.RawIOBase):
    """The contents of a compressed stream. Its position is that of the compressed one, for the sake of progress."""

    def __init__(self, file: str, packed: Any, kind: str) -> None:
        self._file, self._packed, self._kind = file, packed, kind
        self._contents: Any = gzip.GzipFile(fileobj=packed) if kind == "gzip" else _open_zstd(file, packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            piece = self._contents.read(len(buffer))
        except (OSError, EOFError, zlib.error) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise ValueError(
                f"{self._file} is compressed ({self._kind}) but damaged or cut short. Copy it again, or pack it again."
            ) from error
        buffer[: len(piece)] = piece
        return len(piece)

    def tell(self) -> int:
        return int(self._packed.tell())


def _open_zstd(file: str, packed: Any) -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            f"{file} is compressed with zstd: reading it needs pyarrow (pip install clusterforests[files])."
        ) from error
    return pyarrow.CompressedInputStream(pyarrow.PythonFile(packed, mode="r"), "zstd")
