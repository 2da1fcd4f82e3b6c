"""Numbers and arrays as JSON holds them."""

import base64
import json
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from clusterforests._utils.arrays import AnyArray
from clusterforests.app.description.described_table import SAMPLE_ROWS
from clusterforests.inspection.stability import N_SPLITS

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


# How much of a large table the page shows, and how much it is computed from.


@dataclass(frozen=True)
class PageLimits:
    """Sizes that keep a page readable, light and quick to make."""

    sample_rows: int = SAMPLE_ROWS  # that statements about columns and clusters are based on
    splits: int = N_SPLITS  # of the forest into two halves
    numbers: int = 8  # of clusters that the page can be switched to
    splits_of_others: int = 8  # into halves, for numbers of clusters that were not chosen
    numbers_of_many: int = 5  # where there are many rows
    many_rows: int = 5000
    map_rows: int = 400
    map_rows_per_cluster: int = 4  # at least
    point_rows: int = 600
    listed_rows: int = 2000  # in the table of rows, if there are too many for all of them
    stored_rows: int = 200_000  # beyond which only the least sure rows are in the page
    exact_rows: int = 20_000  # beyond which memberships of rows are rounded to per cent
    id_bytes: int = 1_500_000  # that the names of all rows may take up in the page, compressed
    clusters_in_table: int = 30  # beyond which there is no table of shares between clusters
    listed_columns: int = 100  # in the table of columns
    drawn_columns: int = 24  # with a histogram for each cluster
    bins: int = 20  # of a histogram
    bars: int = 8  # levels of a category that are drawn, the rest being one
    drawn_clusters: int = 30  # beyond which there are no histograms
    classes: int = 1000  # known classes
    listed_classes: int = 30  # beyond which there is no table of clusters against classes
