"""Numbers and arrays as JSON holds them."""

import base64
import json
import zlib
from typing import Any

import numpy as np

from clusterforests._base.typing import AnyArray

KINDS = {"u1": "<u1", "u2": "<u2", "u4": "<u4"}


def rounded(value: Any) -> float | None:
    """Round to the four digits that the page shows. JSON has no NaN, so None stands for it."""
    number = float(value)
    return float(f"{number:.4g}") if np.isfinite(number) else None


def rounded_list(values: Any) -> list[float | None]:
    """Round every value."""
    return [rounded(value) for value in values]


def packed(values: AnyArray, kind: str) -> dict[str, str]:
    """Compress whole numbers from 0 on: "u1", "u2" or "u4" says how many bytes each has. The page unpacks them."""
    return _compressed(kind, np.ascontiguousarray(values, dtype=KINDS[kind]).tobytes())


def packed_list(values: list[str]) -> dict[str, str]:
    """Compress texts."""
    return _compressed("json", json.dumps(values, ensure_ascii=True, separators=(",", ":")).encode("ascii"))


def unpacked(entry: dict[str, str]) -> Any:
    """Undo `packed` and `packed_list`."""
    raw = zlib.decompress(base64.b64decode(entry["bytes"]))
    return json.loads(raw) if entry["packed"] == "json" else np.frombuffer(raw, dtype=KINDS[entry["packed"]])


def kind_for(highest: int) -> str:
    """Choose the smallest kind of number."""
    return "u1" if highest < 2**8 else "u2" if highest < 2**16 else "u4"


def _compressed(kind: str, raw: bytes) -> dict[str, str]:
    return {"packed": kind, "bytes": base64.b64encode(zlib.compress(raw, 9)).decode("ascii")}
