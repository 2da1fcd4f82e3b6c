"""The file of a saved model: JSON, then arrays, then a checksum. docs/model-format.md describes it.

Reading it runs no code and needs no more memory than a small multiple of its size: the sizes stated in the file are
compared with its real size before anything is read.
"""

import hashlib
import json
import math
import os
import stat
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from clusterforests._utils.arrays import AnyArray
from clusterforests._utils.files import replacing

MAGIC = b"\x89CForest\r\n\x1a\n"  # not text, and damaged by a transfer that takes it for text
VERSION = 2
WRITTEN_BY = {1: "clusterforests 0.2.0 or older"}  # whose models are read no more
START = struct.Struct("<12sIQ")  # magic, version, bytes of JSON
DIGEST_BYTES = 32
READ_BYTES = 2**20
MOST_DIMENSIONS = 2

TYPES = {name: np.dtype(name) for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "float64")}
INTEGERS = ("int8", "int16", "int32", "int64")


class ArrayEntry(NamedTuple):
    """An array's entry in the JSON: its type, the type it is stored as, its shape and its order in memory."""

    type: str
    stored: str
    shape: list[int]
    by_column: bool

    @property
    def bytes(self) -> int:
        return TYPES[self.stored].itemsize * math.prod(self.shape)


def write_model(path: Path, description: dict[str, Any], arrays: Sequence[AnyArray]) -> None:
    """Write the file; an older one is replaced only once the new one is complete."""
    entries = [_entry(array) for array in arrays]
    header = json.dumps(
        {**description, "arrays": [entry._asdict() for entry in entries]}, allow_nan=False, separators=(",", ":")
    ).encode()
    digest = hashlib.sha256()
    with replacing(path, "wb") as out:
        for piece in (START.pack(MAGIC, VERSION, len(header)), header):
            digest.update(piece)
            out.write(piece)
        for entry, array in zip(entries, arrays, strict=True):
            turned = array.T if entry.by_column else array
            piece = np.ascontiguousarray(turned, TYPES[entry.stored].newbyteorder("<")).tobytes()
            digest.update(piece)
            out.write(piece)
        out.write(digest.digest())


def read_model(path: Path) -> tuple[dict[str, Any], list[AnyArray]]:
    """Return what `write_model` was given. Any other file is refused with a ValueError that names it."""
    with open(path, "rb", opener=_open_at_once) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(f"{path} is not a regular file. Name one that save wrote.")
        header_bytes = _check_start(path, file.read(START.size), status.st_size)
        if not _intact(file, status.st_size):
            raise ValueError(
                f"{path} is damaged: its contents do not match its checksum. Copy it again, or save the model again."
            )
        file.seek(START.size)
        try:
            description = _object(json.loads(file.read(header_bytes), parse_constant=_refuse_constant))
            entries = [_check_entry(entry, status.st_size) for entry in _list(description.pop("arrays", None))]
            if START.size + header_bytes + sum(entry.bytes for entry in entries) + DIGEST_BYTES != status.st_size:
                raise ValueError("its arrays do not add up to its size")
            return description, [_read_array(file, entry) for entry in entries]
        except (ValueError, RecursionError) as error:
            raise not_a_model(path, error) from error


def _open_at_once(path: str, flags: int) -> int:
    """Open a file; a named pipe too, without waiting until someone writes to it. Windows has none in folders."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def not_a_model(path: Path, error: Exception) -> ValueError:
    """Make the error for a file that is complete but holds something else."""
    what = " ".join(str(error).split()).rstrip(".")[:200] or type(error).__name__  # the message may quote the file
    return ValueError(f"{path} is not a model that save wrote: {what}. Save the model again.")


def _check_start(path: Path, start: bytes, size: int) -> int:
    """Check the first bytes, and return the length of the JSON."""
    if start[: len(MAGIC)] != MAGIC[: len(start)] or not start:
        raise ValueError(f"{path} is not a clusterforests model. Name a file that save or `fit --model` wrote.")
    if len(start) < START.size or size < START.size + DIGEST_BYTES:
        raise ValueError(f"{path} is cut short. Copy it again, or save the model again.")
    _, version, header_bytes = START.unpack(start)
    if version != VERSION:
        writer = WRITTEN_BY.get(version, "another version of clusterforests")
        raise ValueError(
            f"{path} was written by {writer} (model format {version}; this one reads format {VERSION}): fit again, or "
            "load it with the version that wrote it."
        )
    if header_bytes > size - START.size - DIGEST_BYTES:
        raise ValueError(f"{path} is cut short. Copy it again, or save the model again.")
    return int(header_bytes)


def _intact(file: IO[bytes], size: int) -> bool:
    digest = hashlib.sha256()
    file.seek(0)
    left = size - DIGEST_BYTES
    while left > 0:
        piece = file.read(min(READ_BYTES, left))
        if not piece:
            return False
        digest.update(piece)
        left -= len(piece)
    return file.read(DIGEST_BYTES) == digest.digest()


def _entry(array: AnyArray) -> ArrayEntry:
    """Describe an array; integers are stored as the smallest type that holds them."""
    kind = array.dtype.name
    if kind not in TYPES or array.ndim > MOST_DIMENSIONS:
        raise ValueError(f"An array of {array.dtype} and {array.ndim} dimensions cannot be stored in a model file.")
    stored = kind
    if kind in INTEGERS:
        low, high = int(array.min(initial=0)), int(array.max(initial=0))
        stored = next(name for name in INTEGERS if np.iinfo(name).min <= low and high <= np.iinfo(name).max)
    by_column = bool(array.flags.f_contiguous and not array.flags.c_contiguous)
    return ArrayEntry(kind, stored, list(array.shape), by_column)


def _check_entry(entry: Any, most: int) -> ArrayEntry:
    try:
        given = ArrayEntry(**_object(entry))
    except TypeError as error:
        raise ValueError("an array's entry has the wrong fields") from error
    types = given.type, given.stored
    if not all(isinstance(name, str) and name in TYPES for name in types) or not isinstance(given.by_column, bool):
        raise ValueError("an array is of a type that no model has")
    if given.type != given.stored and not (given.type in INTEGERS and given.stored in INTEGERS):
        raise ValueError("an array is stored as a type that does not fit its own")
    shape = _list(given.shape)
    if len(shape) > MOST_DIMENSIONS or not all(type(extent) is int and 0 <= extent <= most for extent in shape):
        raise ValueError("an array has a shape that no model has")
    return given


def _read_array(file: IO[bytes], entry: ArrayEntry) -> AnyArray:
    stored = TYPES[entry.stored].newbyteorder("<")
    piece = file.read(entry.bytes)
    if entry.stored == "bool" and any(value > 1 for value in set(piece)):
        raise ValueError("a boolean is neither 0 nor 1")
    flat = np.frombuffer(piece, dtype=stored).astype(TYPES[entry.type])
    return flat.reshape(entry.shape[::-1]).T if entry.by_column else flat.reshape(entry.shape)


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("an object is expected where there is none")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("a list is expected where there is none")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")
